# SPDX-License-Identifier: GPL-2.0-only
"""Flask on werkzeug's server, with pages of Jinja2 and clients in other threads: shop.py SECONDS.

Requests differ in length, for the reason that service.py has.
"""
import logging
import sys
import threading
import urllib.request

import flask
import werkzeug.serving

from account import spent, turns, write

app = flask.Flask(__name__)
logging.getLogger("werkzeug").setLevel(logging.ERROR)
GOODS = [{"name": f"thing {i}", "cents": i * 7919 % 5000} for i in range(600)]
PAGE = app.jinja_env.from_string("<ul>{% for good in goods %}<li>{{ good.name|upper }}: {{ good.cents }}{% endfor %}</ul>")


def alike(goods, more):
    pairs = 0
    with spent("alike"):
        cents = [good["cents"] for good in goods]
        for good in goods * 4 + goods[:more]:
            pairs += cents.count(good["cents"] + 1)  # hot
    return pairs


def render(goods):
    with spent("render"):
        return PAGE.render(goods=goods[:240])


@app.route("/goods/<int:start>")
def goods(start):
    return f"{alike(GOODS, start)} {render(GOODS[start:] * 4)}"


def client(port, seconds):
    for turn in turns(seconds):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/goods/{turn * 79 % 500}") as answer:
            assert answer.read()


def main(seconds):
    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, name="server").start()
    client(server.server_port, seconds)
    server.shutdown()


main(float(sys.argv[1]))
write()
