# SPDX-License-Identifier: GPL-2.0-only
"""What a recording's own summary says of time that has no samples."""
import struct


def seconds_in(data, name):
    """A counter of the recording's summary, which has none that are 0."""
    key = name.encode()
    head, content = struct.pack("<H", len(key)) + key, data.read_bytes()
    place = content.rfind(head)
    return struct.unpack_from("<Q", content, place + len(head))[0] / 1e6 if place >= 0 else 0


def without_samples(data, time="CPU"):
    """Seconds that no sample stands for: kaa says so only if they are many."""
    return seconds_in(data, f"{time} time without samples in us")
