// SPDX-License-Identifier: GPL-2.0-only
// The flame graph: a box is a function below its caller, as wide as what it weighs; the heaviest first.
import type { App } from "./app";
import { functionColour, isDark, kindColour, KINDS, onTheme, variable } from "./colours";
import type { Tree } from "./compute";
import { amount, count, fitCanvas, Frames, h, percent } from "./dom";

// A pixel: narrower boxes are not drawn one by one.
const MIN_WIDTH = 1, HEIGHT = matchMedia("(pointer: coarse)").matches ? 28 : 21;
// So many boxes, or rows, may be a step of the work of a frame.
const STEP_BOXES = 256;

// Where boxes are: row by row, from left to right, as columns of numbers. The zoomed box is as wide as everything, and
// above it are its callers. Rows are made one after the other, when step() is called.
class Layout {
	length = 0;
	node = new Int32Array(STEP_BOXES);
	// How many siblings are too narrow: the box stands for them, and its node is their parent. 0: it is one box.
	more = new Int32Array(STEP_BOXES);
	row = new Int32Array(STEP_BOXES);
	x = new Float64Array(STEP_BOXES);
	width = new Float64Array(STEP_BOXES);
	// The first box of each row.
	private rows: number[] = [];
	// Those before it have their children in the list.
	private next: number;
	private scale: number;

	constructor(readonly tree: Tree, readonly zoomed: number, readonly room: number) {
		const path: number[] = [];
		for (let node = zoomed; node >= 0; node = tree.parent[node])
			path.unshift(node);
		path.forEach((node, row) => this.add(node, 0, row, 0, room));
		this.next = path.length - 1;
		this.scale = room / (tree.total[zoomed] || 1);
	}

	private grow() {
		const more = <T extends Int32Array | Float64Array>(old: T, fresh: T) => (fresh.set(old), fresh);
		const size = this.length * 2;
		this.node = more(this.node, new Int32Array(size));
		this.more = more(this.more, new Int32Array(size));
		this.row = more(this.row, new Int32Array(size));
		this.x = more(this.x, new Float64Array(size));
		this.width = more(this.width, new Float64Array(size));
	}

	private add(node: number, hidden: number, row: number, x: number, width: number) {
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

	private expand(at: number) {
		const { tree, scale } = this, node = this.node[at], row = this.row[at] + 1, least = MIN_WIDTH / scale;
		let x = this.x[at];
		for (const child of tree.heavyChildren(node, least)) {
			const width = tree.total[child] * scale;
			this.add(child, 0, row, x, width);
			x += width;
		}
		const [hidden, weight] = tree.lightChildren(node, least);
		if (weight >= least)
			this.add(node, hidden, row, x, weight * scale);
	}

	// Some more boxes.
	step() {
		for (let i = 0; i < STEP_BOXES && this.next < this.length; i++, this.next++)
			if (!this.more[this.next])
				this.expand(this.next);
	}

	get isDone() { return this.next === this.length; }
	get rowCount() { return this.rows.length; }
	// All boxes of the row are there.
	has(row: number) { return this.isDone || (row < this.rows.length && this.next >= this.rows[row]); }
	begin(row: number) { return row < this.rows.length ? this.rows[row] : this.length; }

	at(row: number, x: number): number {
		for (let i = this.begin(row); i < this.begin(row + 1); i++)
			if (x >= this.x[i] && x < this.x[i] + this.width[i])
				return i;
		return -1;
	}
}

export class FlameView {
	readonly element: HTMLElement;
	private canvas = h<HTMLCanvasElement>("canvas");
	private room = h("div.flameroom", {}, this.canvas);
	private stage: HTMLElement;
	private tip = h("div.tip", { role: "status", hidden: true });
	private legend = h("ul.legend");
	private said = h("span.hint");
	private layout: Layout | null = null;
	private frames: Frames;
	private tree: Tree | null = null;
	private zoomed = 0;
	private selected = 0;
	// A box of the layout; -1: none.
	private hovered = -1;
	private hits: Uint8Array | null = null;
	// What the legend, and the number of what was found, are of.
	private counted: Tree | null = null;
	private searched: string | null = null;
	private zoomedRow = 0;
	private ring = "";
	private hit = "";
	// Of characters.
	private widths = new Map<string, number>();

	constructor(private app: App) {
		this.stage = h("div.stage", { tabindex: 0, role: "application",
			"aria-label": "Flame graph. Arrow keys move, Enter zooms in, Backspace zooms out, slash searches.",
			onscroll: () => this.frames.restart(), onkeydown: (event: KeyboardEvent) => this.key(event) }, this.room);
		this.frames = new Frames(this.stage, () => this.draw());
		this.canvas.addEventListener("click", (event) => this.click(event));
		this.canvas.addEventListener("pointermove", (event) => this.hover(this.boxAt(event), event));
		this.canvas.addEventListener("pointerleave", () => this.hover(-1, null));
		new ResizeObserver(() => this.frames.restart()).observe(this.stage);
		onTheme(() => this.frames.restart());
		this.element = h("section.panel.flame", { "aria-label": "Flame graph" },
			h("h2", {}, "Flame graph", this.said, this.legend), this.stage, this.tip);
	}

	update() {
		const { app } = this, tree = app.tree();
		if (this.tree !== tree)
			this.selected = 0;
		this.tree = tree;
		const zoomed = tree.find(app.state.zoom);
		if (zoomed !== this.zoomed || this.selected === 0)
			this.selected = zoomed;
		this.zoomed = zoomed;
		if (this.counted !== tree) {
			this.showLegend();
			this.searched = null;
		}
		this.counted = tree;
		if (this.searched !== app.state.search) {
			this.searched = app.state.search;
			this.hits = app.found();
			this.countFound();
		}
		this.frames.restart();
	}

	// Each sample once: below a box that is found no other counts.
	private countFound() {
		const tree = this.tree!, hits = this.hits;
		if (!hits) {
			this.said.textContent = "";
			return;
		}
		const inside = new Uint8Array(tree.length);
		let weight = 0, boxes = 0;
		for (let i = 1; i < tree.length; i++) {
			const isHit = tree.fn[i] < hits.length && hits[tree.fn[i]] === 1;
			inside[i] = isHit || inside[tree.parent[i]] ? 1 : 0;
			boxes += isHit && tree.total[i] ? 1 : 0;
			if (isHit && !inside[tree.parent[i]])
				weight += tree.total[i];
		}
		this.said.textContent = boxes ? `found: ${percent(this.app.share(weight))} in ${count(boxes)} boxes` : "nothing found";
	}

	private showLegend() {
		const tree = this.tree!, p = this.app.profile;
		const own = new Map<number, number>();
		for (let i = 1; i < tree.length; i++)
			if (tree.fn[i] < p.functionCount && tree.own[i])
				own.set(p.functionKind[tree.fn[i]], (own.get(p.functionKind[tree.fn[i]]) ?? 0) + tree.own[i]);
		this.legend.replaceChildren(...[...own].sort((a, b) => b[1] - a[1]).map(([kind, weight]) => {
			const mark = h("i.swatch", { "aria-hidden": "true" });
			mark.style.background = kindColour(kind);
			return h("li", {}, mark, `${KINDS[kind].word} ${percent(this.app.share(weight))}`);
		}));
	}

	// --- Drawing ---------------------------------------------------------------------------

	private depth(node: number): number {
		let depth = 0;
		for (let at = node; at > 0; at = this.tree!.parent[at])
			depth++;
		return depth;
	}

	private newLayout(width: number): Layout {
		this.hovered = -1;
		this.tip.hidden = true;
		return this.layout = new Layout(this.tree!, this.zoomed, width);
	}

	// The rows that are seen, each as soon as its boxes are known; then where all others are.
	private *draw(): Generator<void> {
		const width = this.stage.clientWidth, height = this.stage.clientHeight;
		if (!this.tree || !width)
			return;
		let layout = this.layout;
		if (!layout || layout.tree !== this.tree || layout.zoomed !== this.zoomed || layout.room !== width)
			layout = this.newLayout(width);
		const context = this.context(width, height);
		this.ring = variable("--focus");
		this.hit = variable("--hit");
		this.zoomedRow = this.depth(this.zoomed);
		const first = Math.floor(this.stage.scrollTop / HEIGHT), last = first + Math.ceil(height / HEIGHT) + 1;
		for (let row = first; row <= last; row++) {
			for (; !layout.has(row); yield)
				layout.step();
			context.clearRect(0, row * HEIGHT - this.stage.scrollTop, width, HEIGHT);
			for (let at = layout.begin(row); at < layout.begin(row + 1); at++) {
				if (at % STEP_BOXES === 0)
					yield;
				this.drawBox(context, at);
			}
			yield;
		}
		for (; !layout.isDone; yield)
			layout.step();
		this.room.style.height = `${Math.max(height, layout.rowCount * HEIGHT + 4)}px`;
	}

	// As large as the stage. What is on it stays until it is drawn over.
	private context(width: number, height: number): CanvasRenderingContext2D {
		const isFit = this.canvas.style.width === `${width}px` && this.canvas.style.height === `${height}px` &&
			this.canvas.width === Math.round(width * devicePixelRatio);
		const context = isFit ? this.canvas.getContext("2d")! : fitCanvas(this.canvas, width, height);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		return context;
	}

	private isHit(at: number): boolean {
		const { layout, hits } = this, fn = this.tree!.fn[layout!.node[at]];
		return !layout!.more[at] && !!hits && fn >= 0 && fn < hits.length && hits[fn] === 1;
	}

	private drawBox(context: CanvasRenderingContext2D, at: number) {
		const { app } = this, tree = this.tree!, layout = this.layout!, node = layout.node[at], more = layout.more[at];
		const fn = more ? -1 : tree.fn[node], x = layout.x[at], width = layout.width[at];
		const y = layout.row[at] * HEIGHT - this.stage.scrollTop;
		const isHit = this.isHit(at), isFaint = !!this.hits && !isHit;
		const wide = width > 2 ? width - 1 : width, tall = HEIGHT - 1;
		// Callers of the zoomed box come before it.
		context.globalAlpha = isFaint ? 0.35 : at < layout.begin(this.zoomedRow) ? 0.6 : 1;
		context.fillStyle = functionColour(app.profile, fn);
		context.fillRect(x, y, wide, tall);
		const kind = fn >= 0 && fn < app.profile.functionCount ? app.profile.functionKind[fn] : -1;
		if (kind >= 0 && KINDS[kind].striped && wide > 3)
			this.drawStripes(context, x, y, wide, tall);
		context.globalAlpha = 1;
		if (width > 24) {
			context.fillStyle = fn < 0 && isDark() ? "#e6edf3" : isFaint && isDark() ? "#c9d1d9" : "#14181d";
			context.globalAlpha = fn < 0 ? 0.75 : 1;
			context.fillText(this.fit(context, this.label(at), width - 9), x + 5, y + HEIGHT / 2);
			context.globalAlpha = 1;
		}
		const isSelected = !more && node === this.selected && node > 0;
		if (isHit || isSelected || at === this.hovered) {
			context.strokeStyle = isSelected ? this.ring : isHit ? this.hit : isDark() ? "#ffffff99" : "#00000077";
			context.lineWidth = isSelected || isHit ? 2 : 1;
			context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 0.5), tall - 2);
		}
	}

	private drawAgain(at: number) {
		const layout = this.layout!;
		if (at < 0)
			return;
		const context = this.context(this.stage.clientWidth, this.stage.clientHeight);
		context.clearRect(layout.x[at], layout.row[at] * HEIGHT - this.stage.scrollTop, layout.width[at], HEIGHT);
		this.drawBox(context, at);
	}

	private drawStripes(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number) {
		context.save();
		context.beginPath();
		context.rect(x, y, width, height);
		context.clip();
		context.strokeStyle = "rgba(0, 0, 0, 0.22)";
		context.lineWidth = 1;
		context.beginPath();
		for (let at = Math.max(0, x) - height; at < x + width; at += 7) {
			context.moveTo(at, y + height);
			context.lineTo(at + height, y);
		}
		context.stroke();
		context.restore();
	}

	private label(at: number): string {
		const { tree, layout } = this, node = layout!.node[at];
		if (layout!.more[at])
			return `${count(layout!.more[at])} more`;
		const place = layout!.width[at] > 260 ? tree!.place(node) : "";
		return place ? `${tree!.name(node)}   ${place}` : tree!.name(node);
	}

	// Of one character; kerning moves it by less than what is left free.
	private wide(context: CanvasRenderingContext2D, character: string): number {
		let width = this.widths.get(character);
		if (width === undefined)
			this.widths.set(character, width = context.measureText(character).width);
		return width;
	}

	private fit(context: CanvasRenderingContext2D, text: string, width: number): string {
		const characters = [...text.slice(0, 200)], rest = this.wide(context, "…");
		let used = 0, fitting = 0;
		for (const character of characters) {
			used += this.wide(context, character);
			if (used > width)
				return fitting > 1 ? characters.slice(0, fitting).join("") + "…" : "";
			fitting += used + rest <= width ? 1 : 0;
		}
		return characters.join("");
	}

	// --- Pointer and keys -------------------------------------------------------------------

	private boxAt(event: MouseEvent): number {
		const frame = this.canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - frame.top + this.stage.scrollTop) / HEIGHT);
		return this.layout && this.layout.tree === this.tree ? this.layout.at(row, event.clientX - frame.left) : -1;
	}

	private hover(at: number, event: PointerEvent | null) {
		const was = this.hovered;
		this.hovered = at;
		if (at !== was) {
			this.drawAgain(was);
			this.drawAgain(at);
		}
		this.tip.hidden = at < 0;
		if (at < 0 || !event)
			return;
		this.tip.replaceChildren(...this.describe(at));
		const frame = this.element.getBoundingClientRect();
		const x = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 8);
		const below = event.clientY - frame.top + 18;
		const y = below + this.tip.offsetHeight > frame.height ? below - this.tip.offsetHeight - 30 : below;
		this.tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
	}

	private describe(at: number): HTMLElement[] {
		const { app } = this, tree = this.tree!, node = this.layout!.node[at], more = this.layout!.more[at];
		if (more)
			return [h("b", {}, `${count(more)} more boxes`), h("p", {}, "Too narrow to be drawn: zoom into the box above.")];
		const weights = `total ${percent(app.share(tree.total[node])) || "0%"} (${amount(tree.total[node], app.unit())})` +
			`, own ${percent(app.share(tree.own[node])) || "0%"}`;
		return [h("b", {}, tree.name(node)), h("p", {}, tree.place(node)), h("p", {}, weights)]
			.filter((part) => part.textContent);
	}

	private click(event: MouseEvent) {
		const at = this.boxAt(event);
		if (at < 0)
			return;
		this.stage.focus({ preventScroll: true });
		this.zoom(this.layout!.node[at]);
	}

	private zoom(node: number) {
		const fn = this.tree!.fn[node];
		this.selected = node;
		this.app.set({ zoom: this.tree!.path(node), fn: fn < this.app.profile.functionCount ? fn : -1 });
	}

	private select(node: number) {
		const fn = this.tree!.fn[node], top = this.depth(node) * HEIGHT;
		this.selected = node;
		if (top < this.stage.scrollTop)
			this.stage.scrollTop = top;
		else if (top + HEIGHT > this.stage.scrollTop + this.stage.clientHeight)
			this.stage.scrollTop = top + HEIGHT - this.stage.clientHeight;
		this.app.set({ fn: fn < this.app.profile.functionCount ? fn : -1 }, true);
		this.frames.restart();
	}

	private sibling(step: number) {
		const tree = this.tree!, parent = tree.parent[this.selected];
		if (parent < 0)
			return;
		const siblings = tree.children(parent), next = siblings[siblings.indexOf(this.selected) + step];
		if (next !== undefined)
			this.select(next);
	}

	// The next box that is found, row by row.
	private step(direction: number) {
		const { layout } = this, list: number[] = [];
		if (!layout || layout.tree !== this.tree)
			return;
		while (!layout.isDone)
			layout.step();
		for (let at = 0; at < layout.length; at++)
			if (this.isHit(at))
				list.push(layout.node[at]);
		if (!list.length)
			return;
		const at = list.indexOf(this.selected);
		this.select(list[(at + direction + list.length + (at < 0 && direction < 0 ? 1 : 0)) % list.length]);
	}

	private key(event: KeyboardEvent) {
		const tree = this.tree!, at = this.selected;
		const keys: Record<string, () => void> = {
			ArrowDown: () => tree.children(at).length && this.select(tree.children(at)[0]),
			ArrowUp: () => tree.parent[at] >= 0 && this.select(tree.parent[at]),
			ArrowLeft: () => this.sibling(-1),
			ArrowRight: () => this.sibling(1),
			Enter: () => this.zoom(at),
			Backspace: () => this.zoomed > 0 && this.zoom(tree.parent[this.zoomed]),
			n: () => this.step(1),
			N: () => this.step(-1),
			o: () => at > 0 && tree.fn[at] < this.app.profile.functionCount && this.app.set({ focus: tree.fn[at], zoom: [] }),
		};
		if (event.key === "Escape" && this.zoomed > 0)
			this.zoom(0);
		else if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys))
			return;
		else
			keys[event.key]();
		event.preventDefault();
		event.stopPropagation();
	}

	focus() { this.stage.focus({ preventScroll: true }); }
}
