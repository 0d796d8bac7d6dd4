# SPDX-License-Identifier: GPL-2.0-only
"""What files of `kaa export` hold, each read by the standard library alone, and the same made here of `kaa script`.

A reader returns a counter of stacks: {(tid, ((function, file, line), ...)): weight}, the outermost function first.
"""
import base64
import collections
import gzip
import io
import json
import pstats
import re
import struct
import tempfile
import types
import zlib

from harness.script_output import PYTHON_RANGE


def step(frame, with_lines):
    if frame.is_python:
        return (*frame.python_name, frame.line if with_lines else None)
    # Marks are in no file.
    file = "" if frame.dso == "[unknown]" or frame.ip in PYTHON_RANGE else frame.dso
    if frame.symbol != "[unknown]":
        return (frame.symbol, file, None)
    return (f"[{frame.dso.rpartition('/')[2].strip('[]')}]", file, None)


def expected(samples, with_lines=True):
    """The stacks of the samples of `kaa script -F +srcline`, which weigh their periods."""
    stacks = collections.Counter()
    for sample in samples:
        stacks[sample.tid, tuple(step(frame, with_lines) for frame in reversed(sample.frames))] += sample.period
    return stacks


def without_threads(stacks):
    sums = collections.Counter()
    for (_, stack), weight in stacks.items():
        sums[stack] += weight
    return sums


def tid_of(label):
    return int(re.search(r"(-?\d+)\)$", label)[1])


def speedscope(data, with_lines=True):
    """The threads' profiles; that of all threads, which stands first, has to have the same."""
    document = json.loads(data)
    frames = [(frame["name"], frame.get("file", ""), frame.get("line") if with_lines else None)
              for frame in document["shared"]["frames"]]
    everything, stacks, profiles = collections.Counter(), collections.Counter(), document["profiles"]
    assert profiles[0]["name"] == "all threads" and document["activeProfileIndex"] == 0
    for profile in profiles:
        assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"])
        assert (profile["startValue"], profile["endValue"]) == (0, sum(profile["weights"]))
    for sample, weight in zip(profiles[0]["samples"], profiles[0]["weights"]):
        thread, *stack = [frames[i] for i in sample]
        everything[tid_of(thread[0]), tuple(stack)] += weight
    for profile in profiles[1:]:
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stacks[tid_of(profile["name"]), tuple(frames[i] for i in sample)] += weight
    assert everything == stacks
    return stacks


def fields(data):
    """A message of protocol buffers: {field: [numbers and bytes]}."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 1:
            found[key >> 3].append(int.from_bytes(data[at:at + 8], "little"))
            at += 8
            continue
        value = varint()
        assert key & 7 in (0, 2), "a varint, eight bytes or bytes"
        if key & 7 == 2:
            assert at + value <= len(data)
            at, value = at + value, data[at:at + value]
        found[key >> 3].append(value)
    return found


def packed(data):
    """The numbers of a packed list, which is read as keys without values would be."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    assert not shift
    return numbers


def pprof(data):
    """By the field numbers of google/pprof's profile.proto. Ids have to count from 1, and each sample has all values."""
    profile = fields(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    types = [tuple(strings[fields(kind)[i][0]] for i in (1, 2)) for kind in profile[1]]
    assert strings[0] == "" and types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert strings[profile[14][0]] == "cpu"

    def table(field):
        rows = [{key: value[0] for key, value in fields(row).items()} for row in profile[field]]
        assert [row[1] for row in rows] == list(range(1, len(rows) + 1))
        return rows

    mappings, functions = table(3), table(5)
    # Of a function with a system name pprof makes its own name: "<lambda>" would become "".
    assert not any(3 in function for function in functions)

    def frame(location):
        line = {key: value[0] for key, value in fields(location[4]).items()}
        function = functions[line[1] - 1]
        file = strings[function.get(4, 0)] or (strings[mappings[location[2] - 1][5]] if 2 in location else "")
        return (strings[function[2]], file, line.get(2))

    frames = [frame(location) for location in table(4)]
    stacks = collections.Counter()
    for sample in map(fields, profile[2]):
        count, weight = packed(sample[2][0])
        labels = {strings[label[1][0]]: strings[label[2][0]] for label in map(fields, sample[3])}
        assert count and set(labels) == {"thread", "process", "pid", "tid"}
        stacks[int(labels["tid"]), tuple(frames[i - 1] for i in reversed(packed(sample[1][0])))] += weight
    return stacks


def otlp(data):
    """By the field numbers of opentelemetry-proto 1.10. The first row of each table of the dictionary has to be empty."""
    document, stacks = fields(data), collections.Counter()
    [dictionary] = map(fields, document[2])
    strings = [text.decode() for text in dictionary[5]]
    tables = {field: [fields(row) for row in dictionary[field]] for field in (1, 2, 3, 4, 6, 7)}
    assert strings[0] == "" and not any(table[0] for table in tables.values())

    def attributes(row, field):
        chosen = [tables[6][i] for i in (packed(row[field][0]) if row[field] else [])]
        return {strings[pair[1][0]]: value for pair in chosen for value, in fields(pair[2][0]).values()}

    def frame(location):
        [line] = map(fields, location[3])
        function = tables[3][line[1][0]]
        mapping = tables[1][location[1][0]] if location[1] else None
        file = strings[(function[3] or [0])[0]] or (strings[mapping[4][0]] if mapping else "")
        assert attributes(location, 4).get("profile.frame.type") in (b"cpython", b"native", b"kernel", None)
        return (strings[function[1][0]], file, line[2][0] if line[2] else None)

    frames = [None] + [frame(location) for location in tables[2][1:]]
    for resource in map(fields, document[1]):
        keys = {pair[1][0] for pair in map(fields, fields(resource[1][0])[1])}
        assert {b"process.pid", b"process.executable.name"} <= keys
        [scope] = map(fields, resource[2])
        for profile in map(fields, scope[2]):
            begin, end = profile[3][0] if profile[3] else 0, (profile[3] or [0])[0] + profile[4][0]
            for sample in map(fields, profile[2]):
                values, times = packed(sample[4][0]), memoryview(sample[5][0]).cast("Q").tolist()
                assert len(values) == len(times) and all(begin <= time < end for time in times)
                path = tuple(frames[i] for i in reversed(packed(tables[7][sample[1][0]][1][0])))
                stacks[attributes(sample, 2)["thread.id"], path] += sum(values)
    return stacks


def columns(table):
    """A table of the Firefox Profiler as rows. All columns have to have its length."""
    length = table["length"]
    named = {name: column for name, column in table.items() if isinstance(column, list)}
    assert {len(column) for column in named.values()} <= {length}
    return [dict(zip(named, row)) for row in zip(*named.values())] if named else []


def firefox(data):
    """The processed format. Times have to ascend, and no stack may stand before its caller."""
    profile = json.loads(data)
    shared, strings = profile["shared"], profile["shared"]["stringArray"]
    functions, sources, resources = (columns(shared[name]) for name in ("funcTable", "sources", "resourceTable"))
    assert any(category["color"] == "grey" for category in profile["meta"]["categories"])

    def frame(row):
        function = functions[row["func"]]
        file = ""
        if function["source"] is not None:
            file = strings[sources[function["source"]]["filename"]]
        elif function["resource"] >= 0:
            file = strings[resources[function["resource"]]["name"]]
        return (strings[function["name"]], file, row["line"])

    frames, paths = [frame(row) for row in columns(shared["frameTable"])], []
    for i, row in enumerate(columns(shared["stackTable"])):
        offset = row["prefixOffset"]
        paths.append((paths[i - offset] if offset else ()) + (frames[row["frame"]],))
    stacks = collections.Counter()
    for thread in profile["threads"]:
        samples = columns(thread["samples"])
        assert thread["samples"]["weightType"] == "tracing-ms"
        assert [sample["time"] for sample in samples] == sorted(sample["time"] for sample in samples)
        for sample in samples:
            assert round(sample["weight"] * 1e6) == sample["threadCPUDelta"]
            stacks[thread["tid"], paths[sample["stack"]]] += sample["threadCPUDelta"]
    return stacks


def own_lines(stacks):
    """{((function, file), line): weight of samples whose leaf is there}"""
    own = collections.Counter()
    for stack, weight in stacks.items():
        own[stack[-1][:2], stack[-1][2] or 0] += weight
    return own


def own_functions(stacks):
    own = collections.Counter()
    for stack, weight in stacks.items():
        own[stack[-1][:2]] += weight
    return own


def totals(stacks):
    """{(function, file): weight}: once for each function of a stack."""
    total = collections.Counter()
    for stack, weight in stacks.items():
        for function in {step[:2] for step in stack}:
            total[function] += weight
    return total


def calls(stacks, levels=False):
    """{((function, file) of the caller, its line, callee): weight}: of a function the call out of its innermost place. With
    levels a call of a function that is not within itself counts in any case."""
    found = collections.Counter()
    for stack, weight in stacks.items():
        innermost = {step[:2]: i for i, step in enumerate(stack)}
        for i, (caller, callee) in enumerate(zip(stack, stack[1:])):
            if innermost[caller[:2]] == i or levels and not callee[0].endswith("'2"):
                found[caller[:2], caller[2] or 0, callee[:2]] += weight
    return found


def with_levels(stacks):
    """As Callgrind has recursion: a function within itself is another one, and (below main) calls all the rest."""
    found = collections.Counter()
    for stack, weight in stacks.items():
        seen, steps = set(), [("(below main)", "", None)]
        for name, file, line in stack:
            steps.append((name + "'2" if (name, file) in seen else name, file, line))
            seen.add((name, file))
        found[tuple(steps)] += weight
    return found


def edges(stacks):
    found = collections.Counter()
    for (caller, _, callee), weight in calls(stacks).items():
        found[caller, callee] += weight
    return found


def callgrind(data):
    """Own weights of lines, and calls; as cl-format has it. The second cost is the weight."""
    names, numbers = {}, re.compile(r"\((\d+)\)(?: (.*))?")

    def named(kind, text):
        number, name = numbers.fullmatch(text).groups()
        assert (name is None) == ((kind, number) in names)
        return names.setdefault((kind, number), name)

    lines, found, at, callee, caller, total, costs = collections.Counter(), collections.Counter(), {}, None, None, None, 0
    for text in data.decode().splitlines():
        key, equals, value = text.partition("=")
        if equals and key in ("ob", "fl", "fn", "cob", "cfi", "cfn"):
            kind = {"cob": "ob", "cfi": "fl", "cfn": "fn"}.get(key, key)
            at[key] = named(kind, value)
            if key == "fn":
                caller = (at["fn"], at["fl"].replace("???", ""))
        elif equals and key == "calls":
            callee = (at["cfn"], at["cfi"].replace("???", ""))
        elif re.fullmatch(r"[\d ]+", text):
            line, samples, weight = map(int, text.split())
            assert samples
            if callee:
                found[caller, line, callee] += weight
            else:
                lines[caller, line] += weight
                costs += weight
            callee = None
        elif text.startswith("totals: "):
            total = int(text.split()[2])
    assert total == costs
    return {"lines": lines, "calls": found, "total": total}


def pstats_file(data):
    """Own and total weights of functions, and of callers with their callees, in ns. pstats itself has to read the file."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        stats = pstats.Stats(file.name, stream=io.StringIO()).print_stats().stats
    own, total, callers = collections.Counter(), collections.Counter(), collections.Counter()
    for (name_file, _, name), (calls_of, all_calls, own_time, time, called_by) in stats.items():
        assert calls_of == all_calls
        own[name, name_file] += round(own_time * 1e9)
        total[name, name_file] += round(time * 1e9)
        for (caller_file, _, caller), numbers in called_by.items():
            callers[(caller, caller_file), (name, name_file)] += round(numbers[3] * 1e9)
    return +own, total, callers


def chrome(data):
    """Slices that contain each other; their weights are those of the stacks below them, so the rest is a stack's own."""
    document = json.loads(data)
    stacks, names = collections.Counter(), collections.defaultdict(dict)
    open_slices, last = collections.defaultdict(list), collections.defaultdict(float)
    for event in document["traceEvents"]:
        tid = event["tid"]
        if event["ph"] == "M":
            names[event["name"]][event["pid"], tid] = event["args"]["name"]
            continue
        assert event["ts"] >= last[tid], "slices begin and end in the order of time"
        last[tid] = event["ts"]
        if event["ph"] == "B":
            place = event["args"]
            line = place.get("line") if event["cat"] == "python" else None
            open_slices[tid].append([(event["name"], place.get("file", ""), line), 0])
            continue
        assert event["ph"] == "E" and event["args"]["samples"]
        path, weight = tuple(place for place, _ in open_slices[tid]), event["args"]["weight"]
        below = open_slices[tid].pop()[1]
        assert weight >= below
        stacks[tid, path] += weight - below
        if open_slices[tid]:
            open_slices[tid][-1][1] += weight
    assert not any(open_slices.values()) and {tid for _, tid in names["thread_name"]} == {tid for tid, _ in stacks}
    return +stacks


def perfetto(data):
    """By the field numbers of Perfetto's protos. Interned data hold for packets of their sequence that come later, or with them."""
    stacks, interned, counters, last, names = collections.Counter(), {}, collections.Counter(), collections.Counter(), {}

    def frame(tables, iid):
        row = tables[6][iid]
        mapping, source = tables[19][row[3][0]], row[5] and tables[18][row[5][0]][2][0].decode()
        # A frame without a mapping would be dropped, with its whole stack.
        path = tables[17][mapping[7][0]][2][0].decode() if mapping[7] else ""
        assert row[4] and (not source or source == path)
        return (tables[5][row[2][0]][2][0].decode(), path, row[6][0] if row[6] else None)

    for packet in map(fields, fields(data)[1]):
        sequence, flags, time = packet[10][0], packet[13][0], packet[8][0]
        assert time >= last[sequence] and (flags == 1 or sequence in interned)
        last[sequence] = time
        if flags == 1:
            interned[sequence] = collections.defaultdict(dict)
        for field, rows in (fields(packet[12][0]) if packet[12] else {}).items():
            for row in map(fields, rows):
                assert row[1][0] not in interned[sequence][field]
                interned[sequence][field][row[1][0]] = row
        for thread in (map(fields, fields(packet[2][0])[2]) if packet[2] else ()):
            names[thread[1][0]] = thread[2]
        for sample in map(fields, packet[66]):
            tables = interned[sequence]
            path = tuple(frame(tables, iid) for iid in tables[7][sample[4][0]][2])
            stacks[sample[3][0], path] += sample[6][0] - counters[sequence]
            counters[sequence] = sample[6][0]
    assert {tid for tid, _ in stacks} == set(names)
    return stacks


def kaa_json(data):
    """As docs/formats/export-json.md has it."""
    document = json.loads(data)
    assert (document["format"], document["version"]) == ("kaa", 1)
    functions, stacks, samples = document["functions"], document["stacks"], document["samples"]
    paths = []
    for i, (parent, function, line) in enumerate(zip(*(stacks[name] for name in ("parent", "function", "line")))):
        assert parent < i
        row = functions[function]
        step = (row["name"], row["file"] or row["object"], line or None)
        paths.append((paths[parent] if parent >= 0 else ()) + (step,))
    found = collections.Counter()
    assert len({len(column) for column in samples.values()}) == 1
    for event, thread, stack, weight in zip(*(samples[name] for name in ("event", "thread", "stack", "weight"))):
        assert document["events"][event]["unit"] == "nanoseconds"
        found[document["threads"][thread]["tid"], paths[stack]] += weight
    return found


class Page:
    """The columns of a page, as src/export/page_data.h has them."""

    @staticmethod
    def data_of(file):
        return zlib.decompress(base64.b64decode(re.search(rb'id="profile">([^<]*)</script>', file)[1]))

    def __init__(self, file):
        raw = self.data_of(file)
        assert raw[:8] == b"kaapage1"
        self.columns = {}
        for i in range(struct.unpack_from("<I", raw, 8)[0]):
            name, element, count, at = struct.unpack_from("<24sI4xQQ", raw, 16 + 48 * i)
            assert at % 8 == 0 and at + element * count <= len(raw)
            kind = {1: "s", 4: "I", 8: "d"}[element]
            values = struct.unpack_from(f"<{count}{kind}", raw, at)
            self.columns[name.rstrip(b"\0").decode()] = values[0] if element == 1 else values
        ends = (0, *self["text.end"])
        self.texts = [self["text.bytes"][a:b].decode() for a, b in zip(ends, ends[1:])]

    def __getitem__(self, name):
        return self.columns[name]

    def words(self, name):
        """A column of texts."""
        return [self.texts[number] for number in self[name]]

    def functions(self):
        """(name, file, line of the def, kind)"""
        files, objects = self.words("file.path"), self.words("function.object")
        return [(name, files[file] if file < len(files) else objects[i], line, kind) for i, (name, file, line, kind) in
                enumerate(zip(self.words("function.name"), self["function.file"], self["function.line"], self["function.kind"]))]

    def paths(self):
        """The steps of each stack."""
        functions, paths, path = self.functions(), [], ()
        frames = [(*functions[fn][:2], line or None) for fn, line in zip(self["frame.function"], self["frame.line"])]
        for depth, frame in zip(self["stack.depth"], self["stack.frame"]):
            assert depth <= len(path)
            path = path[:depth] + (frames[frame],)
            paths.append(path)
        return paths

    def samples(self):
        """(event, thread, ns since the first, stack, weight, what it was spent on) of each."""
        at, weights = 0, iter(self["sample.weight"])
        spent = self.words("spent.text")
        for event, thread, count, begin, fixed in zip(*(self[f"group.{name}"] for name in
                                                        ("event", "thread", "count", "begin", "fixed"))):
            time = begin
            for i in range(at, at + count):
                time += self["sample.time"][i]
                yield (event, thread, time * self["time.unit"][0], self["sample.stack"][i], fixed or next(weights),
                       spent[self["sample.spent"][i]])
            at += count
        assert at == len(self["sample.stack"]) and next(weights, None) is None

    def code(self):
        """Functions in C: each has its function, why it has no instructions, and rows.

        A row has label, text, is_gap, {event: weight}, and the function that has it, or None.
        """
        names = self.words("function.name")
        known = dict(enumerate(names))
        rows = [types.SimpleNamespace(label=label, text=text, is_gap=kind == 1, weights={}, function=known.get(fn))
                for label, text, kind, fn in
                zip(self.words("row.label"), self.words("row.text"), self["row.kind"], self["row.function"])]
        for row, event, weight in zip(self["hit.row"], self["hit.event"], self["hit.weight"]):
            rows[row].weights[event] = weight
        ends = (0, *self["code.end"])
        return [types.SimpleNamespace(function=names[fn], why=why, rows=rows[begin:end]) for fn, why, begin, end in
                zip(self["code.function"], self.words("code.why"), ends, ends[1:])]

    def changes(self):
        """What a page of two recordings says of own time: ({function: row}, {(file, line): row}), in the unit of the page.

        A function is (name, file, line of its def); a line whose function was edited is that. A row is (before, after, mark).
        """
        NONE, functions, inner, path = 0xFFFFFFFF, self.functions(), [], []
        for depth, frame in zip(self["stack.depth"], self["stack.frame"]):
            path = path[:depth] + [frame]
            python = [one for one in path if functions[self["frame.function"][one]][3] < 3]
            inner.append(python[-1] if python else None)
        before, after, factor = self["compare.scale"]
        weights = [[(stack, weight * before * factor) for stack, weight in zip(self["before.stack"], self["before.weight"])],
                   [(stack, weight * after * factor) for event, _, _, stack, weight, _ in self.samples() if event == self["compare"][0]]]
        same = self["function.same"]
        names = {fn: functions[fn][:3] if fn != NONE else None for fn in self["change.function"]}
        of_functions = {name: [0, 0, mark] for name, mark in zip(names.values(), self.words("change.mark"))}
        of_lines = [[0, 0, mark] for mark in self.words("line.mark")]
        nobody = self["line.frame"].index(NONE) if NONE in self["line.frame"] else None
        for side in 0, 1:
            rows = self["frame.after" if side else "frame.before"]
            for stack, weight in weights[side]:
                frame = inner[stack]
                of_functions[None if frame is None else names[same[self["frame.function"][frame]]]][side] += weight
                of_lines[nobody if frame is None else rows[frame]][side] += weight

        def place(at, unpaired):
            if at == NONE:
                return None
            name, file, line, _ = functions[at if unpaired else self["frame.function"][at]]
            return (file, line if unpaired else self["frame.line"][at])
        keys = [place(at, unpaired) for at, unpaired in zip(self["line.frame"], self["line.unpaired"])]
        assert len(set(keys)) == len(keys) and len(of_functions) == len(self["change.function"])
        return of_functions, dict(zip(keys, of_lines))

    def sources(self):
        """{path: text} of the files that are there."""
        ends = (0, *self["source.end"])
        return {path: self["source.bytes"][a:b].decode() for path, state, a, b in
                zip(self.words("file.path"), self["source.state"], ends, ends[1:]) if state == 1}

    def why(self):
        """{path: enum page_source}"""
        return dict(zip(self.words("file.path"), self["source.state"]))


def page(data):
    found, columns = collections.Counter(), Page(data)
    paths = columns.paths()
    for _, thread, _, stack, weight, _ in columns.samples():
        found[columns["thread.tid"][thread], paths[stack]] += int(weight)
    return found
