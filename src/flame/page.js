// SPDX-License-Identifier: GPL-2.0-only
// The flame graph of `kaa flamegraph`, docs/flamegraph.md. The writer is flame_page.c.
(() => {
"use strict";

// enum flame_kind. Of each: what the legend says, colours as hue, saturation and lightness (the
// files of a kind share its colours), and whether it is striped. Told apart by lightness and
// stripes too, not by hue alone.
const KINDS = [
	["this program", [[44, 95, 62], [34, 95, 66], [50, 85, 74], [28, 88, 74]]],
	["installed packages", [[203, 75, 68], [209, 65, 77], [197, 70, 60]]],
	["standard library", [[166, 45, 60], [158, 40, 71], [174, 40, 66]]],
	["C code", [[215, 10, 75], [215, 14, 82]]],
	["interpreter", [[215, 6, 88]]],
	["allocation", [[228, 45, 76]]],
	["garbage collection", [[326, 50, 66]], true],
	["GIL wait", [[20, 30, 55]], true],
	["kernel", [[268, 45, 74]]],
	["incomplete stacks", [[0, 0, 66]], true],
	["threads", [[215, 8, 92]]],
	["no Python code", [[215, 5, 82]]],
	["smaller boxes", [[0, 0, 80]]],
	["not in your files", [[215, 5, 82]]],
];
const [PROGRAM, PACKAGE, STANDARD] = [0, 1, 2];
const [MARKER, THREAD, NO_PYTHON, REST] = [9, 10, 11, 12];
const isPython = (kind) => kind <= STANDARD;
const isNative = (kind) => kind > STANDARD && kind < MARKER;
const TOGETHER = -1, APART = -2;
const MIN_WIDTH = 0.5;

const data = JSON.parse(document.getElementById("profile").textContent);
const sides = data.compare ? 2 : 1;
const by = (id) => document.getElementById(id);

// --- Data ---------------------------------------------------------------------------------------

// The nodes of the tree, a column each; a parent stands before its children.
function decode() {
	const bytes = Uint8Array.from(atob(data.nodes), (c) => c.charCodeAt(0));
	const raw = { parent: new Int32Array(data.count), fn: new Int32Array(data.count),
		samples: [], weight: [] };
	const path = [];
	let at = 0;

	const number = () => {
		let value = 0, scale = 1, byte;
		do {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	};
	for (let side = 0; side < sides; side++) {
		raw.samples.push(new Float64Array(data.count));
		raw.weight.push(new Float64Array(data.count));
	}
	for (let i = 0; i < data.count; i++) {
		path.length -= i ? number() : 0;
		raw.parent[i] = path.length ? path[path.length - 1] : -1;
		raw.fn[i] = number();
		path.push(i);
		for (let side = 0; side < sides; side++) {
			const samples = raw.samples[side][i] = number();
			const each = data.period[side];
			raw.weight[side][i] = each !== null ? samples * each :
				samples ? number() : 0;
		}
	}
	return raw;
}

const raw = decode();
const functions = data.functions;
const kindOf = (fn) => functions.kind[fn];
const nameOf = (fn) => data.strings[functions.name[fn]];

function placeOf(fn) {
	const place = data.strings[functions.place[fn]];
	return functions.line[fn] ? `${place}:${functions.line[fn]}` : place;
}

// --- A view: threads put together, native code left out ------------------------------------------

class Tree {
	constructor() {
		this.parent = [];
		this.fn = [];
		this.samples = Array.from({ length: sides }, () => []);
		this.weight = Array.from({ length: sides }, () => []);
		this.children = [];
		this.index = new Map();
		this.add(-1, -1);
	}

	add(parent, fn) {
		const node = this.parent.push(parent) - 1;
		this.fn.push(fn);
		this.children.push([]);
		for (let side = 0; side < sides; side++) {
			this.samples[side].push(0);
			this.weight[side].push(0);
		}
		if (parent >= 0)
			this.children[parent].push(node);
		return node;
	}

	child(parent, fn) {
		const key = parent * (functions.name.length + 1) + fn;
		let node = this.index.get(key);
		if (node === undefined) {
			node = this.add(parent, fn);
			this.index.set(key, node);
		}
		return node;
	}

	// Totals, widths and the order of siblings. own has what ends at a node itself.
	finish() {
		this.own = { samples: this.samples.map((column) => column.slice()),
			weight: this.weight.map((column) => column.slice()) };
		for (let i = this.parent.length - 1; i > 0; i--) {
			for (let side = 0; side < sides; side++) {
				this.samples[side][this.parent[i]] += this.samples[side][i];
				this.weight[side][this.parent[i]] += this.weight[side][i];
			}
		}
		const measure = this.weight.map((column, side) =>
			column[0] > 0 ? column : this.samples[side]);
		// What a run took, the mean of both sides.
		this.run = measure.reduce((sum, column, side) =>
			sum + (data.runs[side] ? column[0] / data.runs[side] : 0), 0) / sides;
		const all = measure.map((column, side) =>
			data.compare === "time" ? this.run * data.runs[side] : column[0]);
		this.share = (node, side) => all[side] ? measure[side][node] / all[side] : 0;
		const own = this.weight.map((column, side) =>
			column[0] > 0 ? this.own.weight[side] : this.own.samples[side]);
		this.ownShare = (node, side) => all[side] ? own[side][node] / all[side] : 0;
		this.size = (node) => sides === 1 ? this.share(node, 0) :
			(this.share(node, 0) + this.share(node, 1)) / 2;
		const order = (a, b) => this.size(b) - this.size(a) || a - b;
		this.children.forEach((list) => list.sort(order));
		this.layOut();
	}

	layOut() {
		const count = this.parent.length;
		this.x = new Float64Array(count);
		this.depth = new Int32Array(count);
		for (const stack = [0]; stack.length;) {
			const node = stack.pop();
			let x = this.x[node];
			for (const child of this.children[node]) {
				this.x[child] = x;
				this.depth[child] = this.depth[node] + 1;
				x += this.size(child);
				stack.push(child);
			}
		}
	}

	// What a function weighs wherever it is: its own share with all C code below it, and
	// its total, each sample once.
	everywhere(fn) {
		if (!this.functions)
			this.countFunctions();
		return this.functions.get(fn);
	}

	countFunctions() {
		// Of each function: how many of its boxes stand above the one that is looked at.
		const open = new Int32Array(functions.name.length);
		const inner = new Int32Array(this.parent.length).fill(-1);
		this.functions = new Map();
		for (const stack = [...this.children[0]]; stack.length;) {
			const node = stack.pop();
			if (node < 0) {
				open[this.fn[~node]]--;
				continue;
			}
			const fn = this.fn[node];
			inner[node] = isPython(kindOf(fn)) ? fn :
				kindOf(fn) === REST ? -1 : inner[this.parent[node]];
			this.count(node, inner[node], open[fn] === 0);
			open[fn]++;
			stack.push(~node);
			for (const child of this.children[node])
				stack.push(child);
		}
	}

	// python: the innermost Python function of what ends at the node, or -1.
	count(node, python, isOutermost) {
		const fn = this.fn[node];
		if (!this.functions.has(fn))
			this.functions.set(fn, { own: [0, 0], total: [0, 0], boxes: 0 });
		const here = this.functions.get(fn);
		const owner = python >= 0 ? this.functions.get(python) : here;
		here.boxes++;
		for (let side = 0; side < sides; side++) {
			owner.own[side] += this.ownShare(node, side);
			if (isOutermost)
				here.total[side] += this.share(node, side);
		}
	}
}

// A function of the page alone: it stands behind the others.
function addNoPython() {
	functions.file.push(data.strings.push("") - 1);
	functions.place.push(data.strings.length - 1);
	functions.line.push(0);
	functions.kind.push(NO_PYTHON);
	return functions.name.push(data.strings.push("[no Python code]") - 1) - 1;
}

const noPython = addNoPython();

function makeTree(thread, native) {
	const tree = new Tree();
	const below = new Int32Array(data.count);
	const isTop = (node) => node === 0 || kindOf(tree.fn[node]) === THREAD;

	for (let i = 0; i < data.count; i++) {
		const fn = raw.fn[i], kind = kindOf(fn);
		const parent = raw.parent[i] < 0 ? 0 : below[raw.parent[i]];
		let own;
		if (parent < 0 || (kind === THREAD && thread >= 0 && thread !== i))
			own = below[i] = -1;
		else if (kind === THREAD)
			own = below[i] = thread === APART ? tree.child(0, fn) : 0;
		else if (!native && isNative(kind))
			own = below[i] = parent;
		else
			own = below[i] = tree.child(parent, fn);
		for (let side = 0; side < sides && own >= 0; side++) {
			if (!raw.samples[side][i])
				continue;
			if (!native && isNative(kind) && isTop(own))
				own = tree.child(own, noPython);
			tree.samples[side][own] += raw.samples[side][i];
			tree.weight[side][own] += raw.weight[side][i];
		}
	}
	tree.finish();
	return tree;
}

// --- What is shown ------------------------------------------------------------------------------

const state = {
	native: data.native, flip: data.flame, thread: data.threads ? APART : TOGETHER,
	tree: null, zoom: 0, selected: 0, hover: -1, word: "", found: null,
};
const stage = by("stage"), canvas = by("canvas"), context = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
const rowHeight = matchMedia("(pointer: coarse)").matches ? 26 : 20;
// What the last drawing drew: x, width, row, node, and how many nodes a box of small ones has.
let boxes = [];

const percent = (share) => share > 0 && share < 0.0001 ? "<0.01 %" :
	`${share ? (share * 100).toFixed(share < 0.01 ? 2 : 1) : 0} %`;
const count = (n) => n.toLocaleString("en-US");

function amount(weight) {
	if (data.unit === "ns")
		return weight < 1e9 ? `${(weight / 1e6).toFixed(1)} ms` :
			`${(weight / 1e9).toFixed(2)} s`;
	return `${count(weight)}${data.unit === "bytes" ? " bytes" : ""}`;
}

function numbers(tree, node) {
	const samples = tree.samples[0][node];
	if (sides === 2)
		return `${count(tree.samples[1][node])} samples before, ${count(samples)} after`;
	const weight = tree.weight[0][node];
	const what = `${count(samples)} sample${samples === 1 ? "" : "s"}`;
	return weight && data.unit ? `${what}, ${amount(weight)}` : what;
}

// --- Colours ------------------------------------------------------------------------------------

function hash(text) {
	let value = 7;
	for (let i = 0; i < text.length; i++)
		value = (value * 31 + text.charCodeAt(i)) >>> 0;
	return value;
}

function hsl([hue, saturation, lightness]) {
	return `hsl(${hue} ${saturation}% ${dark.matches ? lightness - 6 : lightness}%)`;
}

// More than before: red; less: blue; the stronger, the greater the change of the share is.
function changeColour(tree, node) {
	const after = tree.share(node, 0), before = tree.share(node, 1);
	const change = (after - before) / Math.max(after, before, 1e-12);
	const strength = Math.min(1, Math.abs(change) * 1.5);
	return `hsl(${change > 0 ? 8 : 212} ${15 + 75 * strength}% ${90 - 28 * strength}%)`;
}

const colours = new Map();

function colourOf(tree, node) {
	const fn = tree.fn[node];
	if (sides === 2)
		return changeColour(tree, node);
	if (!colours.has(fn)) {
		const shades = KINDS[kindOf(fn)][1];
		const file = data.strings[functions.file[fn]];
		colours.set(fn, hsl(shades[hash(file) % shades.length]));
	}
	return colours.get(fn);
}

// --- Drawing ------------------------------------------------------------------------------------

function isBelow(tree, node, above) {
	while (node > above)
		node = tree.parent[node];
	return node === above;
}

// The boxes of the zoomed part, and above it its callers, as wide as everything.
function place(width) {
	const tree = state.tree, list = [];
	const from = tree.x[state.zoom], scale = width / (tree.size(state.zoom) || 1);
	for (let node = state.zoom; node >= 0; node = tree.parent[node])
		list.push({ node, x: 0, width, row: tree.depth[node], more: 0 });
	for (const stack = [state.zoom]; stack.length;) {
		const node = stack.pop();
		const children = tree.children[node];
		for (let i = 0; i < children.length; i++) {
			const child = children[i];
			const box = { node: child, x: (tree.x[child] - from) * scale,
				width: tree.size(child) * scale, row: tree.depth[child], more: 0 };
			if (box.width < MIN_WIDTH) {
				// Siblings are in order of their width: all others are small, too.
				const last = children[children.length - 1];
				box.width = (tree.x[last] + tree.size(last) - from) * scale - box.x;
				box.more = children.length - i;
				if (box.width >= MIN_WIDTH)
					list.push(box);
				break;
			}
			list.push(box);
			stack.push(child);
		}
	}
	return list;
}

function label(box) {
	const fn = state.tree.fn[box.node];
	if (box.more)
		return `${count(box.more)} more`;
	if (fn < 0)
		return "all samples";
	const place = placeOf(fn);
	return place ? `${nameOf(fn)}  ${place}` : nameOf(fn);
}

// The beginning of the text that fits.
function fit(text, width) {
	if (context.measureText(text).width <= width)
		return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(text.slice(0, middle) + "\u2026").width <= width)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 1 ? text.slice(0, low) + "\u2026" : "";
}

function drawStripes(box, y) {
	context.save();
	context.beginPath();
	context.rect(box.x, y, box.width, rowHeight - 1);
	context.clip();
	context.strokeStyle = "rgba(0, 0, 0, 0.28)";
	context.beginPath();
	for (let x = Math.max(0, box.x) - rowHeight; x < box.x + box.width; x += 6) {
		context.moveTo(x, y + rowHeight);
		context.lineTo(x + rowHeight, y);
	}
	context.stroke();
	context.restore();
}

function drawBox(box, y) {
	const tree = state.tree, fn = tree.fn[box.node];
	const isFound = state.found && !box.more && state.found.has(box.node);
	const isSelected = !box.more && box.node === state.selected;
	const isCaller = box.node < state.zoom && isBelow(tree, state.zoom, box.node);
	const isFaint = state.found && !isFound;
	context.globalAlpha = isFaint ? 0.3 : isCaller ? 0.65 : 1;
	context.fillStyle = box.more ? hsl(KINDS[REST][1][0]) : fn < 0 ? hsl(KINDS[THREAD][1][0]) :
		colourOf(tree, box.node);
	context.fillRect(box.x, y, box.width > 2 ? box.width - 1 : box.width, rowHeight - 1);
	if (!box.more && fn >= 0 && KINDS[kindOf(fn)][2] && box.width > 3)
		drawStripes(box, y);
	context.globalAlpha = 1;
	if (box.width > 26) {
		context.fillStyle = isFaint && dark.matches ? "#e6edf3" : "#14181d";
		context.fillText(fit(label(box), box.width - 8), box.x + 4, y + rowHeight / 2);
	}
	if (isFound || isSelected) {
		const own = dark.matches ? "#ffffff" : "#000000";
		context.strokeStyle = isSelected ? own : "#c2185b";
		context.lineWidth = 2;
		context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 0.5), rowHeight - 3);
	}
}

function rows() {
	return boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
}

function top(row) {
	return (state.flip ? rowsShown - 1 - row : row) * rowHeight;
}

let rowsShown = 1, isDue = false;

function draw() {
	const ratio = devicePixelRatio || 1;
	const width = stage.clientWidth, height = stage.clientHeight;
	isDue = false;
	boxes = place(width);
	rowsShown = rows();
	by("room").style.height = `${Math.max(rowsShown * rowHeight, height)}px`;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = "12px system-ui, sans-serif";
	context.textBaseline = "middle";
	for (const box of boxes) {
		const y = top(box.row) - stage.scrollTop + shift();
		if (y > -rowHeight && y < height)
			drawBox(box, y);
	}
}

// A graph lower than the window stands on its ground.
function shift() {
	return state.flip ? Math.max(0, stage.clientHeight - rowsShown * rowHeight) : 0;
}

function redraw() {
	if (!isDue)
		requestAnimationFrame(draw);
	isDue = true;
}

function boxAt(event) {
	const frame = canvas.getBoundingClientRect();
	const x = event.clientX - frame.left;
	const y = event.clientY - frame.top + stage.scrollTop - shift();
	let row = Math.floor(y / rowHeight);
	row = state.flip ? rowsShown - 1 - row : row;
	return boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width);
}

// --- Words --------------------------------------------------------------------------------------

function put(parent, name, text) {
	const element = document.createElement(name);
	element.textContent = text;
	parent.append(element);
	return element;
}

function line(parent, text) {
	put(parent, "br", "");
	put(parent, "span", text);
}

function shares(pair) {
	const isTime = data.compare === "time" && data.unit === "ns";
	const [after, before] = pair.map((share) =>
		isTime ? amount(share * state.tree.run) : percent(share));
	return sides === 1 ? after : `${before} before, ${after} after`;
}

function describeMore(footer, box) {
	const tree = state.tree, siblings = tree.children[tree.parent[box.node]];
	const rest = siblings.slice(siblings.length - box.more);
	put(footer, "b", `${count(box.more)} more boxes, too narrow to be drawn`);
	line(footer, `total ${shares([0, 1].map((side) => side < sides ?
		rest.reduce((sum, node) => sum + tree.share(node, side), 0) : 0))}: ` +
		"zoom into the box above to see them");
}

function describe(box) {
	const tree = state.tree, footer = by("details");
	footer.textContent = "";
	if (box.more) {
		describeMore(footer, box);
		return;
	}
	const node = box.node, fn = tree.fn[node];
	const pair = (share) => [share(node, 0), sides === 2 ? share(node, 1) : 0];
	put(footer, "b", fn < 0 ? "all samples" : nameOf(fn));
	if (fn >= 0 && placeOf(fn))
		put(footer, "span", `  ${placeOf(fn)}`);
	line(footer, `total ${shares(pair(tree.share))}, own ${shares(pair(tree.ownShare))}` +
		` (${numbers(tree, node)})`);
	if (fn < 0)
		return;
	if (isPython(kindOf(fn))) {
		const all = tree.everywhere(fn);
		line(footer, `everywhere: own ${shares(all.own)}, total ${shares(all.total)}` +
			(all.boxes > 1 ? ` in ${count(all.boxes)} boxes` : ""));
	}
	const file = data.strings[functions.file[fn]];
	line(footer, [KINDS[kindOf(fn)][0], file === data.strings[functions.place[fn]] ? "" : file]
		.filter(Boolean).join(", "));
}

function showDetails() {
	const chosen = state.hover >= 0 ? state.hover : state.selected;
	describe(boxes.find((box) => box.node === chosen) || { node: chosen, more: 0 });
}

function showLegend() {
	const tree = state.tree, list = by("legend");
	list.textContent = "";
	if (sides === 2) {
		put(list, "li", "red: more than before; blue: less; widths are the mean of both");
		return;
	}
	const own = KINDS.map(() => -1);
	for (let i = 1; i < tree.fn.length; i++) {
		const kind = kindOf(tree.fn[i]);
		own[kind] = Math.max(own[kind], 0) + tree.ownShare(i, 0);
	}
	own.forEach((share, kind) => {
		if (share < 0 || kind === THREAD)
			return;
		const item = put(list, "li", "");
		put(item, "i", "").style.background = hsl(KINDS[kind][1][0]);
		// With C code the summary says more: what allocation and the kernel are for.
		item.append(KINDS[kind][0] + (state.native ? "" : ` ${percent(share)}`));
	});
}

// --- Search -------------------------------------------------------------------------------------

// Boxes whose function or place has the word. A sample counts once: below a box that is found
// there are no others.
function search() {
	const tree = state.tree, word = state.word.toLowerCase();
	state.found = null;
	by("found").textContent = "";
	if (!word)
		return;
	const hits = functions.name.map((_, fn) =>
		`${nameOf(fn)} ${placeOf(fn)}`.toLowerCase().includes(word));
	const inside = new Uint8Array(tree.parent.length);
	const total = [0, 0];
	let samples = 0;
	state.found = new Set();
	for (let i = 1; i < tree.parent.length; i++) {
		const isInside = inside[tree.parent[i]];
		const isHit = hits[tree.fn[i]];
		inside[i] = isInside || isHit;
		if (isHit)
			state.found.add(i);
		if (isHit && !isInside) {
			samples += tree.samples[0][i];
			for (let side = 0; side < sides; side++)
				total[side] += tree.share(i, side);
		}
	}
	by("found").textContent = state.found.size ?
		`${shares(total)} (${count(samples)} samples${sides === 2 ? " after" : ""}) in ` +
			`${count(state.found.size)} boxes` :
		"nothing found";
}

// The next box that is found, by the order in which boxes are drawn.
function step(direction) {
	const list = boxes.filter((box) => !box.more && state.found && state.found.has(box.node))
		.sort((a, b) => a.row - b.row || a.x - b.x);
	if (!list.length)
		return;
	const at = list.findIndex((box) => box.node === state.selected);
	select(list[(at + direction + list.length + (at < 0 && direction < 0)) % list.length].node);
}

// --- What the user does -------------------------------------------------------------------------

function select(node) {
	state.selected = node;
	state.hover = -1;
	const y = top(state.tree.depth[node]);
	if (y < stage.scrollTop)
		stage.scrollTop = y;
	else if (y + rowHeight > stage.scrollTop + stage.clientHeight)
		stage.scrollTop = y + rowHeight - stage.clientHeight;
	showDetails();
	redraw();
}

function zoom(node) {
	state.zoom = node;
	state.selected = node;
	state.hover = -1;
	draw();
	stage.scrollTop = state.flip ? stage.scrollHeight : 0;
	select(node);
}

function rebuild() {
	state.tree = makeTree(state.thread, state.native);
	by("native").setAttribute("aria-pressed", state.native);
	search();
	showLegend();
	zoom(0);
}

function toggleNative() {
	if (by("native").hidden)
		return;
	state.native = !state.native;
	rebuild();
}

function toggleFlip() {
	state.flip = !state.flip;
	by("flip").setAttribute("aria-pressed", state.flip);
	zoom(state.zoom);
}

function move(direction) {
	const tree = state.tree, node = state.selected, parent = tree.parent[node];
	if (direction === "out" && parent >= 0)
		select(parent);
	else if (direction === "in" && tree.children[node].length)
		select(tree.children[node][0]);
	else if (typeof direction === "number" && parent >= 0) {
		const siblings = tree.children[parent];
		const next = siblings[siblings.indexOf(node) + direction];
		if (next !== undefined && boxes.some((box) => box.node === next && !box.more))
			select(next);
	}
}

const KEYS = {
	ArrowDown: () => move(state.flip ? "out" : "in"),
	ArrowUp: () => move(state.flip ? "in" : "out"),
	ArrowLeft: () => move(-1),
	ArrowRight: () => move(1),
	Enter: () => zoom(state.selected),
	" ": () => zoom(state.selected),
	Backspace: () => zoom(Math.max(0, state.tree.parent[state.zoom])),
	Escape: () => zoom(0),
	"/": () => by("search").focus(),
	n: () => step(1),
	N: () => step(-1),
	c: toggleNative,
	f: toggleFlip,
};

function listen() {
	document.addEventListener("keydown", (event) => {
		const tag = event.target.tagName;
		if (event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT")
			return;
		if (tag === "INPUT") {
			if (event.key === "Enter" || event.key === "Escape")
				stage.focus();
			if (event.key === "Enter")
				step(1);
			return;
		}
		if (!(event.key in KEYS) || (tag === "BUTTON" && /^(Enter| )$/.test(event.key)))
			return;
		event.preventDefault();
		KEYS[event.key]();
	});
	by("search").addEventListener("input", (event) => {
		state.word = event.target.value.trim();
		search();
		redraw();
	});
	by("native").addEventListener("click", toggleNative);
	by("flip").addEventListener("click", toggleFlip);
	by("out").addEventListener("click", () => zoom(0));
	by("thread").addEventListener("change", (event) => {
		state.thread = Number(event.target.value);
		rebuild();
	});
	canvas.addEventListener("click", (event) => {
		const box = boxAt(event);
		if (box)
			zoom(box.more ? state.tree.parent[box.node] : box.node);
	});
	canvas.addEventListener("pointermove", (event) => {
		const box = boxAt(event);
		state.hover = box ? box.node : -1;
		if (box)
			describe(box);
		else
			showDetails();
	});
	canvas.addEventListener("pointerleave", () => {
		state.hover = -1;
		showDetails();
	});
	stage.addEventListener("scroll", redraw);
	dark.addEventListener("change", () => {
		colours.clear();
		showLegend();
		redraw();
	});
	new ResizeObserver(redraw).observe(stage);
}

function listThreads() {
	const threads = [];
	for (let i = 0; i < data.count; i++)
		if (kindOf(raw.fn[i]) === THREAD)
			threads.push(i);
	by("threads").hidden = threads.length < 2;
	const add = (text, value) => {
		const option = put(by("thread"), "option", text);
		option.value = value;
	};
	add(`all ${threads.length} together`, TOGETHER);
	add("all side by side", APART);
	const tree = threads.length > 1 ? makeTree(APART, true) : null;
	for (const i of threads.length > 1 ? threads : []) {
		const share = tree.size(tree.child(0, raw.fn[i]));
		add(`${percent(share)}  ${nameOf(raw.fn[i])} (${placeOf(raw.fn[i])})`, i);
	}
	by("thread").value = state.thread;
}

by("native").hidden = !functions.kind.some(isNative);
by("flip").setAttribute("aria-pressed", state.flip);
listThreads();
listen();
rebuild();
})();
