// SPDX-License-Identifier: GPL-2.0-only
// How busy each thread was over time. A range that is drawn here selects samples in all views.
import type { App } from "./app";
import { drawAxis } from "./axis";
import { isDark, kindColour, onTheme, variable } from "./colours";
import { threadWeights, type Lane } from "./compute";
import { EventKind, Kind, Unit } from "./data";
import { duration, fitCanvas, Frames, h, hasModifier, percent, period, Tip } from "./dom";
import { momentLines } from "./moment";
import { partOf, type Range } from "./state";

const MAX_BINS = 2000, SAMPLES_PER_BIN = 8, MARKS_MS = 60, STEP_SAMPLES = 32768, MAX_TRACKS = 200, MAX_SHAPES = 6, ONE_SCALE_MAX = 3;
const TRACK_HEIGHT = 24, LANE_HEIGHT = 11, LINE_PIXELS = 16;

interface Track {
	// -1: all together.
	thread: number;
	// null: the event that is shown.
	lane: Lane | null;
	name: string;
	canvas: HTMLCanvasElement;
	element: HTMLElement;
}

// Of each thread, and of all (-1): what each bin of time has.
type Shape = Map<number, Float64Array>;

// steps: what each bin has more than the one before it. The bins from first to last get as much.
function addToBins(steps: Float64Array, first: number, last: number, weight: number) {
	steps[first] += weight;
	steps[last + 1] -= weight;
}

// Each bin gets what it has of the span.
function addSpan(steps: Float64Array, begin: number, end: number, bin: number) {
	const most = steps.length - 2, first = Math.min(most, Math.floor(begin / bin)), last = Math.min(most, Math.floor(end / bin));
	if (first === last) {
		addToBins(steps, first, first, end - begin);
		return;
	}
	addToBins(steps, first, first, (first + 1) * bin - begin);
	if (last > first + 1)
		addToBins(steps, first + 1, last - 1, bin);
	addToBins(steps, last, last, end - last * bin);
}

export class Timeline {
	readonly element: HTMLElement;
	private tracks: Track[] = [];
	private list = h("div.tracks");
	private axis = h<HTMLCanvasElement>("canvas.axis", { "aria-hidden": "true" });
	private brush = h("div.brush", { hidden: true });
	private said = h("span.hint", { "aria-live": "polite" });
	private magnifier = h<HTMLButtonElement>("button.toggle", { type: "button", id: "magnify", title: "Draw the timeline of this range alone (z)",
		onclick: () => this.app.magnify() }, "Magnify");
	private back = h<HTMLButtonElement>("button.toggle", { type: "button", id: "unmagnify", title: "The timeline as it was before it was magnified (Z)",
		onclick: () => this.app.unmagnify(1) }, "Step back");
	private backToAll = h<HTMLButtonElement>("button.toggle", { type: "button", id: "unmagnify-all", title: "The timeline of all of time (Esc, if no range is selected)",
		onclick: () => this.app.unmagnify(Infinity) }, "All of time");
	private earlier = h<HTMLButtonElement>("button.toggle", { type: "button", id: "earlier", title: "Half of what is drawn earlier (,)",
		onclick: () => this.step(-1) }, "◂ Earlier");
	private later = h<HTMLButtonElement>("button.toggle", { type: "button", id: "later", title: "Half of what is drawn later (.)",
		onclick: () => this.step(1) }, "Later ▸");
	private part = h("span", { "aria-live": "polite" });
	private magnified = h("div.magnified", {}, this.magnifier, this.back, this.backToAll,
		this.earlier, this.later, this.part);
	private tip = new Tip();
	// The track that keys have chosen: the tip says what it has in the range.
	private told: Track | null = null;
	// The event and the lanes that the tracks are of.
	private made = "";
	private dragFrom: number | null = null;
	// What the wheel has turned, and no whole microsecond yet; in ns.
	private turned = 0;
	private frames: Frames;
	private timer = 0;
	// What was drawn at the last update.
	private time = "";
	// What the tracks show, to draw them only when it is another.
	private drawn = "";
	// Without marks, by event, bins and time.
	private base = new Map<string, Shape>();

	constructor(private app: App) {
		this.element = h("section.timeline", { tabindex: 0, role: "application",
			"aria-label": "Timeline. Arrow keys move the selected range, with Shift they make it longer or shorter, " +
				"up and down say what a track has in it, z magnifies it, Shift z takes a step back, comma and full stop go earlier and later, Escape selects all, then shows all.",
			onkeydown: (event: KeyboardEvent) => this.key(event) },
			h("div.axisrow", {}, h("span.label", {}, "Time", this.said), this.axis), this.list, this.brush, this.magnified, this.tip.element);
		this.frames = new Frames(this.element, () => this.draw());
		this.element.addEventListener("pointerdown", (event) => this.begin(event));
		this.element.addEventListener("pointermove", (event) => this.move(event));
		this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.element.addEventListener("pointerleave", () => this.tell(null));
		this.element.addEventListener("focusout", () => this.tell(null));
		this.list.addEventListener("focusin", (event) => this.stopAt((event.target as Element).closest("button.label") ?? undefined));
		this.element.addEventListener("pointerup", (event) => this.finish(event));
		this.element.addEventListener("pointercancel", () => this.dragFrom = null);
		this.element.addEventListener("dblclick", (event) => !this.isBeside(event) && this.app.set({ range: null }));
		new ResizeObserver(() => this.frames.restart()).observe(this.element);
		onTheme(() => this.frames.restart());
	}

	private makeTracks() {
		const weights = threadWeights(this.app.profile, this.app.state.event);
		const all = weights.reduce((sum, [, weight]) => sum + weight, 0), threads = weights.slice(0, MAX_TRACKS);
		if (threads.length > 1)
			threads.unshift([-1, all]);
		const lanes = this.lanes(), known = new Set(threads.map(([thread]) => thread));
		// Those that do nothing but wait.
		for (const thread of new Set(lanes.flatMap((lane) => [...lane.threads])))
			if (!known.has(thread) && threads.length < MAX_TRACKS)
				threads.push([thread, 0]);
		this.tracks = threads.flatMap(([thread, weight]) => [this.makeTrack(thread, weight, all),
			...lanes.filter((lane) => lane.threads.has(thread)).map((lane) => this.makeLane(thread, lane))]);
		this.told = null;
		this.list.replaceChildren(...this.tracks.map((track) => track.element));
		this.stopAt(this.labels()[0]);
	}

	// Threads, which are one stop of the Tab key: the arrow keys go from one to the next.
	private labels(): HTMLButtonElement[] { return [...this.list.querySelectorAll<HTMLButtonElement>("button.label")]; }

	private stopAt(label: Element | undefined) {
		for (const one of this.labels())
			one.tabIndex = one === label ? 0 : -1;
	}

	// Without the one that is the event itself.
	private lanes(): Lane[] {
		const { lanes, state } = this.app;
		return state.lanes ? lanes.filter((lane) => lane.isForGil || lane.event !== state.event) : [];
	}

	private makeLane(thread: number, lane: Lane): Track {
		const name = `${this.app.profile.threadTitle(thread)} ${lane.word}`, canvas = this.makeCanvas(name, lane.event);
		const label = h("span.label", { title: `${name}: ${this.app.profile.eventName(lane.event)}` }, lane.word);
		return { thread, lane, name, canvas, element: h("div.track.lane", {}, label, canvas) };
	}

	private makeCanvas(name: string, event: number): HTMLCanvasElement {
		return h<HTMLCanvasElement>("canvas", { role: "img", "aria-label": `${name}: ${this.app.profile.eventName(event)}` });
	}

	private makeTrack(thread: number, weight: number, all: number): Track {
		const p = this.app.profile, name = thread < 0 ? "all threads" : p.threadTitle(thread);
		const canvas = this.makeCanvas(name, this.app.state.event);
		const label = h("button.label", { type: "button", tabindex: -1, title: thread < 0 ? "All threads" :
			`${p.threadProcess(thread)} ${p.pid(thread)}, thread ${p.tid(thread)}: click to see only this one`,
			onclick: () => this.app.set({ thread: this.app.state.thread === thread ? -1 : thread }) },
			h("span.threadname", {}, thread < 0 ? name : p.threadName(thread)),
			h("span.threadnumber", {}, thread < 0 ? "" : p.threadNumber(thread)), h("span.dim", {}, percent(all ? weight / all : 0)));
		return { thread, lane: null, name, canvas, element: h("div.track", {}, label, canvas) };
	}

	update() {
		const made = `${this.app.state.event} ${this.app.state.lanes}`;
		if (this.made !== made) {
			this.makeTracks();
			this.drawn = "";
			this.frames.restart();
		}
		this.made = made;
		for (const track of this.tracks) {
			const { thread } = this.app.state;
			track.element.classList.toggle("off", thread >= 0 && track.thread !== thread);
			track.element.querySelector("button")?.setAttribute("aria-pressed", String(track.thread === thread));
		}
		const { range } = this.app.state, time = String(this.app.drawnTime()), isOther = this.time !== time;
		this.time = time;
		this.showBrush(range);
		this.showMagnified();
		this.tell(this.told);
		this.said.textContent = range ? period(...range) : duration(this.app.profile.span);
		clearTimeout(this.timer);
		if (isOther)
			this.frames.restart();
		else
			// A step in a view comes first: what it marks here may come a moment later.
			this.timer = setTimeout(() => this.frames.restart(), this.drawn ? MARKS_MS : 0);
	}

	private showMagnified() {
		const { app } = this, steps = app.state.magnified.length, focused = document.activeElement;
		this.magnified.hidden = !app.magnifiable() && !steps;
		// Those that can do nothing stay, so that none takes the place of one that is clicked twice.
		this.magnifier.disabled = !app.magnifiable();
		const [from, to] = app.drawnTime();
		this.back.disabled = this.backToAll.disabled = !steps;
		this.earlier.disabled = from <= 0;
		this.later.disabled = to >= app.profile.span;
		this.part.textContent = steps ? `${period(from, to, "to")} of ${duration(app.profile.span)}` : "";
		if (focused instanceof HTMLButtonElement && this.magnified.contains(focused) && focused.disabled)
			this.element.focus();
	}

	// --- Drawing ---------------------------------------------------------------------------

	private left(): number { return this.axis.offsetLeft; }
	private width(): number { return Math.max(10, this.element.clientWidth - this.left() - 12); }

	// How long the time is that is drawn.
	private span(): number {
		const [from, to] = this.app.drawnTime();
		return to - from;
	}

	// Weight by time, of all stacks or of those that are marked: what Selection has of that range, in bins.
	private *fill(event: number, isForGil: boolean, bins: number, marks: Uint8Array | null): Generator<void, Shape> {
		const p = this.app.profile, tracks: Shape = new Map(), isSpan = p.isSpan(event);
		const [from, to] = this.app.drawnTime(), bin = (to - from) / bins || 1;
		for (const group of p.groupsOf(event)) {
			const steps = tracks.get(group.thread) ?? new Float64Array(bins + 1);
			for (let i = p.firstAt(group, from); i < group.first + group.count; i++) {
				// A wait is the time before its sample.
				const begin = p.until[i] - (isSpan ? p.weight[i] : 0);
				if (begin > to)
					break;
				if (i % STEP_SAMPLES === 0)
					yield;
				if ((marks && !marks[p.stack[i]]) || (isForGil && !p.isForGil(p.spent[i])))
					continue;
				const at = Math.min(bins - 1, Math.floor((begin - from) / bin));
				if (isSpan)
					addSpan(steps, Math.max(0, begin - from), Math.min(p.until[i], to) - from, bin);
				else
					addToBins(steps, at, at, p.weight[i]);
			}
			tracks.set(group.thread, steps);
		}
		const sum = new Float64Array(bins + 1);
		tracks.forEach((steps) => {
			for (let at = 0, value = 0; at <= bins; at++) {
				value += steps[at];
				// What is left by rounding is nothing: less than a thousandth of a ns, or of one.
				steps[at] = value < 1e-3 ? 0 : value;
				sum[at] += steps[at];
			}
		});
		return tracks.set(-1, sum);
	}

	// As many as can be seen, and so few that chance alone makes no spikes.
	private binCount(event: number, width: number): number {
		const p = this.app.profile, most = Math.min(MAX_BINS, Math.floor(width / 2));
		if (p.eventKind(event) === EventKind.Wait)
			return most;
		const [from, to] = this.app.drawnTime();
		const samples = p.groupsOf(event).reduce((sum, group) => sum + p.firstAt(group, to) - p.firstAt(group, from), 0);
		return Math.max(20, Math.min(most, Math.floor(samples / SAMPLES_PER_BIN)));
	}

	private *draw(): Generator<void> {
		const width = this.width();
		if (!this.element.clientWidth)
			return;
		this.showBrush(this.app.state.range);
		const { event, lanes, search, fn } = this.app.state, time = this.app.drawnTime();
		const wanted = JSON.stringify([width, devicePixelRatio, event, lanes, search, search ? -1 : fn, isDark(), time]);
		if (wanted === this.drawn)
			return;
		const marks = this.app.marked();
		yield;
		yield* this.drawTracks(null, width, marks);
		for (const lane of this.lanes())
			yield* this.drawTracks(lane, width, marks);
		drawAxis(this.axis, width, ...time);
		this.drawn = wanted;
	}

	private *known(event: number, isForGil: boolean, bins: number): Generator<void, Shape> {
		const key = `${event} ${isForGil} ${bins} ${this.app.drawnTime()}`;
		let shape = this.base.get(key);
		if (!shape) {
			shape = yield* this.fill(event, isForGil, bins, null);
			if (this.base.size >= MAX_SHAPES)
				this.base.clear();
			this.base.set(key, shape);
		}
		return shape;
	}

	private colour(lane: Lane | null): string {
		if (!lane)
			return variable("--track");
		if (lane.isForGil)
			return kindColour(Kind.Gil);
		return this.app.profile.eventKind(lane.event) === EventKind.Gil ? kindColour(Kind.Standard) : variable("--track-wait");
	}

	// Those of a lane, or of the event.
	private *drawTracks(lane: Lane | null, width: number, marks: Uint8Array | null): Generator<void> {
		const event = this.eventOf(lane), isForGil = !!lane?.isForGil;
		const bins = this.binCount(event, width), all = yield* this.known(event, isForGil, bins);
		const marked = marks ? yield* this.fill(event, isForGil, bins, marks) : null;
		const height = lane ? LANE_HEIGHT : TRACK_HEIGHT, [top, times] = this.scale(all, event, bins, lane);
		const colours = [this.colour(lane), variable("--track-marked"), variable("--line")];
		for (const track of this.tracks.filter((one) => one.lane === lane)) {
			yield;
			const values = all.get(track.thread), context = fitCanvas(track.canvas, width, height);
			context.fillStyle = colours[2];
			context.fillRect(0, height - 1, width, 1);
			if (!values)
				continue;
			const most = track.thread < 0 ? top * times : top;
			this.tellScale(track, times);
			this.drawArea(context, values, most, width, height, colours[0]);
			if (marked)
				this.drawArea(context, marked.get(track.thread)!, most, width, height, colours[1]);
		}
	}

	// What the tracks of threads are as high as, and how often that goes into what all threads together are as high as.
	// A lane has no such track, and what is time is never higher than all of it.
	private scale(all: Shape, event: number, bins: number, lane: Lane | null): [number, number] {
		const p = this.app.profile, isTime = p.unit(event) === Unit.Nanoseconds;
		const peak = (values: Float64Array) => values.reduce((a, b) => Math.max(a, b), 0);
		const most = [...all].reduce((top, [thread, values]) => thread < 0 ? top : Math.max(top, peak(values)), 0);
		if (lane)
			return [isTime ? Math.max(this.span() / bins, most) : most, 1];
		const sum = peak(all.get(-1)!);
		// Of few threads one scale serves; of many nothing would be left of each.
		return sum <= most * ONE_SCALE_MAX ? [sum, 1] : [most, Math.ceil(sum / most)];
	}

	private tellScale(track: Track, times: number) {
		const label = track.element.querySelector(".threadnumber");
		if (label && track.thread < 0) {
			label.textContent = times > 1 ? `1 : ${times}` : "";
			label.setAttribute("title", times > 1 ? `Drawn ${times} times lower than threads` : "");
		}
	}

	private drawArea(context: CanvasRenderingContext2D, values: Float64Array, top: number, width: number, height: number,
		colour: string) {
		const step = width / (values.length - 1);
		context.fillStyle = colour;
		context.beginPath();
		values.forEach((value, i) => {
			const tall = top ? value / top * (height - 3) : 0;
			if (tall > 0)
				context.rect(i * step, height - 1 - Math.max(tall, 1), step + 0.3, Math.max(tall, 1));
		});
		context.fill();
	}

	// Of a range that is drawn as a part.
	private showBrush(range: Range | null) {
		const time = this.app.drawnTime(), part = range && partOf(range, time);
		this.brush.hidden = !part;
		if (!part)
			return;
		const scale = this.width() / (this.span() || 1);
		this.brush.style.left = `${this.left() + (part[0] - time[0]) * scale}px`;
		this.brush.style.width = `${Math.max(2, (part[1] - part[0]) * scale)}px`;
	}

	// --- Pointer and keys -------------------------------------------------------------------

	private timeAt(event: PointerEvent): number {
		const x = event.clientX - this.element.getBoundingClientRect().left - this.left();
		return this.app.drawnTime()[0] + Math.max(0, Math.min(1, x / this.width())) * this.span();
	}

	// On what has nothing to do with a time.
	private isBeside(event: MouseEvent): boolean { return !!(event.target as HTMLElement).closest("button, .magnified"); }

	private begin(event: PointerEvent) {
		if (event.button || this.isBeside(event))
			return;
		this.dragFrom = this.timeAt(event);
		this.tell(null);
		this.element.setPointerCapture(event.pointerId);
	}

	private ranged(event: PointerEvent): Range {
		const to = this.timeAt(event);
		return [Math.min(this.dragFrom!, to), Math.max(this.dragFrom!, to)];
	}

	private move(event: PointerEvent) {
		if (this.dragFrom !== null)
			this.showBrush(this.ranged(event));
		else
			this.hover(event);
	}

	private finish(event: PointerEvent) {
		if (this.dragFrom === null)
			return;
		const range = this.ranged(event), isClick = range[1] - range[0] < this.span() / this.width() * 4;
		this.dragFrom = null;
		if (!isClick)
			this.app.setRange(range[0], range[1]);
		else if (this.app.state.range)
			this.app.set({ range: null, zoom: [] });
	}

	// To the part before what is drawn, or behind it.
	step(direction: number) { this.app.moveDrawn(direction * Math.round(this.span() / 2e3) * 1e3); }

	// Sideways, or with Shift: the picture moves with it. All of time stays where it is.
	private wheel(event: WheelEvent) {
		const pixels = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
		if (event.ctrlKey || !this.app.state.magnified.length || Math.abs(pixels) < Math.abs(event.shiftKey ? 0 : event.deltaY))
			return;
		event.preventDefault();
		this.tell(null);
		const scale = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PIXELS;
		this.turned += pixels * scale / this.width() * this.span();
		const by = Math.trunc(this.turned / 1e3) * 1e3;
		this.turned -= by;
		this.app.moveDrawn(by);
	}

	private key(event: KeyboardEvent) {
		if (hasModifier(event) || !(this.labelKey(event) || this.rangeKey(event) || this.trackKey(event.key)))
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	// Of a thread that has the focus. True: the key was taken.
	private labelKey({ key }: KeyboardEvent): boolean {
		const labels = this.labels(), at = labels.findIndex((label) => label === document.activeElement);
		const places: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: labels.length - 1 };
		if (at < 0 || !(key in places))
			return false;
		labels[places[key]]?.focus();
		return true;
	}

	// True: the key was taken.
	private rangeKey(event: KeyboardEvent): boolean {
		const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0, { range } = this.app.state;
		if (!direction && (event.key !== "Escape" || !range))
			return false;
		if (direction)
			this.moveRange(direction, event.shiftKey);
		else
			this.app.set({ range: null });
		return true;
	}

	// Or its end; within what is drawn. Where nothing of that is selected, or all of it, the range is its first fifth.
	private moveRange(direction: number, isEnd: boolean) {
		const [first, last] = this.app.drawnTime(), span = last - first, range = this.app.state.range ?? [first, first];
		// Ranges are whole microseconds.
		const step = Math.max(1, Math.round(span / 50e3)) * 1e3, from = Math.max(range[0], first), to = Math.min(range[1], last);
		if (from >= to || (!isEnd && to - from >= span))
			this.app.setRange(first, first + span / 5);
		else if (isEnd)
			this.app.setRange(from, Math.max(from + step, Math.min(last, to + direction * step)), {}, true);
		else {
			const by = Math.max(first - from, Math.min(last - to, direction * step));
			this.app.setRange(from + by, to + by, {}, true);
		}
	}

	private trackKey(key: string): boolean {
		const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
		if (key === "Escape" && !this.told && this.app.state.magnified.length) {
			this.app.unmagnify(Infinity);
			return true;
		}
		if (!step && (key !== "Escape" || !this.told))
			return false;
		const at = this.told ? this.tracks.indexOf(this.told) : -1;
		this.tell(step ? this.tracks[Math.max(0, Math.min(this.tracks.length - 1, at + step))] : null);
		return true;
	}

	// --- What tracks have, in words ----------------------------------------------------------

	// In the range, or in what is drawn; null: no tip.
	private tell(track: Track | null) {
		this.told?.element.classList.remove("told");
		this.told = track;
		if (!track) {
			this.tip.hide();
			return;
		}
		const drawn = this.app.drawnTime(), range = this.app.state.range ?? drawn;
		track.element.classList.add("told");
		track.element.scrollIntoView({ block: "nearest" });
		const { left, bottom } = track.canvas.getBoundingClientRect(), x = (range[0] - drawn[0]) / (this.span() || 1) * this.width();
		this.tip.show(left + Math.max(0, Math.min(this.width(), x)), bottom, document.body, this.describe(track, range, true));
	}

	// What is drawn under the pointer.
	private hover(event: PointerEvent) {
		const target = event.target as HTMLElement, track = this.tracks.find(({ element }) => element.contains(target));
		this.tell(null);
		if (!track || target.closest(".label"))
			return;
		const [from, to] = this.app.drawnTime(), bins = this.binCount(this.eventOf(track.lane), this.width()), bin = (to - from) / bins;
		const at = Math.min(bins - 1, Math.floor((this.timeAt(event) - from) / (bin || 1)));
		this.tip.show(event.clientX, event.clientY, document.body,
			this.describe(track, [from + at * bin, Math.min(to, from + (at + 1) * bin)], at === bins - 1));
	}

	private eventOf(lane: Lane | null): number { return lane ? lane.event : this.app.state.event; }

	private describe(track: Track, time: Range, isClosed: boolean): HTMLElement[] {
		const of = { event: this.eventOf(track.lane), thread: track.thread, isForGil: !!track.lane?.isForGil };
		return momentLines(this.app, track.name, of, time, isClosed).map((line, i) => h(i ? "p" : "b", {}, line));
	}
}
