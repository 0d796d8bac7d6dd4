# SPDX-License-Identifier: GPL-2.0-only
"""A run of pytest with a slow fixture: geometry.py SECONDS."""
import math
import sys

import pytest

from account import spent, turns, write

POINTS = [(n * 7919 % 1009, n * 104729 % 997) for n in range(700)]


@pytest.fixture
def cloud():
    for turn in turns(float(sys.argv[1]) / 4):
        kept = []
        with spent("cloud"):
            for point in POINTS:
                if point not in kept:  # hot
                    kept.append(point)
    return kept


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_distance(cloud, scale):
    sums = 0.0
    with spent("test_distance"):
        for _ in range(200):
            for px, py in cloud:
                sums += math.hypot(px * scale, py * scale)
    assert sums > 0


def test_order(cloud):
    with spent("test_order"):
        assert sorted(cloud * 40)[0] == min(cloud)


if __name__ == "__main__":
    assert pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--no-summary", __file__]) == 0
    write()
