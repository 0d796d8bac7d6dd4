// SPDX-License-Identifier: GPL-2.0-only
// The flame graph: a box is a function below its caller, as wide as what it weighs; the heaviest first.
import type { App } from "./app";
import { functionColour, isDark, kindColour, KINDS, onTheme, variable } from "./colours";
import type { Tree } from "./compute";
import { amount, count, fitCanvas, h, percent } from "./dom";

const MIN_WIDTH = 0.6, HEIGHT = matchMedia("(pointer: coarse)").matches ? 28 : 21;

interface Box {
	node: number;
	x: number;
	width: number;
	row: number;
	// Siblings that are too narrow, this one and those behind it; 0: it is one box.
	more: number;
}

export class FlameView {
	readonly element: HTMLElement;
	private canvas = h<HTMLCanvasElement>("canvas");
	private room = h("div.flameroom", {}, this.canvas);
	private stage: HTMLElement;
	private tip = h("div.tip", { role: "status", hidden: true });
	private legend = h("ul.legend");
	private said = h("span.hint");
	private boxes: Box[] = [];
	private tree: Tree | null = null;
	private zoomed = 0;
	private selected = 0;
	private hovered: Box | null = null;
	private hits: Uint8Array | null = null;
	private due = false;
	// What the legend, and the number of what was found, are of.
	private counted: Tree | null = null;
	private searched: string | null = null;
	private drawnRow = new Map<number, Box[]>();

	constructor(private app: App) {
		this.stage = h("div.stage", { tabindex: 0, role: "application",
			"aria-label": "Flame graph. Arrow keys move, Enter zooms in, Backspace zooms out, slash searches.",
			onscroll: () => this.later(), onkeydown: (event: KeyboardEvent) => this.key(event) }, this.room);
		this.canvas.addEventListener("click", (event) => this.click(event));
		this.canvas.addEventListener("pointermove", (event) => this.hover(this.boxAt(event), event));
		this.canvas.addEventListener("pointerleave", () => this.hover(null, null));
		new ResizeObserver(() => this.later()).observe(this.stage);
		onTheme(() => this.later());
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
		this.later();
	}

	// Each sample once: below a box that is found no other counts.
	private countFound() {
		const tree = this.tree!, hits = this.hits;
		if (!hits) {
			this.said.textContent = "";
			return;
		}
		const inside = new Uint8Array(tree.fn.length);
		let weight = 0, boxes = 0;
		for (let i = 1; i < tree.fn.length; i++) {
			const isHit = tree.fn[i] < hits.length && hits[tree.fn[i]] === 1;
			inside[i] = isHit || inside[tree.parent[i]] ? 1 : 0;
			boxes += isHit ? 1 : 0;
			if (isHit && !inside[tree.parent[i]])
				weight += tree.total[i];
		}
		this.said.textContent = boxes ? `found: ${percent(this.app.share(weight))} in ${count(boxes)} boxes` : "nothing found";
	}

	private showLegend() {
		const tree = this.tree!, p = this.app.profile;
		const own = new Map<number, number>();
		for (let i = 1; i < tree.fn.length; i++)
			if (tree.fn[i] < p.functionCount && tree.own[i])
				own.set(p.functionKind[tree.fn[i]], (own.get(p.functionKind[tree.fn[i]]) ?? 0) + tree.own[i]);
		this.legend.replaceChildren(...[...own].sort((a, b) => b[1] - a[1]).map(([kind, weight]) => {
			const mark = h("i.swatch", { "aria-hidden": "true" });
			mark.style.background = kindColour(kind);
			return h("li", {}, mark, `${KINDS[kind].word} ${percent(this.app.share(weight))}`);
		}));
	}

	// --- Drawing ---------------------------------------------------------------------------

	private later() {
		if (!this.due)
			requestAnimationFrame(() => this.draw());
		this.due = true;
	}

	private depth(node: number): number {
		let depth = 0;
		for (let at = node; at > 0; at = this.tree!.parent[at])
			depth++;
		return depth;
	}

	// The boxes of the zoomed part, and above it its callers, as wide as everything.
	private place(width: number): Box[] {
		const tree = this.tree!, list: Box[] = [], zoomed = this.zoomed;
		const scale = width / (tree.total[zoomed] || 1), depth = this.depth(zoomed);
		for (let node = zoomed, row = depth; node >= 0; node = tree.parent[node], row--)
			list.push({ node, x: 0, width, row, more: 0 });
		const stack: Box[] = [list[0]];
		while (stack.length) {
			const box = stack.pop()!, children = tree.children(box.node);
			let x = box.x;
			for (let i = 0; i < children.length; i++) {
				const wide = tree.total[children[i]] * scale;
				const child = { node: children[i], x, width: wide, row: box.row + 1, more: 0 };
				if (wide < MIN_WIDTH) {
					let rest = 0;
					for (let j = i; j < children.length; j++)
						rest += tree.total[children[j]] * scale;
					if (rest >= MIN_WIDTH)
						list.push({ ...child, width: rest, more: children.length - i });
					break;
				}
				list.push(child);
				stack.push(child);
				x += wide;
			}
		}
		return list;
	}

	private draw() {
		this.due = false;
		if (!this.tree || !this.stage.clientWidth)
			return;
		const width = this.stage.clientWidth, height = this.stage.clientHeight;
		this.boxes = this.place(width);
		this.drawnRow.clear();
		let rows = 1;
		for (const box of this.boxes) {
			rows = Math.max(rows, box.row + 1);
			const row = this.drawnRow.get(box.row);
			if (row)
				row.push(box);
			else
				this.drawnRow.set(box.row, [box]);
		}
		this.room.style.height = `${Math.max(height, rows * HEIGHT + 4)}px`;
		const context = fitCanvas(this.canvas, width, height);
		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		const first = Math.floor(this.stage.scrollTop / HEIGHT), last = first + Math.ceil(height / HEIGHT) + 1;
		const ring = variable("--focus"), hit = variable("--hit"), depth = this.depth(this.zoomed);
		for (let row = first; row <= last; row++)
			for (const box of this.drawnRow.get(row) ?? [])
				this.drawBox(context, box, row * HEIGHT - this.stage.scrollTop, row < depth, ring, hit);
	}

	private isHit(box: Box): boolean {
		const fn = this.tree!.fn[box.node];
		return !box.more && !!this.hits && fn >= 0 && fn < this.hits.length && this.hits[fn] === 1;
	}

	private drawBox(context: CanvasRenderingContext2D, box: Box, y: number, isCaller: boolean, ring: string,
		hit: string) {
		const { app } = this, tree = this.tree!, fn = tree.fn[box.node];
		const isHit = this.isHit(box), isFaint = !!this.hits && !isHit;
		const wide = box.width > 2 ? box.width - 1 : box.width, tall = HEIGHT - 1;
		context.globalAlpha = isFaint ? 0.35 : isCaller ? 0.6 : 1;
		context.fillStyle = box.more ? functionColour(app.profile, -1) : functionColour(app.profile, fn);
		context.fillRect(box.x, y, wide, tall);
		const kind = fn >= 0 && fn < app.profile.functionCount ? app.profile.functionKind[fn] : -1;
		if (!box.more && kind >= 0 && KINDS[kind].striped && wide > 3)
			this.drawStripes(context, box.x, y, wide, tall);
		context.globalAlpha = 1;
		if (box.width > 24) {
			context.fillStyle = isFaint && isDark() ? "#c9d1d9" : "#14181d";
			if (box.more || fn < 0)
				context.globalAlpha = 0.75;
			if ((box.more || fn < 0) && isDark())
				context.fillStyle = "#e6edf3";
			context.fillText(this.fit(context, this.label(box), box.width - 9), box.x + 5, y + HEIGHT / 2);
			context.globalAlpha = 1;
		}
		const isSelected = !box.more && box.node === this.selected && box.node > 0;
		if (isHit || isSelected || box === this.hovered) {
			context.strokeStyle = isSelected ? ring : isHit ? hit : isDark() ? "#ffffff99" : "#00000077";
			context.lineWidth = isSelected || isHit ? 2 : 1;
			context.strokeRect(box.x + 1, y + 1, Math.max(wide - 2, 0.5), tall - 2);
		}
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

	private label(box: Box): string {
		if (box.more)
			return `${count(box.more)} more`;
		const place = this.tree!.place(box.node);
		return place && box.width > 260 ? `${this.tree!.name(box.node)}   ${place}` : this.tree!.name(box.node);
	}

	private fit(context: CanvasRenderingContext2D, text: string, width: number): string {
		if (text.length > 200)
			text = text.slice(0, 200);
		if (context.measureText(text).width <= width)
			return text;
		let low = 0, high = text.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (context.measureText(text.slice(0, middle) + "…").width <= width)
				low = middle;
			else
				high = middle - 1;
		}
		return low > 1 ? text.slice(0, low) + "…" : "";
	}

	// --- Pointer and keys -------------------------------------------------------------------

	private boxAt(event: MouseEvent): Box | null {
		const frame = this.canvas.getBoundingClientRect(), x = event.clientX - frame.left;
		const row = Math.floor((event.clientY - frame.top + this.stage.scrollTop) / HEIGHT);
		return (this.drawnRow.get(row) ?? []).find((box) => x >= box.x && x < box.x + box.width) ?? null;
	}

	private hover(box: Box | null, event: PointerEvent | null) {
		if (box !== this.hovered)
			this.later();
		this.hovered = box;
		this.tip.hidden = !box;
		if (!box || !event)
			return;
		this.tip.replaceChildren(...this.describe(box));
		const frame = this.element.getBoundingClientRect();
		const x = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 8);
		const below = event.clientY - frame.top + 18;
		const y = below + this.tip.offsetHeight > frame.height ? below - this.tip.offsetHeight - 30 : below;
		this.tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
	}

	private describe(box: Box): HTMLElement[] {
		const { app } = this, tree = this.tree!, node = box.node;
		if (box.more)
			return [h("b", {}, `${count(box.more)} more boxes`), h("p", {}, "Too narrow to be drawn: zoom into the box above.")];
		const weights = `total ${percent(app.share(tree.total[node])) || "0%"} (${amount(tree.total[node], app.unit())})` +
			`, own ${percent(app.share(tree.own[node])) || "0%"}`;
		return [h("b", {}, tree.name(node)), h("p", {}, tree.place(node)), h("p", {}, weights)]
			.filter((part) => part.textContent);
	}

	private click(event: MouseEvent) {
		const box = this.boxAt(event);
		if (!box)
			return;
		const node = box.more ? this.tree!.parent[box.node] : box.node;
		this.stage.focus({ preventScroll: true });
		this.zoom(node);
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
		this.later();
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
		const list = this.boxes.filter((box) => this.isHit(box)).sort((a, b) => a.row - b.row || a.x - b.x);
		if (!list.length)
			return;
		const at = list.findIndex((box) => box.node === this.selected);
		this.select(list[(at + direction + list.length + (at < 0 && direction < 0 ? 1 : 0)) % list.length].node);
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
