// SPDX-License-Identifier: GPL-2.0-only
// What the samples that are selected weigh: by stack, function, line, and as a tree.
import type { Sides } from "./changes";
import { EventKind, NONE, Profile, Unit, type Comparison } from "./data";
import { NOBODY, type State } from "./state";

export interface Entry {
	// A function, or a line; -1: samples without Python code.
	id: number;
	own: number;
	total: number;
	samples: number;
}

const TABLE_MAX = 1 << 22, STEP_SAMPLES = 32768, DISTANCES = 4096;

// Sums by number: a table where that is small.
class TableSums {
	private values: Float64Array;

	constructor(size: number) { this.values = new Float64Array(size); }
	add(key: number, value: number) { this.values[key] += value; }

	each(see: (key: number, value: number) => void) {
		this.values.forEach((value, key) => value && see(key, value));
	}
}

class MapSums {
	private values = new Map<number, number>();

	add(key: number, value: number) { this.values.set(key, (this.values.get(key) ?? 0) + value); }
	each(see: (key: number, value: number) => void) { this.values.forEach((value, key) => see(key, value)); }
}

// Whose name or file has the word.
export function findFunctions(profile: Profile, word: string): Uint8Array | null {
	if (!word)
		return null;
	const found = new Uint8Array(profile.functionCount), wanted = word.toLowerCase();
	for (let fn = 0; fn < found.length; fn++) {
		const text = `${profile.functionName(fn)}\n${profile.place(fn)}\n${profile.filePath(profile.functionFile[fn])}`;
		found[fn] = text.toLowerCase().includes(wanted) ? 1 : 0;
	}
	profile.comparison?.same.forEach((other, fn) => found[fn] |= found[other]);
	return found;
}

// Stacks that have one of those functions in them.
export function stacksWith(profile: Profile, functions: Uint8Array): Uint8Array {
	const has = new Uint8Array(profile.stackCount);
	for (let i = 0; i < has.length; i++) {
		const parent = profile.parent[i];
		has[i] = functions[profile.fn[i]] | (parent < 0 ? 0 : has[parent]);
	}
	return has;
}

// Which frames of stacks are shown: Python's, or all, without those of hidden functions, and without libraries and what these
// call in C.
export class Shown {
	// Of each stack the innermost frame that is shown, and the innermost one of Python; -1: none.
	readonly inner: Int32Array;
	readonly python: Int32Array;
	// By function; null: none is dropped.
	private library: Uint8Array | null;
	private spent: Int32Array | null;

	constructor(private profile: Profile, readonly native: boolean, hide: number[], libraries: boolean) {
		this.library = libraries ? null : profile.library;
		this.spent = this.library && profile.spentInLibraries();
		this.python = hide.length || this.library ? this.innermost(false, hide) : profile.python;
		this.inner = native ? this.innermost(true, hide) : this.python;
	}

	// What C code no Python code calls is in nobody's files, either.
	private isDropped(stack: number): boolean {
		const { fn, python } = this.profile;
		return this.library !== null && (python[stack] < 0 || this.library[fn[python[stack]]] === 1);
	}

	private innermost(native: boolean, hide: number[]): Int32Array {
		const p = this.profile, inner = new Int32Array(p.stackCount), isHidden = new Uint8Array(p.functionCount);
		hide.forEach((fn) => isHidden[fn] = 1);
		p.comparison?.same.forEach((other, fn) => isHidden[fn] |= isHidden[other]);
		for (let i = 0; i < inner.length; i++)
			inner[i] = !isHidden[p.fn[i]] && (native || p.isPython(p.fn[i])) && !this.isDropped(i) ? i :
				p.parent[i] < 0 ? -1 : inner[p.parent[i]];
		return inner;
	}

	has(stack: number): boolean { return this.inner[stack] === stack; }

	// Whom what a stack weighs belongs to; -1: nobody.
	functionOf(stack: number): number {
		return this.inner[stack] < 0 ? -1 : this.profile.fn[this.inner[stack]];
	}

	// What a sample is spent on.
	spentOf(stack: number, spent: number): number {
		return this.spent && this.spent[stack] >= 0 && !this.profile.isSpentAnywhere(spent) ? this.spent[stack] : spent;
	}

	lineOf(stack: number): number {
		return this.python[stack] < 0 ? -1 : this.profile.line[this.python[stack]];
	}
}

// What each thread weighs in an event, the heaviest first.
export function threadWeights(profile: Profile, event: number): [number, number][] {
	const weights = new Map<number, number>();
	for (const group of profile.groupsOf(event)) {
		let sum = 0;
		for (let i = group.first; i < group.first + group.count; i++)
			sum += profile.weight[i];
		weights.set(group.thread, (weights.get(group.thread) ?? 0) + sum);
	}
	return [...weights].sort((a, b) => b[1] - a[1]);
}

// What each task of asyncio weighs in an event, the heaviest first: its function is the outermost of its stacks.
export function taskWeights(profile: Profile, event: number): [number, number][] {
	const { parent, fn, stack, weight } = profile, weights = new Map<number, number>();
	const isTask = Array.from({ length: profile.functionCount }, (_, one) => profile.taskName(one) !== null);
	if (!isTask.includes(true))
		return [];
	const outermost = new Uint32Array(profile.stackCount);
	for (let i = 0; i < outermost.length; i++)
		outermost[i] = parent[i] < 0 ? fn[i] : outermost[parent[i]];
	for (const group of profile.groupsOf(event)) {
		for (let i = group.first; i < group.first + group.count; i++) {
			const task = outermost[stack[i]];
			if (isTask[task])
				weights.set(task, (weights.get(task) ?? 0) + weight[i]);
		}
	}
	return [...weights].sort((a, b) => b[1] - a[1]);
}

// What threads have narrow tracks of, beside the event that is shown.
export interface Lane {
	event: number;
	// Only what was spent on getting the GIL.
	isForGil: boolean;
	word: string;
	// Those that have such samples.
	threads: Set<number>;
}

export function findLanes(profile: Profile): Lane[] {
	const lanes: Lane[] = [];
	const add = (event: number, isForGil: boolean, word: string) => {
		const threads = new Set<number>();
		for (const { thread, first, count } of profile.groupsOf(event))
			if (!isForGil || profile.spent.subarray(first, first + count).some((spent) => profile.isForGil(spent)))
				threads.add(thread);
		if (threads.size)
			lanes.push({ event, isForGil, word, threads });
	};
	for (const event of profile.events()) {
		const kind = profile.eventKind(event);
		if (kind === EventKind.Wait) {
			add(event, false, "waits");
			add(event, true, "waits for the GIL");
		} else if (kind === EventKind.Gil)
			add(event, false, "has the GIL");
	}
	return lanes;
}

// By stack: what all samples below weigh, too.
function totals({ parent }: Profile, own: Float64Array): Float64Array {
	const total = own.slice();
	for (let i = total.length - 1; i >= 0; i--)
		if (parent[i] >= 0)
			total[parent[i]] += total[i];
	return total;
}

// By listing of a function in C: what all samples of the event hit in it.
export function allCodes(p: Profile, event: number): Float64Array {
	const sums = new Float64Array(p.codeFunction.length);
	for (const group of p.groupsOf(event))
		for (let i = group.first; i < group.first + group.count; i++) {
			const code = p.stackCode[p.stack[i]];
			if (code !== NONE)
				sums[code] += p.weight[i];
		}
	return sums;
}

export class Selection {
	// By stack: of samples that end there, and of all below, too.
	own: Float64Array;
	total: Float64Array;
	samples: Uint32Array;
	all = 0;
	count = 0;
	// What the event weighs without any filter.
	everything = 0;
	private mask: Uint8Array | null;
	private isSpan: boolean;

	constructor(readonly profile: Profile, readonly state: State) {
		const p = profile;
		this.isSpan = p.isSpan(state.event);
		this.own = new Float64Array(p.stackCount);
		this.samples = new Uint32Array(p.stackCount);
		this.mask = this.makeMask();
		for (const group of p.groupsOf(state.event))
			for (let i = group.first; i < group.first + group.count; i++)
				this.everything += p.weight[i];
		this.eachSample((_, stack, weight) => {
			this.own[stack] += weight;
			this.samples[stack]++;
			this.all += weight;
			this.count++;
		});
		this.total = totals(p, this.own);
	}

	private makeMask(): Uint8Array | null {
		const { only, focus } = this.state;
		let wanted = findFunctions(this.profile, only);
		let mask = wanted && stacksWith(this.profile, wanted);
		if (focus < 0)
			return mask;
		const same = this.profile.comparison?.same;
		wanted = new Uint8Array(this.profile.functionCount);
		wanted.forEach((_, fn) => wanted![fn] = fn === focus || (same && same[fn] === same[focus]) ? 1 : 0);
		const focused = stacksWith(this.profile, wanted);
		return mask ? focused.map((has, i) => has & mask![i]) : focused;
	}

	// ns since the first sample.
	get range(): [number, number] { return this.state.range ?? [0, this.profile.span]; }

	// Of a thread that is selected.
	has(sample: number): boolean {
		return this.isInRange(sample) && (!this.mask || this.mask[this.profile.stack[sample]] === 1);
	}

	private isInRange(sample: number): boolean {
		const p = this.profile, { range } = this.state;
		if (!range)
			return true;
		if (this.isSpan)
			return p.spanWithin(sample, ...range) > 0;
		return p.time[sample] >= range[0] && p.time[sample] <= range[1];
	}

	// Of a sample that is selected: of a wait the part that lies in the range.
	weightOf(sample: number): number {
		const p = this.profile, { range } = this.state;
		return range && this.isSpan ? p.spanWithin(sample, ...range) : p.weight[sample];
	}

	// What stacks that are selected weighed in the recording that this one is compared with.
	eachBefore(see: (stack: number, weight: number) => void) {
		const c = this.profile.comparison;
		c?.beforeStack.forEach((stack, i) => {
			if (!this.mask || this.mask[stack])
				see(stack, c.beforeWeight[i]);
		});
	}

	// The same by stack: of samples that end there, and of all below, too.
	before(): [Float64Array, Float64Array] {
		const own = new Float64Array(this.profile.stackCount);
		this.eachBefore((stack, weight) => own[stack] += weight);
		return [own, totals(this.profile, own)];
	}

	eachSample(see: (sample: number, stack: number, weight: number) => void) {
		const p = this.profile, { event, thread } = this.state;
		for (const group of p.groupsOf(event, thread))
			for (let i = group.first; i < group.first + group.count; i++)
				if (this.has(i))
					see(i, p.stack[i], this.weightOf(i));
	}

	functions(shown: Shown): Entry[] {
		const p = this.profile;
		return this.entries(p.functionCount, (stack) => shown.functionOf(stack), p.isFirstFunction,
			(stack) => shown.has(stack) ? p.fn[stack] : -1);
	}

	lines(shown: Shown): Entry[] {
		const p = this.profile;
		return this.entries(p.lineFile.length, (stack) => shown.lineOf(stack), p.isFirstLine,
			(stack) => shown.python[stack] === stack ? p.line[stack] : -1);
	}

	// By listing of a function in C: what samples that are selected hit in it.
	codes(): Float64Array {
		const p = this.profile, sums = new Float64Array(p.codeFunction.length);
		p.stackCode.forEach((code, stack) => code !== NONE && (sums[code] += this.own[stack]));
		return sums;
	}

	// What functions in C have themselves of the own time of a line, the heaviest first.
	ownNative(shown: Shown, line: number): [number, number][] {
		const p = this.profile, sums = new Map<number, number>();
		this.own.forEach((own, stack) => {
			if (own && !p.isPython(p.fn[stack]) && shown.lineOf(stack) === line)
				sums.set(p.fn[stack], (sums.get(p.fn[stack]) ?? 0) + own);
		});
		return [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
	}

	private entries(count: number, owner: (stack: number) => number, isFirst: Uint8Array,
		of: (stack: number) => number): Entry[] {
		const own = new Float64Array(count + 1), total = new Float64Array(count + 1);
		const samples = new Uint32Array(count + 1);
		for (let i = 0; i < this.total.length; i++) {
			if (!this.total[i])
				continue;
			const id = of(i);
			if (id >= 0 && isFirst[i])
				total[id] += this.total[i];
			if (!this.samples[i])
				continue;
			const whose = owner(i) < 0 ? count : owner(i);
			own[whose] += this.own[i];
			samples[whose] += this.samples[i];
		}
		total[count] = own[count];
		const entries: Entry[] = [];
		for (let id = 0; id <= count; id++)
			if (total[id] > 0)
				entries.push({ id: id < count ? id : -1, own: own[id], total: total[id], samples: samples[id] });
		return entries.sort((a, b) => b.own - a.own || b.total - a.total || a.id - b.id);
	}

	// What own time was spent in, by what whose() says of a stack: the heaviest first.
	spent(shown: Shown, count: number, whose: (stack: number) => number): Map<number, [number, number][]> {
		const p = this.profile, kinds = p.spentCount();
		const result = new Map<number, [number, number][]>();
		const of = new Int32Array(p.stackCount).fill(-2);
		const sums = (count + 1) * kinds < TABLE_MAX ? new TableSums((count + 1) * kinds) : new MapSums();
		this.eachSample((i, stack, weight) => {
			if (of[stack] === -2)
				of[stack] = whose(stack);
			const key = (of[stack] < 0 ? count : of[stack]) * kinds + shown.spentOf(stack, p.spent[i]);
			sums.add(key, weight);
		});
		sums.each((key, weight) => {
			const id = Math.floor(key / kinds), list = result.get(id === count ? -1 : id) ?? [];
			list.push([key % kinds, weight]);
			result.set(id === count ? -1 : id, list);
		});
		result.forEach((list) => list.sort((a, b) => b[1] - a[1] || a[0] - b[0]));
		return result;
	}
}

// Names of the processes that samples without a frame are of, and what they weigh: the heaviest first.
export function nobodysProcesses(selection: Selection, shown: Shown): [string, number][] {
	const p = selection.profile, weights = new Map<string, number>();
	for (const { thread, first, count } of p.groupsOf(selection.state.event, selection.state.thread))
		for (let i = first; i < first + count; i++)
			if (shown.inner[p.stack[i]] < 0 && selection.has(i)) {
				const name = p.threadProcess(thread);
				weights.set(name, (weights.get(name) ?? 0) + selection.weightOf(i));
			}
	return [...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// Numbers of nodes by their parent and function: an open-addressing table, a quarter to a half full at most.
class NodeTable {
	private slots: Int32Array;
	private mask: number;

	constructor(size: number, private parent: Int32Array, private fn: Int32Array) {
		this.mask = 2 ** Math.ceil(Math.log2(2 * size + 2)) - 1;
		this.slots = new Int32Array(this.mask + 1);
	}

	// Where the node is, or has to be put: node 0 is nobody's child, so 0 is an empty slot.
	private slot(parent: number, fn: number): number {
		let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(fn, 0x85ebca77);
		hash ^= hash >>> 15;
		for (let at = hash & this.mask;; at = (at + 1) & this.mask) {
			const node = this.slots[at];
			if (node === 0 || (this.parent[node] === parent && this.fn[node] === fn))
				return at;
		}
	}

	// The node, or that number, which is now the node's.
	take(parent: number, fn: number, fresh: number): number {
		const at = this.slot(parent, fn);
		return this.slots[at] || (this.slots[at] = fresh);
	}
}

// Stacks as functions below their callers. Node 0 is all samples. Columns of numbers: there is no object for a node.
export class Tree {
	length = 1;
	// -1: none; of node 0.
	parent: Int32Array;
	fn: Int32Array;
	own: Float64Array;
	total: Float64Array;
	// The last child that was added, and the one before each; -1: none.
	private last: Int32Array;
	private before: Int32Array;
	// Of each stack that is selected; 0: none of its frames is shown. The node of such samples.
	private node: Int32Array;
	private none = 0;
	// What is compared: of the recording before, in its weights; else null. How wide a box is: then the mean of both.
	was: Float64Array | null = null;
	size: Float64Array;
	// Of nodes that were looked at.
	private sorted = new Map<number, number[]>();

	// Top-down, of the frames that are shown; focus: the function that it begins at, or -1; merge: a call of a function that
	// is further up leads back to there.
	constructor(readonly selection: Selection, shown: Shown, focus: number, merge: boolean, private nobody: string,
		readonly comparison: Comparison | null = null) {
		const { profile: p } = selection, most = p.stackCount + 2;
		this.parent = new Int32Array(most);
		this.fn = new Int32Array(most);
		this.own = new Float64Array(most);
		this.parent[0] = this.fn[0] = -1;
		const same = comparison?.same, [wasOwn, wasTotal] = comparison ? selection.before() : [null, null];
		this.was = wasOwn && new Float64Array(most);
		focus = same && focus >= 0 ? same[focus] : focus;
		const node = this.node = new Int32Array(p.stackCount);
		const table = new NodeTable(most, this.parent, this.fn);
		const child = (parent: number, fn: number) => {
			for (let up = merge ? parent : 0; up > 0; up = this.parent[up])
				if (this.fn[up] === fn)
					return up;
			const at = table.take(parent, fn, this.length);
			if (at === this.length) {
				this.parent[at] = parent;
				this.fn[at] = fn;
				this.length++;
			}
			return at;
		};
		// Below the function that is focused on, if there is one.
		const isInside = focus >= 0 ? new Uint8Array(p.stackCount) : null;
		for (let i = 0; i < p.stackCount; i++) {
			if (!selection.total[i] && !wasTotal?.[i]) {
				i = p.end[i] - 1;
				continue;
			}
			const above = p.parent[i], fn = same ? same[p.fn[i]] : p.fn[i];
			const parent = above < 0 ? 0 : node[above];
			if (isInside)
				isInside[i] = (above >= 0 && isInside[above]) || fn === focus ? 1 : 0;
			const isShown = shown.has(i) && (!isInside || isInside[i]);
			node[i] = isShown ? child(parent, fn) : parent;
			if (!selection.samples[i] && !wasOwn?.[i])
				continue;
			let at = node[i];
			if (at === 0 && !isShown)
				at = this.none = child(0, p.functionCount);
			this.own[at] += selection.own[i];
			if (wasOwn)
				this.was![at] += wasOwn[i];
		}
		this.was = this.was && this.was.slice(0, this.length);
		this.parent = this.parent.slice(0, this.length);
		this.fn = this.fn.slice(0, this.length);
		this.own = this.own.slice(0, this.length);
		this.link();
	}

	// Children have greater numbers than their parent. What weighs nothing is nobody's child: a frame whose samples are all
	// of calls that were merged into one above it.
	private link() {
		const { parent } = this;
		this.total = this.own.slice();
		for (let i = this.length - 1; i > 0; i--) {
			this.total[parent[i]] += this.total[i];
			if (this.was)
				this.was[parent[i]] += this.was[i];
		}
		this.size = this.was ? this.total.map((_, node) => (this.change(node).before + this.change(node).after) / 2) : this.total;
		this.last = new Int32Array(this.length).fill(-1);
		this.before = new Int32Array(this.length);
		for (let i = 1; i < this.length; i++) {
			if (!this.size[i])
				continue;
			this.before[i] = this.last[parent[i]];
			this.last[parent[i]] = i;
		}
	}

	// Of total time, in the unit of the comparison.
	change(node: number): Sides {
		const c = this.comparison!;
		return { before: this.was![node] * c.scaleBefore, after: this.total[node] * c.scaleAfter };
	}

	hasChildren(node: number): boolean { return this.last[node] >= 0; }

	// The heaviest first.
	children(node: number): number[] {
		let list = this.sorted.get(node);
		if (!list) {
			list = this.heavyChildren(node, 0);
			this.sorted.set(node, list);
		}
		return list;
	}

	// Those that weigh at least that much, the heaviest first.
	heavyChildren(node: number, least: number): number[] {
		const list: number[] = [];
		for (let at = this.last[node]; at >= 0; at = this.before[at])
			if (this.size[at] >= least)
				list.push(at);
		return list.sort((a, b) => this.size[b] - this.size[a] || a - b);
	}

	// How many weigh less, and how much together.
	lightChildren(node: number, least: number): [number, number] {
		let count = 0, weight = 0;
		for (let at = this.last[node]; at >= 0; at = this.before[at])
			if (this.size[at] < least) {
				count++;
				weight += this.size[at];
			}
		return [count, weight];
	}

	// -1: all samples.
	functionOf(node: number): number {
		return this.fn[node] < this.selection.profile.functionCount ? this.fn[node] : NOBODY;
	}

	// What nodes weigh in one thread: themselves, and with all below.
	ofThread(thread: number): [Float64Array, Float64Array] {
		const { selection } = this, p = selection.profile, own = new Float64Array(this.length);
		for (const { first, count } of p.groupsOf(selection.state.event, thread))
			for (let i = first; i < first + count; i++)
				if (selection.has(i))
					own[this.nodeOf(p.stack[i])] += selection.weightOf(i);
		const total = own.slice();
		for (let node = this.length - 1; node > 0; node--)
			total[this.parent[node]] += total[node];
		return [own, total];
	}

	nodeOf(stack: number): number { return this.node[stack] || this.none; }

	// From the outermost on, without node 0.
	nodesTo(node: number): Int32Array {
		const nodes: number[] = [];
		for (let at = node; at > 0; at = this.parent[at])
			nodes.push(at);
		return Int32Array.from(nodes.reverse());
	}

	path(node: number): number[] {
		const path: number[] = [];
		for (let at = node; at > 0; at = this.parent[at])
			path.unshift(this.fn[at]);
		return path;
	}

	// As far down as the path goes.
	find(path: number[]): number {
		let at = 0;
		for (const fn of path) {
			const next = this.children(at).find((kid) => this.fn[kid] === fn);
			if (next === undefined)
				break;
			at = next;
		}
		return at;
	}

	name(node: number): string {
		const p = this.selection.profile, fn = this.fn[node];
		return fn < 0 ? "all samples" : fn === p.functionCount ? this.nobody : p.functionName(fn);
	}

	place(node: number): string {
		const p = this.selection.profile, fn = this.fn[node];
		return fn < 0 || fn === p.functionCount ? "" : p.place(fn);
	}
}

// How far back a sample reaches that says nothing of that: twice as far as half of them are from the one before.
function usualReach(profile: Profile, first: number, count: number): number {
	const step = Math.max(1, Math.floor(count / DISTANCES)), distances: number[] = [];
	for (let i = first + 1; i < first + count; i += step)
		distances.push(profile.time[i] - profile.time[i - 1]);
	return 2 * (distances.sort((a, b) => a - b)[distances.length >> 1] ?? profile.span);
}

// Time in columns: of each the node that a thread was in for most of it, or -1. A sample stands for the time since the one
// before it, but for no more than it weighs, where that is time. A step of the work is some samples.
export function* timeColumns(tree: Tree, thread: number, count: number): Generator<void, Int32Array> {
	const { selection } = tree, p = selection.profile, { event } = selection.state, [from, to] = selection.range;
	const columns = new Int32Array(count).fill(-1), wide = (to - from) / count || 1, inside = new Map<number, number>();
	let at = 0;
	const close = () => {
		let most = 0;
		inside.forEach((time, node) => time > most && ([columns[at], most] = [node, time]));
		inside.clear();
		at++;
	};
	for (const group of p.groupsOf(event, thread)) {
		const reach = p.unit(event) === Unit.Nanoseconds ? 0 : usualReach(p, group.first, group.count);
		for (let i = group.first, before = from; i < group.first + group.count; i++) {
			if (i % STEP_SAMPLES === 0)
				yield;
			if (!selection.has(i))
				continue;
			const end = p.until[i], begin = Math.min(end, Math.max(before, end - (reach || p.weight[i])));
			const node = tree.nodeOf(p.stack[i]), last = Math.min(count - 1, Math.floor((end - from) / wide));
			for (let column = Math.max(at, Math.floor((begin - from) / wide)); column <= last; column++) {
				while (at < column)
					close();
				const time = Math.min(end, from + (column + 1) * wide) - Math.max(begin, from + column * wide);
				inside.set(node, (inside.get(node) ?? 0) + Math.max(time, 1e-3));
			}
			before = end;
		}
	}
	close();
	return columns;
}

// A function, and below it its callers: made when it is looked at.
export interface Caller {
	fn: number;
	weight: number;
	// Nodes of the tree that stand for this one, and what of each counts.
	nodes: number[];
	weights: number[];
	// Functions on the way to here, which are passed over further out; null: none is.
	way: number[] | null;
}

class CallerGroups {
	private groups = new Map<number, Caller>();

	constructor(private tree: Tree, private way: number[] | null) {}

	add(node: number, weight: number) {
		const fn = this.tree.fn[node], way = this.way && [...this.way, fn];
		let caller = this.groups.get(fn);
		if (!caller)
			this.groups.set(fn, caller = { fn, weight: 0, nodes: [], weights: [], way });
		caller.weight += weight;
		caller.nodes.push(node);
		caller.weights.push(weight);
	}

	// The heaviest first.
	list(): Caller[] { return [...this.groups.values()].sort((a, b) => b.weight - a.weight || a.fn - b.fn); }
}

// Who calls what the node stands for; 0: nobody.
export function callerNode(tree: Tree, of: Caller, node: number): number {
	let at = tree.parent[node];
	while (at > 0 && of.way?.includes(tree.fn[at]))
		at = tree.parent[at];
	return Math.max(0, at);
}

// null: what has own time.
export function callers(tree: Tree, of: Caller | null): Caller[] {
	const groups = new CallerGroups(tree, of && of.way);
	if (!of)
		for (let node = 1; node < tree.length; node++)
			tree.own[node] && groups.add(node, tree.own[node]);
	else
		of.nodes.forEach((node, i) => {
			const caller = callerNode(tree, of, node);
			if (caller)
				groups.add(caller, of.weights[i]);
		});
	return groups.list();
}

// A function with all that passes through it, by its innermost frame: as `kaa report --callers` has it. Null: it is in no stack.
export function calledFunction(tree: Tree, fn: number): Caller | null {
	const inner = new Int32Array(tree.length), groups = new CallerGroups(tree, null), sums = new Map<number, number>();
	for (let node = 1; node < tree.length; node++) {
		inner[node] = tree.fn[node] === fn ? node : inner[tree.parent[node]];
		if (inner[node] && tree.own[node])
			sums.set(inner[node], (sums.get(inner[node]) ?? 0) + tree.own[node]);
	}
	sums.forEach((weight, node) => groups.add(node, weight));
	const called = groups.list()[0];
	// A call by itself is one of its callers.
	return called ? { ...called, way: [] } : null;
}

// Of each file that has any, by the entries of its lines: the heaviest first.
export function fileWeights(profile: Profile, lines: Entry[]): [number, number][] {
	const files = new Map<number, number>();
	for (const entry of lines) {
		const file = entry.id < 0 ? NONE : profile.lineFile[entry.id];
		if (file !== NONE)
			files.set(file, (files.get(file) ?? 0) + entry.own);
	}
	return [...files].sort((a, b) => b[1] - a[1]);
}
