# SPDX-License-Identifier: GPL-2.0-only
"""A copy of a recording as if it had been made when the clock showed something else: on a machine that has run for
seconds, for weeks, or by the wall clock; or in which samples have no callchain. linux/perf_event.h and tools/perf/Documentation/perf.data-file-format.txt say
where times are.
"""
import pathlib
import struct

# Of perf_event_attr.sample_type, in the order in which they stand in a sample, and behind any other record.
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, IDENTIFIER = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 65536
SAMPLE, FIRST_OF_TOOLS = 9, 64
FEATURE_SAMPLE_TIME = 21


def records(data):
    """(offset, type, size) of each record."""
    offset, size = struct.unpack_from("<QQ", data, 40)
    end = offset + size
    while offset < end:
        kind, _, size = struct.unpack_from("<IHH", data, offset)
        yield offset, kind, size
        offset += size


def sample_type(data):
    """That of all events."""
    attr_size, offset, size = struct.unpack_from("<QQQ", data, 16)
    types = {struct.unpack_from("<Q", data, at + 24)[0] for at in range(offset, offset + size, attr_size)}
    assert len(types) == 1, f"events with samples of several forms: {types}"
    return types.pop()


def words(form, *fields):
    return sum(8 for field in fields if form & field)


def without_chains(source, target, which):
    """Writes a copy in which every sample of which() (its number) has an empty callchain."""
    data = bytearray(pathlib.Path(source).read_bytes())
    form = sample_type(data)
    assert form & CALLCHAIN and not form & READ
    place = 8 + words(form, IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD)
    samples = [offset for offset, kind, _ in records(data) if kind == SAMPLE]
    for number, offset in enumerate(samples):
        if which(number):
            struct.pack_into("<Q", data, offset + place, 0)
    pathlib.Path(target).write_bytes(data)


def times_of_samples(data):
    """Where the time of each sample stands."""
    place = 8 + words(sample_type(data), IDENTIFIER, IP, TID)
    return [offset + place for offset, kind, _ in records(data) if kind == SAMPLE]


def times_of_records(data):
    """Where each time stands."""
    yield from times_of_samples(data)
    from_end = words(sample_type(data), TIME, ID, STREAM_ID, CPU, IDENTIFIER)
    for offset, kind, size in records(data):
        if kind < FIRST_OF_TOOLS and kind != SAMPLE:
            yield offset + size - from_end


def times_of_header(data):
    """Those of the first and last sample."""
    offset, size = struct.unpack_from("<QQ", data, 40)
    features = int.from_bytes(data[72:104], "little")
    if features >> FEATURE_SAMPLE_TIME & 1:
        number = bin(features & (1 << FEATURE_SAMPLE_TIME) - 1).count("1")
        section, _ = struct.unpack_from("<QQ", data, offset + size + 16 * number)
        yield from (section, section + 8)


def retimed(source, target, middle):
    """Writes the copy: in the middle of its time the clock shows that many ns. Returns the first and last sample's."""
    data = bytearray(pathlib.Path(source).read_bytes())
    places = [*times_of_records(data), *times_of_header(data)]
    times = {place: struct.unpack_from("<Q", data, place)[0] for place in places}
    known = [time for time in times.values() if time]
    shift = max(middle - (min(known) + max(known)) // 2, 1 - min(known))
    for place, time in times.items():
        # What a recorder finds out at its start has no time.
        struct.pack_into("<Q", data, place, time + shift if time else 0)
    pathlib.Path(target).write_bytes(data)
    samples = [struct.unpack_from("<Q", data, offset)[0] for offset in times_of_header(data)]
    assert len(samples) == 2, f"{source} does not tell the times of its first and last sample"
    return samples
