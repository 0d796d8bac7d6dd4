# SPDX-License-Identifier: GPL-2.0-only
def foo(n):
    result = 0
    for _ in range(n):
        result += 1
    return result


def bar(n):
    foo(n)


def baz(n):
    bar(n)


if __name__ == "__main__":
    import sys
    import time
    # Seconds of CPU time, however fast the machine is, and however busy.
    end = time.process_time() + (float(sys.argv[1]) if len(sys.argv) > 1 else 3)
    while time.process_time() < end:
        baz(1_000_000)
