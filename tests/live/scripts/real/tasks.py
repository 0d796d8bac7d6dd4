# SPDX-License-Identifier: GPL-2.0-only
"""asyncio: a server of lines, and clients, all in one loop: tasks.py SECONDS."""
import asyncio
import sys
import zlib

from account import spent, turns, write


def checksum(data):
    total = 1
    with spent("checksum"):
        for byte in data:
            total = (total * 31 + byte) % 65521
    return total


def pack(data):
    with spent("pack"):
        return zlib.compress(data * 80, 6)  # hot


async def serve(reader, writer):
    while True:
        line = await reader.readline()
        if not line:
            break
        writer.write(b"%d %d\n" % (checksum(line), len(pack(line))))
        await writer.drain()
    writer.close()


async def client(port, seconds):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for turn in turns(seconds):
        writer.write(b"%d " % turn * 1000 + b"\n")
        assert await reader.readline()
    writer.close()


async def main(seconds):
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(*(client(port, seconds) for _ in range(4)))
    server.close()


asyncio.run(main(float(sys.argv[1])))
write()
