# SPDX-License-Identifier: GPL-2.0-only
"""A program without an end, whose Python stack is 30 functions deep where it works: endless.py WAY [DEPTH]

WAY: python: functions call each other. c: each fourth call goes through C, as the key function of max(), which makes native
stacks as deep as those of real programs on all versions.

Every third function calls the next three times, so that some frames change between two samples and most do not.
"""
import sys

DIRECT = "def f{n}(i):\n    t = 0\n    {loop}t += f{inner}(i + 1)\n    return t\n"
THROUGH_C = "def f{n}(i):\n    return max((i, i + 1), key=f{inner})\n"


def leaf(i):
    total = 0
    for k in range(8):
        total += len(str(k + i)) & 3
    return total


def make(way, depth):
    """The outermost of that many functions, each of which has a line of its own and its own code object."""
    names = {"f0": leaf}
    for n in range(1, depth):
        form = THROUGH_C if way == "c" and n % 4 == 0 else DIRECT
        text = form.format(n=n, inner=n - 1, loop="for k in range(3):\n        " if n % 3 == 0 else "")
        exec(compile("\n" * n * 5 + text, __file__, "exec"), names)
    return names[f"f{depth - 1}"]


def main():
    way, depth = sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 30
    # The module and main() are two of them.
    outermost = make(way, depth - 2)
    while True:
        outermost(1)


main()
