# SPDX-License-Identifier: GPL-2.0-only
"""Beautiful Soup: a page is read and searched: pages.py SECONDS."""
import sys

import bs4

from account import spent, turns, write

TEXT = "<html><body>" + "".join(f'<div class="c{i % 5}"><p>words {i} <a href="/{i}">go</a></p></div>'
                                for i in range(200)) + "</body></html>"


def read(text):
    with spent("read"):
        return bs4.BeautifulSoup(text, "html.parser")  # below


def chosen(page):
    with spent("chosen"):
        return page.select("div.c3 > p > a")


def written(page):
    with spent("written"):
        return str(page)


for turn in turns(float(sys.argv[1])):
    page = read(TEXT)
    chosen(page), written(page)
write()
