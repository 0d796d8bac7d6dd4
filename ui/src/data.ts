// SPDX-License-Identifier: GPL-2.0-only
// The profile as kaa writes it: src/export/page_data.h, docs/page.md.

export const NONE = 0xffffffff;

// enum page_kind in src/export/page_stacks.c.
export const enum Kind {
	Program, Package, Standard, Native, Allocation, Collector, Gil, Kernel, Mark,
}

// enum page_source in src/export/page_source.h.
export const enum SourceState {
	None, There, Missing, Changed, Other, Large, Before,
}

// Of enum event_kind in src/base/event_kind.h.
export const enum EventKind {
	Wait = 2, Wall = 3, Gil = 6,
}

// PAGE_CODE_GAP.
const ROW_GAP = 1;

// Of enum spent_kind in src/profile/spent.h: taking the GIL, the collector, and the first of what a thread did that did not run.
const SPENT_GIL = 6, SPENT_COLLECTOR = 7, SPENT_IDLE = 12;

// enum event_unit in src/base/event_kind.h, and samples where no period is known.
export const enum Unit {
	Count, Nanoseconds, Bytes, Samples,
}

const MAGIC = "kaapage1";
const HEAD_BYTES = 16, NAME_BYTES = 24, ROW_BYTES = 48;

class Columns {
	private places = new Map<string, [number, number, number]>();

	constructor(private buffer: ArrayBuffer) {
		const view = new DataView(buffer);
		const names = new TextDecoder();
		if (names.decode(new Uint8Array(buffer, 0, 8)) !== MAGIC)
			throw new Error("the data of this page is damaged");
		const count = view.getUint32(8, true);
		for (let i = 0; i < count; i++) {
			const at = HEAD_BYTES + i * ROW_BYTES;
			const name = names.decode(new Uint8Array(buffer, at, NAME_BYTES)).replace(/\0+$/, "");
			this.places.set(name, [view.getUint32(at + NAME_BYTES, true),
				Number(view.getBigUint64(at + 32, true)), Number(view.getBigUint64(at + 40, true))]);
		}
	}

	private place(name: string, size: number): [number, number] {
		const place = this.places.get(name);
		if (!place || place[0] !== size)
			throw new Error(`the data of this page has no column '${name}'`);
		return [place[2], place[1]];
	}

	bytes(name: string) { return new Uint8Array(this.buffer, ...this.place(name, 1)); }
	has(name: string) { return this.places.has(name); }
	numbers(name: string) { return new Uint32Array(this.buffer, ...this.place(name, 4)); }
	reals(name: string) { return new Float64Array(this.buffer, ...this.place(name, 8)); }
}

export interface Group {
	event: number;
	thread: number;
	first: number;
	count: number;
}

// A function, or a line, that is compared.
export interface ComparedRow {
	// A function; of a line a frame, or, if it stands for all lines of a function, that; NONE: no Python code.
	subject: number;
	functions: number;
	isUnpaired: boolean;
	// What chance does: by how much the change may be off, and what kaa diff calls it.
	off: number;
	mark: string;
}

// With another recording, before this one: docs/diff.md.
export interface Comparison {
	event: number;
	isShare: boolean;
	path: string;
	// Of values times factor.
	unit: string;
	decimals: number;
	factor: number;
	// What a weight is worth.
	scaleBefore: number;
	scaleAfter: number;
	// Of each function the one that stands for it, and the row of such a one; -1: no Python code.
	same: Uint32Array;
	// Of each file the one that it is after, as far as its functions tell.
	fileAfter: number[];
	functions: ComparedRow[];
	functionRows: Map<number, number>;
	// Of each frame its row of lines on either side.
	frameBefore: Uint32Array;
	frameAfter: Uint32Array;
	lines: ComparedRow[];
	beforeStack: Uint32Array;
	beforeWeight: Float64Array;
}

// Of a function in C: an instruction, or rows that are left out (enum page_code_row in src/export/page_code.h).
export interface CodeRow {
	isGap: boolean;
	// Its address.
	label: string;
	text: string;
	// Whose code it is, which may be inlined; NONE: no sample hit it.
	fn: number;
	// By event.
	weights: Map<number, number>;
}

export class Profile {
	private cache: string[] = [];
	private textEnd: Uint32Array;
	private textBytes: Uint8Array;
	private decoder = new TextDecoder();

	title: string;
	event: number;
	facts: [string, string][] = [];
	notes: string[] = [];

	fileCount: number;
	functionCount: number;
	functionKind: Uint32Array;
	functionFile: Uint32Array;
	functionLine: Uint32Array;
	frameFunction: Uint32Array;
	frameLine: Uint32Array;
	// Its own number of a line; -1: no Python.
	lineOfFrame: Int32Array;

	// Of each stack: its caller (-1: none), the one after the last below it, its function.
	stackCount: number;
	parent: Int32Array;
	end: Int32Array;
	fn: Uint32Array;
	frame: Uint32Array;
	// Of each stack that ends there, the innermost Python frame; -1: none.
	python: Int32Array;
	// Of each stack the place of its frame; -1: no Python.
	line: Int32Array;
	// The function, the line, is nowhere above it.
	isFirstFunction: Uint8Array;
	isFirstLine: Uint8Array;

	// Lines of files: own numbers.
	lineFile: number[] = [];
	lineNumber: number[] = [];
	lineFunction: number[] = [];

	groups: Group[] = [];
	// ns since the first sample.
	time: Float64Array;
	// When what the sample stands for ends. Of waits that follow each other, a sleep and the wait for a processor after it, the
	// recording has the end of the last one.
	until: Float64Array;
	weight: Float64Array;
	stack: Uint32Array;
	spent: Uint32Array;
	span = 0;

	comparison: Comparison | null;
	// By function: it is a library's; null: none is.
	library: Uint8Array | null;
	// Functions in C with a listing, the hottest first; a function may have several.
	codeFunction: Uint32Array;
	// Of each stack the listing that its samples hit; NONE: none.
	stackCode: Uint32Array;
	private codes = new Map<number, number>();
	private alike: Map<string, Map<number, number>> | null = null;

	private columns: Columns;
	private names: Record<string, Uint32Array> = {};

	constructor(buffer: ArrayBuffer) {
		const c = this.columns = new Columns(buffer);
		this.textEnd = c.numbers("text.end");
		this.textBytes = c.bytes("text.bytes");
		for (const name of ["function.name", "function.object", "file.path", "file.place", "event.name",
			"event.kind", "event.unit", "thread.name", "thread.process", "thread.pid", "thread.tid",
			"spent.kind", "spent.text", "source.state", "source.end", "code.why", "code.end", "row.kind", "row.label",
			"row.text", "row.function"])
			this.names[name] = c.numbers(name);
		this.functionKind = c.numbers("function.kind");
		this.functionFile = c.numbers("function.file");
		this.functionLine = c.numbers("function.line");
		this.functionCount = this.functionKind.length;
		this.fileCount = this.names["file.path"].length;
		this.frameFunction = c.numbers("frame.function");
		this.frameLine = c.numbers("frame.line");
		this.codeFunction = c.numbers("code.function");
		this.stackCode = c.numbers("stack.code");
		this.readFacts();
		this.readStacks();
		this.readCodes();
		this.readSamples();
		this.comparison = c.has("compare") ? this.readComparison() : null;
		this.library = c.has("file.library") ? this.findLibraries(c.bytes("file.library")) : null;
	}

	text(number: number): string {
		let text = this.cache[number];
		if (text === undefined) {
			const begin = number ? this.textEnd[number - 1] : 0;
			text = this.decoder.decode(this.textBytes.subarray(begin, this.textEnd[number]));
			this.cache[number] = text;
		}
		return text;
	}

	private readFacts() {
		const page = this.columns.numbers("page");
		const labels = this.columns.numbers("fact.label"), texts = this.columns.numbers("fact.text");
		this.title = this.text(page[0]);
		this.event = page[1];
		labels.forEach((label, i) => this.facts.push([this.text(label), this.text(texts[i])]));
		this.columns.numbers("note.text").forEach((note) => this.notes.push(this.text(note)));
	}

	fact(label: string): string {
		return this.facts.find((fact) => fact[0] === label)?.[1] ?? "";
	}

	private numberLines(): Int32Array {
		const index = new Map<number, number>();
		const lines = new Int32Array(this.frameFunction.length).fill(-1);
		for (let i = 0; i < lines.length; i++) {
			const fn = this.frameFunction[i], file = this.functionFile[fn], number = this.frameLine[i];
			if (!this.isPython(fn))
				continue;
			const key = number && file !== NONE ? file * 0x100000000 + number : -1 - fn;
			let line = index.get(key);
			if (line === undefined) {
				line = this.lineFile.length;
				index.set(key, line);
				this.lineFile.push(file);
				this.lineNumber.push(number);
				this.lineFunction.push(fn);
			}
			lines[i] = line;
		}
		return lines;
	}

	private readCodes() {
		const take = (fn: number, code: number) => {
			if (!this.isPython(fn) && (this.codes.get(fn) ?? code) >= code)
				this.codes.set(fn, code);
		};
		this.codeFunction.forEach(take);
		const own = new Set(this.codes.keys());
		this.stackCode.forEach((code, stack) => {
			if (code !== NONE && !own.has(this.fn[stack]))
				take(this.fn[stack], code);
		});
	}

	private readStacks() {
		const depth = this.columns.numbers("stack.depth"), frame = this.frame = this.columns.numbers("stack.frame");
		const count = this.stackCount = depth.length;
		const lines = this.lineOfFrame = this.numberLines();
		this.parent = new Int32Array(count);
		this.end = new Int32Array(count);
		this.fn = new Uint32Array(count);
		this.python = new Int32Array(count);
		this.line = new Int32Array(count);
		this.isFirstFunction = new Uint8Array(count);
		this.isFirstLine = new Uint8Array(count);
		const path: number[] = [];
		const openFunctions = new Int32Array(this.functionCount);
		const openLines = new Int32Array(this.lineFile.length);
		const leave = (to: number, at: number) => {
			while (path.length > to) {
				const left = path.pop()!;
				this.end[left] = at;
				openFunctions[this.fn[left]]--;
				if (this.line[left] >= 0)
					openLines[this.line[left]]--;
			}
		};
		for (let i = 0; i < count; i++) {
			leave(depth[i], i);
			const parent = path.length ? path[path.length - 1] : -1;
			const fn = this.frameFunction[frame[i]], line = lines[frame[i]];
			this.parent[i] = parent;
			this.fn[i] = fn;
			this.line[i] = line;
			this.python[i] = line >= 0 ? i : parent < 0 ? -1 : this.python[parent];
			this.isFirstFunction[i] = openFunctions[fn]++ === 0 ? 1 : 0;
			if (line >= 0)
				this.isFirstLine[i] = openLines[line]++ === 0 ? 1 : 0;
			path.push(i);
		}
		leave(0, count);
	}

	private readSamples() {
		const c = this.columns;
		const unit = c.reals("time.unit")[0], deltas = c.numbers("sample.time");
		const events = c.numbers("group.event"), threads = c.numbers("group.thread");
		const counts = c.numbers("group.count"), begins = c.reals("group.begin");
		const fixed = c.reals("group.fixed"), weights = c.reals("sample.weight");
		let at = 0, weight = 0;
		this.stack = c.numbers("sample.stack");
		this.spent = c.numbers("sample.spent");
		this.time = new Float64Array(this.stack.length);
		this.weight = new Float64Array(this.stack.length);
		for (let g = 0; g < counts.length; g++) {
			this.groups.push({ event: events[g], thread: threads[g], first: at, count: counts[g] });
			let time = begins[g];
			for (let i = 0; i < counts[g]; i++, at++) {
				time += deltas[at];
				this.time[at] = time * unit;
				this.weight[at] = fixed[g] || weights[weight++];
			}
			this.span = Math.max(this.span, time * unit);
		}
		this.until = this.findEnds();
	}

	// A thread waits for one thing at a time.
	private findEnds(): Float64Array {
		const spans = this.groups.filter((group) => this.isSpan(group.event));
		const until = spans.length ? this.time.slice() : this.time;
		for (const { first, count } of spans)
			for (let i = first + count - 2; i >= first; i--)
				until[i] = Math.max(0, Math.min(until[i], until[i + 1] - this.weight[i + 1]));
		return until;
	}

	// Of two recordings the one that is shown says what a function is.
	private findLibraries(files: Uint8Array): Uint8Array | null {
		const { functionFile, comparison } = this, found = new Uint8Array(this.functionCount);
		functionFile.forEach((file, fn) => {
			const shown = comparison ? functionFile[comparison.same[fn]] : file;
			found[fn] = this.isPython(fn) && shown !== NONE ? files[shown] : 0;
		});
		return found.includes(1) ? found : null;
	}

	private readRows(kind: string, subject: string, what: string): ComparedRow[] {
		const c = this.columns, marks = c.numbers(`${kind}.mark`), offs = c.reals(`${kind}.off`);
		const whats = c.numbers(`${kind}.${what}`);
		return [...c.numbers(`${kind}.${subject}`)].map((number, i) => ({ subject: number, off: offs[i], mark: this.text(marks[i]),
			functions: kind === "line" ? 1 : whats[i], isUnpaired: kind === "line" && whats[i] === 1 }));
	}

	private readComparison(): Comparison {
		const c = this.columns, [event, by, path, unit, decimals] = c.numbers("compare");
		const [scaleBefore, scaleAfter, factor] = c.reals("compare.scale");
		const functions = this.readRows("change", "function", "functions");
		const same = c.numbers("function.same"), fileAfter = Array.from({ length: this.fileCount }, (_, file) => file);
		same.forEach((other, fn) => {
			if (other !== fn && this.functionFile[fn] !== NONE)
				fileAfter[this.functionFile[fn]] = this.functionFile[other];
		});
		return { event, isShare: by === 1, path: this.text(path), unit: this.text(unit), decimals, factor, scaleBefore, scaleAfter,
			same, fileAfter, functions,
			functionRows: new Map(functions.map((row, i) => [row.subject === NONE ? -1 : row.subject, i])),
			frameBefore: c.numbers("frame.before"), frameAfter: c.numbers("frame.after"),
			lines: this.readRows("line", "frame", "unpaired"),
			beforeStack: c.numbers("before.stack"), beforeWeight: c.reals("before.weight") };
	}

	isPython(fn: number) { return this.functionKind[fn] <= Kind.Standard; }
	functionName(fn: number) { return this.text(this.names["function.name"][fn]); }
	// Of a task of asyncio, which the recorder has made a function; "": it has no name; null: it is none.
	taskName(fn: number): string | null {
		const found = this.isPython(fn) && this.filePath(this.functionFile[fn]) === "<asyncio>" ? /^task(?: (.*))?$/s.exec(this.functionName(fn)) : null;
		return found ? found[1] ?? "" : null;
	}

	filePath(file: number) { return file === NONE ? "" : this.text(this.names["file.path"][file]); }
	filePlace(file: number) { return file === NONE ? "" : this.text(this.names["file.place"][file]); }
	object(fn: number) { return this.text(this.names["function.object"][fn]); }

	// "orders.py:16", or the file of native code.
	place(fn: number): string {
		if (!this.isPython(fn))
			return this.object(fn).replace(/^.*\/(?=.)/, "");
		const file = this.filePlace(this.functionFile[fn]);
		return this.functionLine[fn] && file ? `${file}:${this.functionLine[fn]}` : file;
	}

	eventName(event: number) { return this.text(this.names["event.name"][event]); }
	unit(event: number): Unit { return this.names["event.unit"][event]; }
	// Samples stand for the time before them, and not for a moment: EVENT_WAIT and EVENT_WALL.
	isSpan(event: number) { return [EventKind.Wait, EventKind.Wall].includes(this.eventKind(event)); }
	// What of the time that a sample stands for lies between two times; not above 0: nothing does.
	spanWithin(sample: number, from: number, to: number): number {
		const end = this.until[sample];
		return Math.min(end, to) - Math.max(end - this.weight[sample], from);
	}
	eventKind(event: number): EventKind { return this.names["event.kind"][event]; }
	threadCount() { return this.names["thread.name"].length; }
	threadName(thread: number) { return this.text(this.names["thread.name"][thread]); }
	// By name, the processes and how many threads have it.
	private threadsByName(): Map<string, Map<number, number>> {
		const found = new Map<string, Map<number, number>>();
		for (let thread = 0; thread < this.threadCount(); thread++) {
			const pids = found.get(this.threadName(thread)) ?? new Map<number, number>();
			found.set(this.threadName(thread), pids.set(this.pid(thread), (pids.get(this.pid(thread)) ?? 0) + 1));
		}
		return found;
	}

	// What tells it from others of its name: the number of its process, or its own; "": it is the only one.
	threadNumber(thread: number): string {
		this.alike ??= this.threadsByName();
		const pids = this.alike.get(this.threadName(thread))!, isAlone = pids.get(this.pid(thread)) === 1;
		return !isAlone ? String(this.tid(thread)) : pids.size > 1 ? String(this.pid(thread)) : "";
	}

	// "MainThread 4242"
	threadTitle(thread: number) { return [this.threadName(thread), this.threadNumber(thread)].filter(Boolean).join(" "); }

	threadProcess(thread: number) { return this.text(this.names["thread.process"][thread]); }
	tid(thread: number) { return this.names["thread.tid"][thread]; }
	pid(thread: number) { return this.names["thread.pid"][thread]; }
	spentText(spent: number) { return this.text(this.names["spent.text"][spent]); }
	isForGil(spent: number) { return this.names["spent.kind"][spent] === SPENT_GIL; }
	// Whether a sample was spent on that wherever it was: what is no time in a library.
	isSpentAnywhere(spent: number) {
		const kind = this.names["spent.kind"][spent];
		return kind === SPENT_GIL || kind === SPENT_COLLECTOR || kind >= SPENT_IDLE;
	}
	// Of each stack what its time is spent on, if that is in a library and the time of who called it; -1: as without libraries.
	spentInLibraries(): Int32Array {
		const spent = new Int32Array(this.stackCount).fill(-1), spents = this.columns.numbers("library.spent");
		this.columns.numbers("library.stack").forEach((stack, i) => spent[stack] = spents[i]);
		return spent;
	}
	spentCount() { return this.names["spent.text"].length; }

	// Those of an event, in a thread or (-1) in all.
	groupsOf(event: number, thread = -1): Group[] {
		return this.groups.filter((group) => group.event === event && (thread < 0 || group.thread === thread));
	}

	// The first sample of the group that does not end before that time: samples of a thread stand in order of time, and
	// spans do not overlap. The one after the last: all do.
	firstAt(group: Group, time: number): number {
		let low = group.first, high = group.first + group.count;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.until[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	// Events that have samples.
	events(): number[] {
		return [...new Set(this.groups.map((group) => group.event))];
	}

	sourceState(file: number): SourceState { return this.names["source.state"][file]; }

	source(file: number): string[] {
		const ends = this.names["source.end"];
		const bytes = this.columns.bytes("source.bytes").subarray(file ? ends[file - 1] : 0, ends[file]);
		const lines = this.decoder.decode(bytes).split("\n");
		lines.pop();
		return lines;
	}

	// The listing of a function in C: its own, or the heaviest of those of functions that it is inlined into; -1: none.
	codeOf(fn: number) { return this.codes.get(fn) ?? -1; }
	// Why a listing has no instructions, or not all; "": it has.
	codeWhy(code: number) { return this.text(this.names["code.why"][code]); }

	codeRows(code: number): CodeRow[] {
		const ends = this.names["code.end"], first = code ? ends[code - 1] : 0, rows: CodeRow[] = [];
		for (let i = first; i < ends[code]; i++)
			rows.push({ isGap: this.names["row.kind"][i] === ROW_GAP, label: this.text(this.names["row.label"][i]),
				text: this.text(this.names["row.text"][i]), fn: this.names["row.function"][i], weights: new Map() });
		const events = this.columns.numbers("hit.event"), weights = this.columns.reals("hit.weight");
		this.columns.numbers("hit.row").forEach((row, i) => rows[row - first]?.weights.set(events[i], weights[i]));
		return rows;
	}
}

async function inflate(text: string): Promise<ArrayBuffer> {
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	// TypeScript before 5.1 does not know it.
	const { DecompressionStream } = globalThis as unknown as {
		DecompressionStream: new (format: string) => ReadableWritablePair<Uint8Array, Uint8Array>;
	};
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Response(stream).arrayBuffer();
}

// From the page itself, or from the server that gave the page.
export async function load(): Promise<Profile> {
	const element = document.getElementById("profile")!;
	const text = element.textContent!.trim();
	if (text) {
		element.remove();
		return new Profile(await inflate(text));
	}
	const answer = await fetch("data", { credentials: "same-origin" });
	if (!answer.ok)
		throw new Error(`kaa view gave no data: ${answer.status}`);
	return new Profile(await answer.arrayBuffer());
}
