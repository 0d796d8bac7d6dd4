// SPDX-License-Identifier: GPL-2.0-only
// Where the boxes of a flame graph are: row by row, from left to right, as columns of numbers.
import type { Tree } from "./compute";

// A pixel: narrower boxes are not drawn one by one.
const MIN_WIDTH = 1;
// So many boxes may be a step of the work of a frame.
export const STEP_BOXES = 256;

export abstract class Layout {
	length = 0;
	node = new Int32Array(STEP_BOXES);
	// How many siblings are too narrow: the box stands for them, and its node is their parent. 0: it is one box.
	more = new Int32Array(STEP_BOXES);
	row = new Int32Array(STEP_BOXES);
	x = new Float64Array(STEP_BOXES);
	width = new Float64Array(STEP_BOXES);
	// The first box of each row.
	protected rows: number[] = [];

	// room: how wide everything is.
	constructor(readonly tree: Tree, readonly room: number) {}

	// Makes some more boxes.
	abstract step(): void;
	abstract get isDone(): boolean;
	// All boxes of the row are there.
	abstract has(row: number): boolean;

	private grow() {
		const more = <T extends Int32Array | Float64Array>(old: T, fresh: T) => (fresh.set(old), fresh);
		const size = this.length * 2;
		this.node = more(this.node, new Int32Array(size));
		this.more = more(this.more, new Int32Array(size));
		this.row = more(this.row, new Int32Array(size));
		this.x = more(this.x, new Float64Array(size));
		this.width = more(this.width, new Float64Array(size));
	}

	protected add(node: number, hidden: number, row: number, x: number, width: number) {
		const at = this.length;
		if (at === this.node.length)
			this.grow();
		if (row === this.rows.length)
			this.rows.push(at);
		this.node[at] = node;
		this.more[at] = hidden;
		this.row[at] = row;
		this.x[at] = x;
		this.width[at] = width;
		this.length++;
	}

	get rowCount() { return this.rows.length; }
	begin(row: number) { return row < this.rows.length ? this.rows[row] : this.length; }

	at(row: number, x: number): number {
		for (let i = this.begin(row); i < this.begin(row + 1); i++)
			if (x >= this.x[i] && x < this.x[i] + this.width[i])
				return i;
		return -1;
	}
}

// As wide as what they weigh, the heaviest first. The zoomed box is as wide as everything; above it are its callers.
export class WeightLayout extends Layout {
	// Those before it have their children in the list.
	private next: number;
	private scale: number;

	constructor(tree: Tree, room: number, readonly zoomed: number) {
		super(tree, room);
		const path: number[] = [];
		for (let node = zoomed; node >= 0; node = tree.parent[node])
			path.unshift(node);
		path.forEach((node, row) => this.add(node, 0, row, 0, room));
		this.next = path.length - 1;
		this.scale = room / (tree.size[zoomed] || 1);
	}

	private expand(at: number) {
		const { tree, scale } = this, node = this.node[at], row = this.row[at] + 1, least = MIN_WIDTH / scale;
		let x = this.x[at];
		for (const child of tree.heavyChildren(node, least)) {
			const width = tree.size[child] * scale;
			this.add(child, 0, row, x, width);
			x += width;
		}
		const [hidden, weight] = tree.lightChildren(node, least);
		if (weight >= least)
			this.add(node, hidden, row, x, weight * scale);
	}

	step() {
		for (let i = 0; i < STEP_BOXES && this.next < this.length; i++, this.next++)
			if (!this.more[this.next])
				this.expand(this.next);
	}

	get isDone() { return this.next === this.length; }
	has(row: number) { return this.isDone || (row < this.rows.length && this.next >= this.rows[row]); }
}

// As wide as the time that they take, from left to right: what stands beside itself is one box.
export class TimeLayout extends Layout {
	// Of each column the nodes from the outermost on; none: nothing was sampled then.
	private paths: Int32Array[] = [];
	private made = 0;
	private depth = 0;

	constructor(tree: Tree, room: number, columns: Int32Array) {
		super(tree, room);
		columns.forEach((node, i) => {
			const same = i > 0 && node === columns[i - 1];
			const path = same ? this.paths[i - 1] : node < 0 ? new Int32Array() : tree.nodesTo(node);
			this.paths.push(path);
			this.depth = Math.max(this.depth, path.length);
		});
		this.add(0, 0, 0, 0, room);
	}

	step() {
		const { paths, made } = this, wide = this.room / paths.length;
		for (let from = 0, to; from < paths.length; from = to) {
			const node = paths[from][made];
			for (to = from + 1; to < paths.length && paths[to][made] === node; to++)
				;
			if (node !== undefined)
				this.add(node, 0, made + 1, from * wide, (to - from) * wide);
		}
		this.made++;
	}

	get isDone() { return this.made >= this.depth; }
	has(row: number) { return this.isDone || this.made >= row; }
}
