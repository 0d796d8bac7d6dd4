// SPDX-License-Identifier: GPL-2.0-only
// The flame graph: a box is a function below its caller, as wide as what it weighs; the heaviest first. Or it is the time of
// one thread: as wide as it took, from left to right.
import type { App } from "./app";
import { changeText, changeWords } from "./changes";
import { drawAxis } from "./axis";
import { changeColour, functionColour, inStripes, isDark, KINDS, onTheme, textColour, variable } from "./colours";
import { threadWeights, timeColumns, type Tree } from "./compute";
import { amount, count, duration, fitCanvas, Frames, h, hasModifier, percent, Tip } from "./dom";
import { STEP_BOXES, TimeLayout, WeightLayout, type Layout } from "./layout";

// Of the graph by time.
const MAX_COLUMNS = 2000;
const HEIGHT = matchMedia("(pointer: coarse)").matches ? 28 : 21;

export class FlameView {
	readonly element: HTMLElement;
	private canvas = h<HTMLCanvasElement>("canvas");
	private room = h("div.flameroom", {}, this.canvas);
	private stage: HTMLElement;
	private tip = new Tip();
	private legend = h("ul.legend");
	private said = h("span.hint");
	// Whose boxes are marked, and the way back.
	private marked = h<HTMLButtonElement>("button.toggle", { type: "button", id: "marked", title: "Mark nothing (Esc)",
		onclick: () => this.app.set({ mark: -1 }) });
	private byTime = h<HTMLButtonElement>("button.toggle", { type: "button", id: "bytime",
		title: "One thread, from left to right in order of time (b)",
		onclick: () => this.app.set({ byTime: !this.app.state.byTime }) }, "By time");
	private whose = h("span.hint");
	// By time.
	private axis = h<HTMLCanvasElement>("canvas.axis", { "aria-hidden": "true" });
	// Why there is no box.
	private why = h("p.note.none", { hidden: true, role: "status" });
	private layout: Layout | null = null;
	private frames: Frames;
	private tree: Tree | null = null;
	private zoomed = 0;
	private selected = 0;
	// By time: the box of the layout that is selected; -1: none.
	private chosen = -1;
	// A box of the layout; -1: none.
	private hovered = -1;
	private hits: Uint8Array | null = null;
	// What the legend, and the number of what was found, are of.
	private counted: unknown[] = [];
	private searched: string | null = null;
	// A row that is yet to be brought into view; -1: none.
	private sought = -1;
	private zoomedRow = 0;
	private back = "";
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
			h("h2", {}, "Flame graph", this.byTime, this.whose, this.marked, this.said, this.legend), this.axis, this.why, this.stage, this.tip.element);
	}

	// The thread whose time is shown: the one that is selected, else the heaviest.
	private thread(): number {
		const { event, thread } = this.app.state;
		return thread >= 0 ? thread : threadWeights(this.app.profile, event)[0][0];
	}

	update() {
		const { app } = this, tree = app.tree(), { byTime, thread } = app.state;
		this.byTime.setAttribute("aria-pressed", String(byTime));
		this.whose.textContent = !byTime ? "" : `thread ${app.profile.threadTitle(this.thread())}` +
			(thread < 0 && app.profile.threadCount() > 1 ? ": the timeline has the others" : "");
		if (this.tree !== tree)
			this.selected = 0;
		this.tree = tree;
		const zoomed = tree.find(app.state.zoom);
		if (zoomed !== this.zoomed || this.selected === 0)
			this.selected = zoomed;
		this.zoomed = zoomed;
		this.axis.hidden = !byTime;
		this.why.textContent = app.whyNoSamples();
		this.why.hidden = !this.why.textContent;
		const of = [tree, byTime && this.thread()];
		if (of.some((one, i) => one !== this.counted[i])) {
			this.showLegend();
			this.searched = null;
		}
		this.counted = of;
		const searched = `${app.state.mark} ${app.state.search}`;
		if (this.searched !== searched) {
			this.searched = searched;
			this.hits = app.markedFunctions();
			this.countFound();
			this.showMarked();
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
			boxes += isHit && tree.size[i] ? 1 : 0;
			if (isHit && !inside[tree.parent[i]])
				weight += tree.total[i];
		}
		this.said.textContent = boxes ?
			`found: ${percent(this.app.share(weight)) || "0%"} in ${count(boxes)} ${boxes === 1 ? "box" : "boxes"}` : "nothing found";
	}

	// The heaviest box of the function whose boxes are marked is selected, and in view.
	private showMarked() {
		const { mark } = this.app.state, tree = this.tree!;
		this.marked.hidden = mark < 0;
		if (mark < 0)
			return;
		this.marked.replaceChildren(this.app.profile.functionName(mark), h("span.cross", { "aria-hidden": "true" }, " ×"));
		let best = 0;
		for (let node = 1; node < tree.length; node++)
			if (this.hits![tree.fn[node]] === 1 && tree.size[node] > (best ? tree.size[best] : 0))
				best = node;
		if (best)
			this.selected = best;
		this.sought = best ? this.depth(best) : -1;
	}

	// From much less to much more.
	private showScale() {
		const steps = [[1, 0], [3, 2], [1, 1], [2, 3], [0, 1]].map(([before, after]) => {
			const mark = h("i.swatch", { "aria-hidden": "true" });
			mark.style.background = changeColour({ before, after });
			return mark;
		});
		this.legend.replaceChildren(h("li", {}, "less ", ...steps, `more since ${this.app.profile.comparison!.path}`),
			h("li", {}, "as wide as the mean of both"));
	}

	private showLegend() {
		const tree = this.tree!, p = this.app.profile;
		if (tree.was) {
			this.showScale();
			return;
		}
		// Of kinds that have a box: own time, and the colours of their boxes.
		const own = new Map<number, number>(), colours = new Map<number, Set<string>>();
		const [owns, sizes] = this.app.state.byTime ? tree.ofThread(this.thread()) : [tree.own, tree.size];
		for (let i = 1; i < tree.length; i++) {
			const fn = tree.fn[i];
			if (fn >= p.functionCount || !sizes[i])
				continue;
			const kind = p.functionKind[fn];
			own.set(kind, (own.get(kind) ?? 0) + owns[i]);
			colours.set(kind, (colours.get(kind) ?? new Set()).add(functionColour(p, fn)));
		}
		this.legend.replaceChildren(...[...own].sort((a, b) => b[1] - a[1]).map(([kind, weight]) => {
			const mark = h("i.swatch", { "aria-hidden": "true" });
			mark.style.background = inStripes([...colours.get(kind)!]);
			return h("li", {}, mark, `${KINDS[kind].word} ${percent(sizes[0] ? weight / sizes[0] : 0)}`);
		}));
	}

	// --- Drawing ---------------------------------------------------------------------------

	private depth(node: number): number {
		let depth = 0;
		for (let at = node; at > 0; at = this.tree!.parent[at])
			depth++;
		return depth;
	}

	private isShown(layout: Layout, room: number): boolean {
		return layout.tree === this.tree && layout.room === room && (this.app.state.byTime ? layout instanceof TimeLayout :
			layout instanceof WeightLayout && layout.zoomed === this.zoomed);
	}

	private *newLayout(room: number): Generator<void, Layout> {
		const tree = this.tree!, columns = Math.min(MAX_COLUMNS, Math.floor(room));
		const layout = this.app.state.byTime ? new TimeLayout(tree, room, yield* timeColumns(tree, this.thread(), columns)) :
			new WeightLayout(tree, room, this.zoomed);
		this.hovered = this.chosen = -1;
		this.tip.hide();
		return this.layout = layout;
	}

	// The rows that are seen, each as soon as its boxes are known; then where all others are.
	private *draw(): Generator<void> {
		const width = this.stage.clientWidth, height = this.stage.clientHeight;
		if (!this.tree || !width)
			return;
		let layout = this.layout;
		if (!layout || !this.isShown(layout, width))
			layout = yield* this.newLayout(width);
		const context = this.context(width, height);
		this.back = variable("--back");
		if (layout instanceof TimeLayout)
			drawAxis(this.axis, width, ...this.app.selection().range);
		this.ring = variable("--focus");
		this.hit = variable("--hit");
		this.zoomedRow = layout instanceof WeightLayout ? this.depth(layout.zoomed) : 0;
		const first = Math.floor(this.stage.scrollTop / HEIGHT), last = first + Math.ceil(height / HEIGHT) + 1;
		for (let row = first; row <= last; row++) {
			for (; !layout.has(row); yield)
				layout.step();
			context.clearRect(0, row * HEIGHT - this.stage.scrollTop, width, HEIGHT);
			for (let at = layout.begin(row); at < layout.begin(row + 1) && this.why.hidden; at++) {
				if (at % STEP_BOXES === 0)
					yield;
				this.drawBox(context, at);
			}
			yield;
		}
		for (; !layout.isDone; yield)
			layout.step();
		this.room.style.height = `${Math.max(height, layout.rowCount * HEIGHT + 4)}px`;
		if (this.sought >= 0 && layout instanceof WeightLayout)
			this.reveal(this.sought);
		this.sought = -1;
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
		const alpha = isFaint ? 0.35 : at < layout.begin(this.zoomedRow) ? 0.6 : 1;
		const colour = tree.was && !more ? changeColour(tree.change(node)) : functionColour(app.profile, fn);
		context.globalAlpha = alpha;
		context.fillStyle = colour;
		context.fillRect(x, y, wide, tall);
		const kind = fn >= 0 && fn < app.profile.functionCount ? app.profile.functionKind[fn] : -1;
		if (!tree.was && kind >= 0 && KINDS[kind].striped && wide > 3)
			this.drawStripes(context, x, y, wide, tall);
		context.globalAlpha = 1;
		if (width > 24) {
			context.fillStyle = textColour(colour, alpha, this.back);
			context.fillText(this.label(context, at, width - 9), x + 5, y + HEIGHT / 2);
		}
		const isSelected = layout instanceof TimeLayout ? at === this.chosen : !more && node === this.selected && node > 0;
		if (isHit || isSelected || at === this.hovered) {
			context.strokeStyle = isSelected ? this.ring : isHit ? this.hit : isDark() ? "#ffffff99" : "#00000077";
			context.lineWidth = isSelected || isHit ? 2 : 1;
			context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 0.5), tall - 2);
		}
	}

	private drawAgain(at: number) {
		const { layout } = this;
		// What is drawn is of a tree that is gone: it will be drawn anew.
		if (at < 0 || !layout || layout.tree !== this.tree)
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

	// What of the name has room, and behind it the end of where it is.
	private label(context: CanvasRenderingContext2D, at: number, room: number): string {
		const { tree, layout } = this, node = layout!.node[at];
		if (layout!.more[at])
			return this.fit(context, `${count(layout!.more[at])} more`, room);
		const place = layout!.width[at] > 260 ? tree!.place(node) : "";
		const name = tree!.was && layout!.width[at] > 120 ? `${tree!.name(node)}   ${this.changeText(node)}` : tree!.name(node);
		const fitting = this.fit(context, name, room);
		const rest = place && fitting === name ? this.fit(context, place, room - this.widthOf(context, `${name}   `), true) : "";
		return rest ? `${fitting}   ${rest}` : fitting;
	}

	private widthOf(context: CanvasRenderingContext2D, text: string): number {
		return [...text].reduce((sum, character) => sum + this.wide(context, character), 0);
	}

	private changeText(node: number): string {
		const c = this.tree!.comparison!;
		return c.unit ? `${changeText(c, this.tree!.change(node))} ${c.unit}` : changeText(c, this.tree!.change(node));
	}

	// Of one character; kerning moves it by less than what is left free.
	private wide(context: CanvasRenderingContext2D, character: string): number {
		let width = this.widths.get(character);
		if (width === undefined)
			this.widths.set(character, width = context.measureText(character).width);
		return width;
	}

	// isEnd: the beginning is cut.
	private fit(context: CanvasRenderingContext2D, text: string, width: number, isEnd = false): string {
		const all = [...text], characters = isEnd ? all.slice(-200).reverse() : all.slice(0, 200), rest = this.wide(context, "…");
		const join = (some: string[]) => (isEnd ? some.reverse() : some).join("");
		if (width < rest)
			return "";
		let used = 0, fitting = 0;
		for (const character of characters) {
			used += this.wide(context, character);
			if (used > width)
				return fitting < 2 ? "" : isEnd ? `…${join(characters.slice(0, fitting))}` : `${join(characters.slice(0, fitting))}…`;
			fitting += used + rest <= width ? 1 : 0;
		}
		return join(characters);
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
		if (at < 0 || !event)
			this.tip.hide();
		else
			this.tip.show(event.clientX, event.clientY, this.element, this.describe(at));
	}

	private describe(at: number): HTMLElement[] {
		const { app } = this, tree = this.tree!, node = this.layout!.node[at], more = this.layout!.more[at];
		if (more)
			return [h("b", {}, `${count(more)} more boxes`), h("p", {}, "Too narrow to be drawn: zoom into the box above.")];
		if (this.layout instanceof TimeLayout) {
			const [from, to] = this.timeOf(at);
			const when = `${duration(from)} – ${duration(to)}: ${duration(to - from)}`;
			return [h("b", {}, tree.name(node)), h("p", {}, tree.place(node)), h("p", {}, when)];
		}
		const weights = `total ${percent(app.share(tree.total[node])) || "0%"} (${amount(tree.total[node], app.unit())})` +
			`, own ${percent(app.share(tree.own[node])) || "0%"}`;
		return [h("b", {}, tree.name(node)), h("p", {}, tree.place(node)), h("p", {}, weights), h("p", {}, this.changeOf(node))];
	}

	// "total -80.0 ms: 205.0 ms before, 125.0 ms after"
	private changeOf(node: number): string {
		const tree = this.tree!;
		return tree.was ? `total ${this.changeText(node)}: ${changeWords(tree.comparison!, tree.change(node))}` : "";
	}

	private click(event: MouseEvent) {
		const at = this.boxAt(event);
		if (at < 0)
			return;
		this.stage.focus({ preventScroll: true });
		if (this.layout instanceof TimeLayout)
			this.zoomTime(at);
		else
			this.zoom(this.layout!.node[at]);
	}

	// --- By time: boxes, not nodes, are selected ---------------------------------------------

	// When the box begins and ends, in ns since the first sample.
	private timeOf(at: number): [number, number] {
		const layout = this.layout!, [from, to] = this.app.selection().range, scale = (to - from) / layout.room;
		return [from + layout.x[at] * scale, from + (layout.x[at] + layout.width[at]) * scale];
	}

	private functionAt(at: number): number { return this.tree!.functionOf(this.layout!.node[at]); }

	private zoomTime(at: number) {
		const [from, to] = this.timeOf(at);
		if (this.layout!.row[at])
			this.app.setRange(from, to, { fn: this.functionAt(at) });
		else
			this.app.set({ range: null });
	}

	private choose(at: number) {
		if (at < 0)
			return;
		this.chosen = at;
		this.reveal(this.layout!.row[at]);
		this.app.set({ fn: this.functionAt(at) }, true);
	}

	private timeKey(key: string): boolean {
		const layout = this.layout!, at = Math.max(0, this.chosen), row = layout.row[at], x = layout.x[at];
		const beside = (to: number) => this.choose(layout.row[to] === row && to < layout.length ? to : -1);
		const keys: Record<string, () => void> = {
			ArrowDown: () => this.choose(this.below(at)),
			ArrowUp: () => row > 0 && this.choose(layout.at(row - 1, x)),
			ArrowLeft: () => at > 0 && beside(at - 1),
			ArrowRight: () => beside(at + 1),
			Enter: () => this.zoomTime(at),
			Backspace: () => this.app.state.range && this.app.set({ range: null }),
			n: () => this.step(1),
			N: () => this.step(-1),
			o: () => this.functionAt(at) >= 0 && this.app.set({ focus: this.functionAt(at), zoom: [] }),
		};
		if (key === "Escape" && this.app.state.range)
			keys.Backspace();
		else if (key in keys)
			keys[key]();
		else
			return false;
		return true;
	}

	// The first box below that one.
	private below(at: number): number {
		const layout = this.layout!, row = layout.row[at] + 1;
		for (let i = layout.begin(row); i < layout.begin(row + 1); i++)
			if (layout.x[i] >= layout.x[at] && layout.x[i] < layout.x[at] + layout.width[at])
				return i;
		return -1;
	}

	// --- By weight: nodes -------------------------------------------------------------------

	private zoom(node: number) {
		this.selected = node;
		this.app.set({ zoom: this.tree!.path(node), fn: this.tree!.functionOf(node) });
	}

	private reveal(row: number) {
		const top = row * HEIGHT;
		if (top < this.stage.scrollTop)
			this.stage.scrollTop = top;
		else if (top + HEIGHT > this.stage.scrollTop + this.stage.clientHeight)
			this.stage.scrollTop = top + HEIGHT - this.stage.clientHeight;
	}

	private select(node: number) {
		this.selected = node;
		this.reveal(this.depth(node));
		this.app.set({ fn: this.tree!.functionOf(node) }, true);
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
				list.push(layout instanceof TimeLayout ? at : layout.node[at]);
		if (!list.length)
			return;
		const at = list.indexOf(layout instanceof TimeLayout ? this.chosen : this.selected);
		const next = list[(at + direction + list.length + (at < 0 && direction < 0 ? 1 : 0)) % list.length];
		if (layout instanceof TimeLayout)
			this.choose(next);
		else
			this.select(next);
	}

	private key(event: KeyboardEvent) {
		const { byTime } = this.app.state;
		if (hasModifier(event) || !(byTime ? this.canUseBoxes() && this.timeKey(event.key) : this.nodeKey(event.key)))
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	// They are of the tree that is shown, by time.
	private canUseBoxes(): boolean { return this.layout instanceof TimeLayout && this.layout.tree === this.tree; }

	// True: the key was taken.
	private nodeKey(key: string): boolean {
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
			o: () => tree.functionOf(at) >= 0 && this.app.set({ focus: tree.functionOf(at), zoom: [] }),
		};
		if (key === "Escape" && this.zoomed > 0)
			this.zoom(0);
		else if (key in keys)
			keys[key]();
		else
			return false;
		return true;
	}

	focus() { this.stage.focus({ preventScroll: true }); }
}
