# SPDX-License-Identifier: GPL-2.0-only
"""Makes a function, runs it, and throws it away, again and again: the next one takes its memory.

    generated.py file|lines SECONDS LOG          seconds of CPU time

They differ in the file that they say they are from, or only in the line of their loop. A line of LOG is: time of
CLOCK_MONOTONIC when the function began and when it ended, filename, first and last line of its loop.
"""
import sys
import time

NUMBERS = tuple(range(20000))


def source_of(number, mode):
    if mode == "file":
        return ("/tmp/made%08d/" % number + "x" * 60 + "/made.py", "def work(numbers):\n  total = 0\n"
                "  for n in numbers: total += n\n  return total\n")
    body = ["  s%d = %d" % (k, k) for k in range(30)]
    return "/tmp/made.py", "\n".join(["def work(numbers):", *body, *[""] * (number % 60), "  total = 0",
                                      "  for n in numbers: total += n", "  return total\n"])


def main():
    mode, seconds = sys.argv[1], float(sys.argv[2])
    number, end = 0, time.process_time() + seconds
    with open(sys.argv[3], "w") as log:
        while time.process_time() < end:
            number += 1
            filename, source = source_of(number, mode)
            names = {}
            exec(compile(source, filename, "exec"), names)
            began = time.monotonic()
            for _ in range(3):
                names["work"](NUMBERS)
            line = 1 + [text.startswith("  for") for text in source.split("\n")].index(True)
            log.write("%.6f %.6f %s %d\n" % (began, time.monotonic(), filename, line))
            del names


main()
