# SPDX-License-Identifier: GPL-2.0-only
"""sympy: formulas are simplified, expanded and derived: formulas.py SECONDS."""
import sys

import sympy
from sympy.core.cache import clear_cache

from account import spent, turns, write

x, y = sympy.symbols("x y")


def simplified(n):
    with spent("simplified"):
        return sympy.simplify((sympy.sin(x) ** 2 + sympy.cos(x) ** 2) * (x ** n - 1) / (x - 1) + y)  # below


def expanded(n):
    with spent("expanded"):
        return sympy.expand((x + y + n) ** 8)


def derived(n):
    with spent("derived"):
        return sympy.diff(sympy.sin(x ** n) * sympy.exp(y * x), x, 3)


for turn in turns(float(sys.argv[1])):
    simplified(turn % 5 + 2), expanded(turn), derived(turn % 5 + 2)
    clear_cache()
write()
