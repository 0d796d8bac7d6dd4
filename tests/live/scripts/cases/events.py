# SPDX-License-Identifier: GPL-2.0-only
"""A server, its clients, and greenlets that wait for greenlets, with gevent.

    events.py [SECONDS]     0: some rounds
"""
from gevent import monkey

monkey.patch_all()

import socket  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import gevent  # noqa: E402
import gevent.pool  # noqa: E402
from gevent.server import StreamServer  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


def spin(count):
    total = 0
    for number in range(count):
        total += number
    return total


def deep(count, depth):
    return spin(count) if depth == 0 else deep(count, depth - 1)


def key(value):
    return spin(10) + value


def waiting_key(value):
    spin(20)
    gevent.sleep(0)
    return value


def handle(connection, address):
    stream = connection.makefile("rwb")
    for line in stream:
        answer = deep(int(line), 5)
        sorted(range(10), key=key)
        gevent.sleep(0)
        stream.write(b"%d\n" % answer)
        stream.flush()


def client(port):
    stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb")
    while True:
        stream.write(b"300\n")
        stream.flush()
        stream.readline()
        spin(200)
        gevent.sleep(0)
        if time.process_time() >= SECONDS:
            return


def nested(depth):
    if depth == 0:
        spin(500)
        gevent.sleep(0)
        return 1
    return gevent.spawn(nested, depth - 1).get() + 1


def nester():
    while True:
        nested(6)
        sorted(range(20), key=waiting_key)
        if time.process_time() >= SECONDS:
            return


def main():
    server = StreamServer(("127.0.0.1", 0), handle)
    server.start()
    group = gevent.pool.Group()
    for _ in range(10):
        group.spawn(client, server.server_port)
    for _ in range(3):
        group.spawn(nester)
    group.join()


main()
