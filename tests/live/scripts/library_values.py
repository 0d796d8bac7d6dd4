# SPDX-License-Identifier: GPL-2.0-only
"""Values of the standard library and of numpy, if that is there: one line of JSON on standard output, {name: repr()}.

A name that begins with `n_` is a value of numpy. The program waits for the end of standard input.
"""
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import os
import sys

try:
    import _decimal
except ImportError:
    _decimal = None
try:
    import zoneinfo
except ImportError:
    zoneinfo = None
try:
    import numpy
except ImportError:
    numpy = None


class Base:
    __slots__ = ("first", "__hidden")

    def __init__(self):
        self.first, self.__hidden = 1, "h"


class Slots(Base):
    __slots__ = ("second", "never")

    def __init__(self):
        super().__init__()
        self.second = [2]


class Mixed(Base):
    """Slots and a dict."""

    def __init__(self):
        super().__init__()
        self.free = 3


@dataclasses.dataclass
class Point:
    x: int
    y: str


class Colour(enum.Enum):
    RED = 7


class Number(enum.IntEnum):
    ONE = 1


class Rights(enum.Flag):
    READ = 4
    WRITE = 2


class Failed(Exception):
    pass


class Queue(collections.deque):
    pass


class Money(decimal.Decimal):
    pass


class Moment(datetime.datetime):
    pass


def tell(names):
    print(json.dumps({name: repr(value) for name, value in names.items()}), flush=True)
    sys.stdin.read()
    os._exit(0)


def dates():
    utc, hours = datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=-5, minutes=30))
    named = datetime.timezone(datetime.timedelta(hours=1), "CET")
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5)
    second, micro = moment.replace(second=9), moment.replace(microsecond=123456)
    folded, zoned = moment.replace(fold=1), micro.replace(tzinfo=utc, fold=1)
    far = moment.replace(tzinfo=named)
    clock, clock_zoned = datetime.time(3, 4), datetime.time(3, 4, 5, 6, tzinfo=hours)
    no_time, some_time = datetime.timedelta(0), datetime.timedelta(-3, 5, 7)
    moments, own_moment = [day, day], Moment(2024, 1, 2, 3, 4)
    city = None
    if zoneinfo:
        try:
            city = moment.replace(tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
        except zoneinfo.ZoneInfoNotFoundError:
            pass
    return locals()


def decimals():
    if not _decimal:
        return {}
    words = ["0", "-0", "1.50", "0.000001", "0.0000001", "1E+3", "-12345678901234567890123.4567890123456789", "1E-7", "0E+2", "0.00",
             "NaN", "-sNaN12", "Infinity", "-Infinity", "10000000000000000000", "9" * 57, "1.5E+20", "-1E-400", "0E-9"]
    return {f"decimal_{i}": decimal.Decimal(word) for i, word in enumerate(words)}


def long_decimals():
    if not _decimal:
        return {}
    long_number, own_money = decimal.Decimal("7" * 4000), Money("1.5")
    return locals()


def containers():
    empty, some, full = collections.deque(), collections.deque(["a", 1]), collections.deque([1, 2, 3], 3)
    turned, many = collections.deque(range(300)), collections.deque(range(1000))
    for _ in range(62):
        turned.popleft()
    for _ in range(236):
        turned.pop()
    cyclic = collections.deque([1])
    cyclic.append(cyclic)
    own_queue = Queue([5])
    quotes, taken, no_bytes = bytearray(b"ab\x00'"), bytearray(b"abcdef"), bytearray()
    del taken[:2]
    count, steps, part, part_none = range(5), range(9, 1, -2), slice(1, None, 2), slice(None)
    return locals()


def instances():
    slots, mixed, point, unset = Slots(), Mixed(), Point(1, "b"), Base.__new__(Base)
    red, one, read, both = Colour.RED, Number.ONE, Rights.READ, Rights.READ | Rights.WRITE
    members = [Colour.RED, {"k": Number.ONE}]
    plain, two, key, nothing = ValueError("bad"), OSError(2, "no such"), KeyError("k"), StopIteration()
    own_error, told_error, nested = Failed("x", 1), Failed("y"), [ValueError(ValueError(1))]
    told_error.code = 5
    function, module_function, method = len, os.getpid, [].append
    return locals()


def numbers():
    n_double, n_single, n_negative = numpy.float64(1.5), numpy.float32(0.1), numpy.int8(-7)
    n_large, n_unsigned, n_yes, n_no = numpy.int64(-2 ** 62), numpy.uint64(2 ** 64 - 1), numpy.bool_(True), numpy.bool_(False)
    n_complex, n_complex_single = numpy.complex128(1.5 - 2j), numpy.complex64(2j)
    n_array, n_singles, n_flags = numpy.array([1.5, 2.0]), numpy.array([0.1, -1e20], numpy.float32), numpy.array([True, False])
    n_many, n_table, n_deep = numpy.arange(1000), numpy.zeros((3, 4)), numpy.zeros((1,) * 12)
    n_step, n_back, n_empty, n_point = numpy.arange(10)[::4], numpy.arange(3, dtype="u1")[::-1], numpy.array([]), numpy.array(5)
    n_big_end, n_texts, n_objects = numpy.array([1], ">i4"), numpy.array(["ab"]), numpy.array([None])
    n_moments, n_own = numpy.array(["2024"], "M8[s]"), numpy.matrix([[1, 2]])
    return locals()


def parked(names):
    """A frame whose variables have these values."""
    source = "\n".join(["def hold(names, tell):", *(f"    {name} = names[{name!r}]" for name in names), "    tell(names)"])
    space = {}
    exec(source, space)
    space["hold"](names, tell)


if __name__ == "__main__":
    parked({name: value for which in sys.argv[1:] for name, value in globals()[which]().items()})
