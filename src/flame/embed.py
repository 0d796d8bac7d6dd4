#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a C header of text files: embed.py OUTPUT FILE...

page.js becomes `asset_page_js`, a string, and ASSET_PAGE_JS_HASH, the word that allows exactly this text in a
Content-Security-Policy (https://www.w3.org/TR/CSP3/, "hash-source"). The text must stand alone between the tags:
what would end it in a page or a picture is refused.
"""
import base64
import hashlib
import pathlib
import re
import sys

ENDS = re.compile(rb"</(script|style)|\]\]>|<!--", re.I)


def literal(data):
    lines = data.split(b"\n")
    ends = ["\\n"] * (len(lines) - 1) + [""]
    return "\n".join('\t"' + line.decode("ascii").replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + end + '"'
                     for line, end in zip(lines, ends))


def main(output, *names):
    parts = []
    for name in names:
        path = pathlib.Path(name)
        data = path.read_bytes()
        if path.suffix != ".html" and ENDS.search(data):
            sys.exit(f"{path}: '{ENDS.search(data)[0].decode()}' would end it too soon")
        variable = re.sub(r"\W", "_", path.name)
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        parts.append(f"__attribute__((unused)) static const char asset_{variable}[] =\n{literal(data)};\n"
                     f'#define ASSET_{variable.upper()}_HASH "\'sha256-{digest}\'"\n')
    pathlib.Path(output).write_text("\n".join(parts))


main(*sys.argv[1:])
