# SPDX-License-Identifier: GPL-2.0-only
"""A run of tests with unittest, of which one is slow: suite.py SECONDS."""
import decimal
import fractions
import sys
import textwrap
import unittest

from account import spent, turns, write


class Numbers(unittest.TestCase):
    def test_fractions(self):
        with spent("test_fractions"):
            self.assertEqual(sum([fractions.Fraction(1, n) for n in range(1, 60)]) > 4, True)

    def test_decimal(self):
        with spent("test_decimal"):
            self.assertGreater(sum([decimal.Decimal(n).sqrt() for n in range(600)]), 1)

    def test_places(self):
        numbers = [n * 7919 % 10007 for n in range(10000)]
        with spent("test_places"):
            for n in range(0, 10000, 20):
                place = numbers.index(n)  # hot
        self.assertEqual(numbers[place], 9980)


class Text(unittest.TestCase):
    def test_wrap(self):
        with spent("test_wrap"):
            self.assertGreater(len(textwrap.wrap("some words of a text " * 30)), 5)


if __name__ == "__main__":
    for turn in turns(float(sys.argv[1])):
        program = unittest.main(argv=["suite"], exit=False, verbosity=0)
        assert program.result.wasSuccessful()
    write()
