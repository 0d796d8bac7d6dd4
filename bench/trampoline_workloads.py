# SPDX-License-Identifier: GPL-2.0-only
"""Programs for bench/trampolines.

    trampoline_workloads.py NAME ROUNDS     runs so many rounds
    trampoline_workloads.py NAME            reads numbers of rounds, one a line; runs each and prints its CPU time in seconds

Both print first whether Python functions have trampolines.

calls     little else than calls of small functions
tasks     a round-robin scheduler of tasks that pass messages: many small methods, attributes, linked lists
cells     cells that depend on each other and are brought up to date: class hierarchies, generators, dispatch
text      a pure Python tokenizer and writer of JSON, regular expressions, sorting: much time in C
"""
import json
import random
import re
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls():
    fib(20)


class Message:
    def __init__(self, sender, value):
        self.sender, self.value, self.next = sender, value, None


class Queue:
    def __init__(self):
        self.first = self.last = None

    def put(self, message):
        if self.last is None:
            self.first = message
        else:
            self.last.next = message
        self.last = message

    def get(self):
        message = self.first
        if message is not None:
            self.first = message.next
            if self.first is None:
                self.last = None
        return message

    def empty(self):
        return self.first is None


class Task:
    def __init__(self, scheduler, number):
        self.scheduler, self.number = scheduler, number
        self.queue, self.held, self.count = Queue(), False, 0

    def ready(self):
        return not self.held and not self.queue.empty()

    def run(self):
        message = self.queue.get()
        self.count += 1
        self.handle(message)

    def send(self, number, value):
        self.scheduler.deliver(number, Message(self.number, value))


class Worker(Task):
    def handle(self, message):
        if message.value > 0:
            self.send(self.step(message.value), message.value - 1)

    def step(self, value):
        return (self.number * 3 + value) % len(self.scheduler.tasks)


class Device(Task):
    def handle(self, message):
        self.held = message.value % 5 == 0
        if message.value > 0:
            self.send(message.sender, message.value - 1)


class Scheduler:
    def __init__(self, count):
        self.tasks = [(Device if number % 3 == 2 else Worker)(self, number) for number in range(count)]

    def deliver(self, number, message):
        self.tasks[number].queue.put(message)

    def run(self):
        while True:
            ran = False
            for task in self.tasks:
                if task.ready():
                    task.run()
                    ran = True
                elif task.held:
                    task.held = False
                    ran = True
            if not ran:
                return sum(task.count for task in self.tasks)


def tasks():
    scheduler = Scheduler(9)
    for number in range(9):
        scheduler.deliver(number, Message(number, 300))
    assert scheduler.run() == 9 * 301


class Cell:
    def __init__(self, *sources):
        self.sources, self.users, self.stale, self.cached = sources, [], True, 0
        for source in sources:
            source.users.append(self)

    def touch(self):
        if not self.stale:
            self.stale = True
            for user in self.users:
                user.touch()

    def value(self):
        if self.stale:
            self.cached = self.compute()
            self.stale = False
        return self.cached

    def inputs(self):
        for source in self.sources:
            yield source.value()


class Constant(Cell):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def set(self, number):
        self.number = number
        self.touch()

    def compute(self):
        return self.number


class Sum(Cell):
    def compute(self):
        return sum(self.inputs())


class Largest(Cell):
    def compute(self):
        return max(self.inputs())


class Scaled(Cell):
    def compute(self):
        return next(self.inputs()) * 3 % 1009


def cells():
    bottom = [Constant(number) for number in range(40)]
    row = bottom
    for kind in (Scaled, Sum, Scaled, Largest, Scaled, Sum):
        width = 1 if kind is Scaled else 2
        row = [kind(*(row[(number + offset) % len(row)] for offset in range(width))) for number in range(len(row))]
    for number in range(60):
        bottom[number % 40].set(number)
        for cell in row:
            cell.value()


TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<mark>[\[\]{},:])|(?P<word>\w+))')


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def token(self):
        match = TOKEN.match(self.text, self.at)
        self.at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def item(self):
        kind, text = self.token()
        if text == "[":
            return self.items("]", self.item)
        if text == "{":
            return dict(self.items("}", self.pair))
        return text[1:-1] if kind == "string" else float(text) if kind == "number" else text

    def pair(self):
        key = self.item()
        self.token()
        return key, self.item()

    def items(self, end, one):
        found = []
        while True:
            found.append(one())
            if self.token()[1] == end:
                return found


def write(item):
    if isinstance(item, dict):
        return "{" + ",".join('"%s":%s' % (key, write(value)) for key, value in sorted(item.items())) + "}"
    if isinstance(item, list):
        return "[" + ",".join(map(write, item)) + "]"
    return '"%s"' % item if isinstance(item, str) else repr(item)


def document():
    numbers = random.Random(1)
    return json.dumps([{"name": "item %d" % number, "tags": ["a", "b", "tag%d" % (number % 7)],
                        "at": [numbers.randrange(1000) for _ in range(4)]} for number in range(40)])


def text():
    parsed = Reader(document()).item()
    again = json.loads(write(parsed))
    assert again == parsed
    re.sub(r"tag(\d)", lambda match: match[0].upper(), write(again))


def trampolines():
    return getattr(sys, "is_stack_trampoline_active", bool)()


def timed(work, rounds):
    begin = time.process_time()
    for _ in range(rounds):
        work()
    return time.process_time() - begin


def main():
    work = globals()[sys.argv[1]]
    print(trampolines(), flush=True)
    if len(sys.argv) > 2:
        timed(work, int(sys.argv[2]))
        return
    for line in iter(sys.stdin.readline, ""):
        print(timed(work, int(line)), flush=True)


if __name__ == "__main__":
    main()
