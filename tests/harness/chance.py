# SPDX-License-Identifier: GPL-2.0-only
"""How far chance moves shares of samples, by those that came: a machine that is held up takes few, of unlike periods."""
import math


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


def most(share, count):
    """How many of so many samples may be of a kind that has this share: five deviations more, and two, whatever the share."""
    return share * count + 5 * math.sqrt(share * count) + 2


def least(share, count):
    """The share of so many samples that as good as always is reached, where each is good with this probability."""
    return share - 5 * math.sqrt(share * (1 - share) / count)
