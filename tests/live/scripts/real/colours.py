# SPDX-License-Identifier: GPL-2.0-only
"""Pygments: a program's text in colours: colours.py SECONDS."""
import sys

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from account import spent, turns, write

with open(__file__) as file:
    TEXT = file.read()


def read(text):
    with spent("read"):
        return list(pygments.lex(text, PythonLexer()))  # below


def written(tokens):
    with spent("written"):
        return pygments.format(tokens, HtmlFormatter(linenos=True))


for turn in turns(float(sys.argv[1])):
    assert "turns" in written(read(TEXT))
write()
