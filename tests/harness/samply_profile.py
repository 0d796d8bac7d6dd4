# SPDX-License-Identifier: GPL-2.0-only
"""Profiles as samply saves them, and what samply's own server makes of the addresses in them."""
import json
import re
import subprocess
import urllib.parse
import urllib.request

import pytest

from harness.process import HANG


def recorded(done):
    """Whether samply has recorded; where it ended itself, the test is skipped: on a busy machine samply 0.13 does now and then."""
    if done.status == 101 and (panic := re.search(r"panicked at (\S+?):\d+:\d+:\n(.*)", done.stderr)):
        pytest.skip(f"samply panicked: {panic[2]} ({panic[1].rpartition('/')[2]})")
    return not done.status


def symbolicated(samply, profile, stacks, libs):
    """What samply's server says: for each stack of (lib, offset) a list of (function, file, line)."""
    with samply.start("load", "-n", "-P", "32200+", profile, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT) as process:
        found = next(filter(None, (re.search(rb"symbolServer=(\S+)", line) for line in process.stdout)))
        job = {"memoryMap": libs, "stacks": stacks}
        request = urllib.request.Request(urllib.parse.unquote(found[1].decode()) + "/symbolicate/v5",
                                         json.dumps({"jobs": [job]}).encode())
        with urllib.request.urlopen(request, timeout=HANG) as reply:
            answer = json.load(reply)["results"][0]["stacks"]
    return [[(frame.get("function"), frame.get("file"), frame.get("line")) for frame in stack] for stack in answer]


def stacks_in(profile, image):
    """Of the profile's samples, the frames in the image, leaf first, as (lib, offset); and the libs."""
    libs = [[lib["debugName"], lib["breakpadId"]] for lib in profile["libs"]]
    number = [lib["name"] for lib in profile["libs"]].index(image)
    stacks = []
    for thread in profile["threads"]:
        frames, functions, table = thread["frameTable"], thread["funcTable"], thread["stackTable"]
        resources = thread["resourceTable"]
        for stack in thread["samples"]["stack"]:
            stacks.append([])
            while stack is not None:
                frame = table["frame"][stack]
                resource = functions["resource"][frames["func"][frame]]
                if resource is not None and resource >= 0 and resources["lib"][resource] == number:
                    stacks[-1].append([number, frames["address"][frame]])
                stack = table["prefix"][stack]
    return stacks, libs
