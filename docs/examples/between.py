"""What happens between two functions: docs/python-frames.md says for whom it counts."""
import time


class Ready:
    def __iter__(self):
        for _ in range(100000):
            pass
        return iter((1, 2, 3))


def make():
    values = [[] for _ in range(200000)]
    return len(values)


def caller():
    make()


def total():
    return sum(value for value in Ready())


end = time.process_time() + 1
while time.process_time() < end:
    caller()
    total()
