# SPDX-License-Identifier: GPL-2.0-only
"""A web server, with clients in other threads, each with a connection a request: service.py SECONDS.

A thread that answers a request lives for some milliseconds. A sampler's clock begins with the thread, so equal requests would
keep step with it.
"""
import http.client
import http.server
import json
import sys
import threading

from account import spent, turns, write

STOCK = [{"id": i, "text": f"item {i * 7919 % 1000:03} " * 40} for i in range(400)]


def search(words):
    found = []
    with spent("search"):
        for item in STOCK * 8 + STOCK[:int(words[0])]:
            if not set(item["text"]).isdisjoint(words):  # hot
                found.append(item)
    return found


def encode(items):
    with spent("encode"):
        return json.dumps(items[:400]).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = encode(search(self.path.strip("/").split("+")))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(port, words):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/" + "+".join(words))
    assert connection.getresponse().read()
    connection.close()


def client(port, seconds):
    for turn in turns(seconds):
        ask(port, [str(turn * 79 % 400), "y", str(turn % 7)])


def main(seconds):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, name="server").start()
        clients = [threading.Thread(target=client, args=(server.server_port, seconds)) for _ in range(2)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        server.shutdown()


main(float(sys.argv[1]))
write()
