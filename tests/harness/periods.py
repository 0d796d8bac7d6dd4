# SPDX-License-Identifier: GPL-2.0-only
"""How much chance does to samples of unlike periods, and what time of a recording has no samples, by its own summary."""
import math
import struct


def samples_worth(periods):
    """Samples of equal periods that would say as much as those of these periods."""
    return sum(periods) ** 2 / sum(period ** 2 for period in periods)


def deviations(periods, share, count=5):
    """So many deviations of a share of samples that stand for these periods."""
    # Of few samples all may be of one kind: that does not say that none is of the other.
    return count * math.sqrt((share * (1 - share) + 0.01) / samples_worth(periods)) if periods else 1


def deviations_of_sum(periods, count=5):
    """So many deviations of the sum of samples that chance has taken."""
    return count * math.sqrt(sum(period ** 2 for period in periods))


def above(share, number, count=5):
    """How many of a number of samples are of a kind that has no more than this share, whatever chance does."""
    return share * number + count * math.sqrt(share * number) + 1


def seconds_in(data, name):
    """A counter of the recording's summary, which has none that are 0."""
    key = name.encode()
    head, content = struct.pack("<H", len(key)) + key, data.read_bytes()
    place = content.rfind(head)
    return struct.unpack_from("<Q", content, place + len(head))[0] / 1e6 if place >= 0 else 0


def without_samples(data, time="CPU"):
    """Seconds that no sample stands for: kaa says so only if they are many."""
    return seconds_in(data, f"{time} time without samples in us")
