# SPDX-License-Identifier: GPL-2.0-only
"""Functions of several names in a static program.

perf calls the PLT entry of such a function by any of its names: it takes the one that its tree of symbols has uppermost at
that moment. So where perf's output is the measure, the function has one name.
"""
from harness.process import run


def drop_aliases(program):
    """Of the names of each function that is chosen at run time (IFUNC) one stays, and none of its chooser."""
    names, chosen = {}, set()
    for line in run(["readelf", "-sW", program]).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] in ("FUNC", "IFUNC"):
            # One that is chosen first.
            names.setdefault(int(words[1], 16), []).append((words[3] == "FUNC", words[7]))
            chosen |= {int(words[1], 16)} if words[3] == "IFUNC" else set()
    aliases = {name for address in chosen for _, name in sorted(names[address])[1:]}
    run(["objcopy", *(f"--strip-symbol={name}" for name in sorted(aliases)), program])
