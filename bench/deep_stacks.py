# SPDX-License-Identifier: GPL-2.0-only
"""A program whose native stacks are as deep as real ones: Python functions call each other through C code.

    deep_stacks.py ROUNDS

A call goes on as a Python call, as the key function of sorted(), as the function of functools.reduce(), or in the encoder of
json.dumps(); it ends in re.sub() with a function. 9 to 16 such calls are on the stack, 20 to 40 Python functions.
"""
import functools
import json
import re
import sys


class Call:
    def __init__(self, depth, i):
        self.depth, self.i = depth, i


class Encoder(json.JSONEncoder):
    def default(self, call):
        return walk(call.depth - 1, call.i)


def leaf(i):
    text = "".join(chr(97 + (i * k) % 26) for k in range(20))
    return len(re.sub("[aeiou]", lambda match: match.group().upper(), text))


def by_key(depth, i):
    return sorted(range(3), key=lambda k: walk(depth - 1, i + k) if k == i % 3 else k)[0]


def by_reduce(depth, i):
    return functools.reduce(lambda a, b: a + (walk(depth - 1, b) if b == i else b), [i, i + 1, i + 2], 0)


def by_encoder(depth, i):
    return len(json.dumps({"a": [1, i], "b": Call(depth, i)}, cls=Encoder))


def by_call(depth, i):
    return walk(depth - 1, i + 1)


KINDS = [by_call, by_key, by_call, by_reduce, by_call, by_encoder]


def walk(depth, i):
    if depth <= 0:
        return leaf(i)
    return KINDS[(depth * 7 + i) % 6](depth, i) + leaf(depth)


def main():
    for i in range(int(sys.argv[1])):
        walk(9 + i % 8, i)


main()
