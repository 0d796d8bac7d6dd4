# SPDX-License-Identifier: GPL-2.0-only
"""A function that is called straight from many others, and through two, with frames of all sizes.

    inlined.py KIND [SECONDS]     KIND: a key of KINDS; 0 seconds: one round

innermost() is called by each straight_N(), and by second(), which first() calls. straight_N() has N local variables, so for one N
its frame is as large as those of first() and second() together. Where the interpreter makes a frame the current one before it
links it to its caller, the old link at that place then says that first() called innermost(), which never happens.
"""
import sys
import time

# What stands before the other functions, and what these do with it.
FUNCTION = "def innermost({}): return a\n"
MEMBER = "class Thing:\n    {}def innermost(self, {}): return self\n    {} = innermost\nthing = Thing()\n"
KINDS = {
    "plain": (FUNCTION.format("a"), "return innermost(a)"),
    "named": (FUNCTION.format("a, b=0"), "return innermost(a, b=2)"),
    "names-alone": (FUNCTION.format("*, a, b=0"), "return innermost(a=a)"),
    "defaults": (FUNCTION.format("a, b=0, c=1"), "return innermost(a)"),
    "gathered": (FUNCTION.format("*a, **b"), "return innermost(a, b=2)"),
    "spread": (FUNCTION.format("a, b=0"), "return innermost(*(a, 1))"),
    "spread-names": (FUNCTION.format("a, b=0"), "return innermost(**{'a': a})"),
    "cell": ("def innermost(a): return lambda: a\n", "return innermost(a)"),
    "method": (MEMBER.format("", "a", "method"), "return thing.innermost(a)"),
    "bound": (MEMBER.format("", "a", "method") + "bound = thing.method\n", "return bound(a)"),
    "property": (MEMBER.format("@property\n    ", "*a", "value"), "return thing.value"),
    "item": (MEMBER.format("", "a", "__getitem__"), "return thing[a]"),
    "made": ("class Thing:\n    def innermost(self, a): self.a = a\n    __init__ = innermost\n", "return Thing(a)"),
    "generator": ("def innermost(a): yield a\n", "for b in innermost(a): pass"),
}
SIZES = range(48)


def function_text(name, size, body):
    return f"def {name}(a):\n" + "".join(f"    v{number} = 1\n" for number in range(size)) + f"    {body}\n"


def made(kind):
    """first(), and every straight_N()."""
    before, body = KINDS[kind]
    text = before + function_text("second", 0, body) + function_text("first", 0, "return second(a)")
    text += "".join(function_text(f"straight_{size}", size, body) for size in SIZES)
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
