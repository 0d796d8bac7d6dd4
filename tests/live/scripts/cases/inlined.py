# SPDX-License-Identifier: GPL-2.0-only
"""A function that is called straight from many others, and through two, with frames of all sizes.

    inlined.py KIND [SECONDS]     KIND: a key of KINDS; 0 seconds: one round

innermost() is called by each straight_N(), and by second(), which first() calls. straight_N() has N local variables, so for one N
its frame is as large as those of first() and second() together. Where the interpreter makes a frame the current one before it
links it to its caller, the old link at that place then says that first() called innermost(), which never happens.
"""
import sys
import time

# What the parameters of innermost() are, and its arguments.
KINDS = {"plain": ("a", "a"), "named": ("a, b=0", "a, b=2"), "gathered": ("*a, **b", "a, b=2"), "spread": ("a, b=0", "*(a, 1)")}
SIZES = range(48)
CHAIN = """
def innermost({parameters}): return a
def second(a): return innermost({arguments})
def first(a): return second(a)
"""


def straight_text(size, arguments):
    return (f"def straight_{size}(a):\n" + "".join(f"    v{number} = 1\n" for number in range(size)) +
            f"    return innermost({arguments})\n")


def made(kind):
    """first(), and every straight_N()."""
    parameters, arguments = KINDS[kind]
    text = CHAIN.format(parameters=parameters, arguments=arguments) + "".join(straight_text(size, arguments) for size in SIZES)
    names = {}
    exec(compile(text, f"<made {kind}>", "exec"), names)
    return names["first"], [names[f"straight_{size}"] for size in SIZES]


def go_round(first, straight):
    for function in straight:
        for _ in range(40):
            function(1)
            first(1)
            function(1)
            first(1)


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    first, straight = made(sys.argv[1])
    while True:
        go_round(first, straight)
        if time.process_time() >= seconds:
            return


main()
