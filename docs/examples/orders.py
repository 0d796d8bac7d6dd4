"""Reads orders, drops those that came twice, and writes what each customer owes."""
import json
import re

LINE = re.compile(r"(?P<id>\d+);(?P<customer>[a-z]+\d*);(?P<price>\d+\.\d\d)")


def make_log(count):
    return "\n".join(f"{i % 3000};customer{i % 97};{i % 89}.{i % 100:02}" for i in range(count))


def parse(text):
    return [match.groupdict() for match in LINE.finditer(text)]


def dedupe(orders):
    seen, kept = [], []
    for order in orders:
        if order["id"] not in seen:
            seen.append(order["id"])
            kept.append(order)
    return kept


def add_up(orders):
    owed = {}
    for order in orders:
        customer = order["customer"]
        owed[customer] = owed.get(customer, 0) + float(order["price"])
    return owed


def main():
    log = make_log(60_000)
    for _ in range(2):
        orders = parse(log)
        owed = add_up(dedupe(orders))
        json.dumps([orders, owed], indent=1)


if __name__ == "__main__":
    main()
