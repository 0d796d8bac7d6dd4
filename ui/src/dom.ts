// SPDX-License-Identifier: GPL-2.0-only
// Elements, numbers in words, and lists of which only what is seen is in the page.
import { Unit } from "./data";

type Child = Node | string | null | undefined | false;

// h("button.small", { onclick }, "text"): texts are texts, never HTML.
export function h<T extends HTMLElement = HTMLElement>(name: string, attributes: Record<string, unknown> = {},
	...children: Child[]): T {
	const [tag, ...classes] = name.split(".");
	const element = document.createElement(tag) as T;
	if (classes.length)
		element.className = classes.join(" ");
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value as EventListener);
		else if (value === true)
			element.setAttribute(key, "");
		else if (value !== false && value !== null && value !== undefined)
			element.setAttribute(key, String(value));
	}
	element.append(...children.filter((child): child is Node | string => !!child || child === ""));
	return element;
}

// One digit, as `kaa report` rounds: what is in the middle goes to the even side, as printf() has it.
export function percent(share: number): string {
	if (!share)
		return "";
	// Division has left its own error in the last digits.
	const tenths = Number((share * 1000).toPrecision(12)), below = Math.floor(tenths);
	const rounded = tenths - below === 0.5 ? below + below % 2 : Math.round(tenths);
	return rounded ? `${(rounded / 10).toFixed(1)}%` : "<0.1%";
}

export const count = (n: number) => n.toLocaleString("en-US");

// step: it is exact enough to tell times apart that are so far from each other.
export function duration(ns: number, step = Infinity): string {
	const [unit, word, digits] = ns < 1e6 ? [1e3, "µs", ns < 1e4 ? 1 : 0] : ns < 1e9 ? [1e6, "ms", ns < 1e7 ? 1 : 0] : [1e9, "s", 2] as const;
	const wanted = Math.min(9, Math.ceil(Math.log10(unit / step)));
	return `${(ns / unit).toFixed(Math.max(digits, wanted))} ${word}`;
}

// As exact as it is short: to a tenth of it.
export function period(from: number, to: number, word = "–"): string {
	const step = (to - from) / 10;
	return `${from ? duration(from, step) : "0"} ${word} ${duration(to, step)}`;
}

export function amount(weight: number, unit: Unit): string {
	if (unit === Unit.Nanoseconds)
		return duration(weight);
	if (unit === Unit.Bytes) {
		const steps = ["bytes", "KiB", "MiB", "GiB"];
		const step = Math.min(3, Math.floor(Math.log2(Math.max(weight, 1)) / 10));
		return `${(weight / 1024 ** step).toFixed(step ? 1 : 0)} ${steps[step]}`;
	}
	return count(weight);
}

// What is under the pointer, in words.
export class Tip {
	readonly element = h("div.tip", { role: "status", hidden: true });

	// Beside that place of the window, and within the room if it fits there; lines without text are left out.
	show(left: number, top: number, room: HTMLElement, lines: HTMLElement[]) {
		this.element.replaceChildren(...lines.filter((line) => line.textContent));
		this.element.hidden = false;
		const frame = room.getBoundingClientRect(), { offsetWidth: wide, offsetHeight: tall } = this.element;
		const x = Math.min(left + 14, frame.right - wide - 8), y = top + 18 + tall > frame.bottom ? top - tall - 12 : top + 18;
		this.element.style.transform = `translate(${Math.max(frame.left + 4, x)}px, ${Math.max(frame.top + 4, y)}px)`;
	}

	hide() { this.element.hidden = true; }
}

// What of a path has no room is cut at its beginning, as `kaa report` cuts it: the style sheet turns the line around.
export function pathCell(name: string, path: string): HTMLElement {
	return h(`span.${name}.path-end`, {}, h("bdi", { dir: "ltr" }, path));
}

// The end of a text that is longer than so many characters.
export const endOf = (text: string, most: number) => text.length > most ? `…${text.slice(text.length - most + 1)}` : text;

export const isTyping = (target: EventTarget | null) =>
	target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

// Such keys are the browser's.
export const hasModifier = (event: KeyboardEvent) => event.ctrlKey || event.metaKey || event.altKey;

export const rowHeight = () => matchMedia("(pointer: coarse)").matches ? 36 : 25;

export interface ListOptions {
	label: string;
	role: "grid" | "treegrid" | "listbox";
	row: (index: number) => HTMLElement;
	onSelect?: (index: number) => void;
	onOpen?: (index: number) => void;
	// True: the key was taken.
	onKey?: (index: number, key: string) => boolean;
}

let lists = 0;

// Rows of one height; only those that are seen are there. One can be selected.
export class List {
	readonly element: HTMLElement;
	selected = -1;
	private length = 0;
	private room = h("div.room");
	private height = rowHeight();
	private id = `list${++lists}`;
	private due = false;
	// Why there is no row, in words: it stands before the list.
	readonly why = h("p.note.none", { hidden: true, role: "status" });

	constructor(private options: ListOptions) {
		this.element = h("div.list", { tabindex: 0, role: options.role, "aria-label": options.label,
			onscroll: () => this.later(), onkeydown: (event: KeyboardEvent) => this.key(event),
			onclick: (event: MouseEvent) => this.click(event, false),
			ondblclick: (event: MouseEvent) => this.click(event, true) }, this.room);
		new ResizeObserver(() => this.later()).observe(this.element);
	}

	show(length: number, selected = -1, why = "") {
		this.length = length;
		this.why.hidden = length > 0 || !why;
		this.why.textContent = length ? "" : why;
		this.selected = Math.min(selected, length - 1);
		this.element.setAttribute("aria-rowcount", String(length));
		this.room.style.height = `${length * this.height}px`;
		this.draw();
	}

	reveal(index: number, isCentred = false) {
		const top = index * this.height, view = this.element.clientHeight;
		if (isCentred)
			this.element.scrollTop = top - view / 2;
		else if (top < this.element.scrollTop)
			this.element.scrollTop = top;
		else if (top + this.height > this.element.scrollTop + view)
			this.element.scrollTop = top + this.height - view;
		this.draw();
	}

	select(index: number) {
		if (index < 0 || index >= this.length)
			return;
		this.selected = index;
		this.reveal(index);
		this.options.onSelect?.(index);
	}

	private later() {
		if (!this.due)
			requestAnimationFrame(() => this.draw());
		this.due = true;
	}

	private draw() {
		this.due = false;
		const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 4);
		const last = Math.min(this.length, first + Math.ceil((this.element.clientHeight || 900) / this.height) + 9);
		const rows: HTMLElement[] = [];
		for (let i = first; i < last; i++) {
			const row = this.options.row(i);
			row.classList.add("row");
			row.style.top = `${i * this.height}px`;
			row.style.height = `${this.height}px`;
			row.id = `${this.id}-${i}`;
			row.dataset.index = String(i);
			row.setAttribute("role", this.options.role === "listbox" ? "option" : "row");
			row.setAttribute("aria-rowindex", String(i + 1));
			row.setAttribute("aria-selected", String(i === this.selected));
			rows.push(row);
		}
		this.room.replaceChildren(...rows);
		if (this.selected >= first && this.selected < last)
			this.element.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
		else
			this.element.removeAttribute("aria-activedescendant");
	}

	private click(event: MouseEvent, isOpen: boolean) {
		const row = (event.target as HTMLElement).closest<HTMLElement>(".row");
		if (!row)
			return;
		const index = Number(row.dataset.index);
		if (isOpen)
			this.options.onOpen?.(index);
		else
			this.select(index);
	}

	private key(event: KeyboardEvent) {
		if (hasModifier(event))
			return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
		const steps: Record<string, number> = { ArrowDown: this.selected + 1, ArrowUp: this.selected - 1,
			PageDown: this.selected + page, PageUp: this.selected - page, Home: 0, End: this.length - 1 };
		if (event.key in steps)
			this.select(Math.max(0, Math.min(this.length - 1, steps[event.key])));
		else if (event.key === "Enter" && this.selected >= 0)
			this.options.onOpen?.(this.selected);
		else if (this.selected < 0 || !this.options.onKey?.(this.selected, event.key))
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}

// A canvas as large as its element, sharp on every screen.
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const ratio = devicePixelRatio || 1, context = canvas.getContext("2d")!;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.max(1, Math.round(height * ratio));
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

const FRAME_MS = 8;

// Work that is done in frames, some milliseconds in each, so that keys and the pointer never wait for it. begin() gives
// its steps. Until all are done the element is busy; what is begun anew is begun from the start.
export class Frames {
	private work: Iterator<void> | null = null;
	private due = false;

	constructor(private element: HTMLElement, private begin: () => Iterator<void>) {}

	restart() {
		this.work = null;
		this.element.setAttribute("aria-busy", "true");
		if (!this.due)
			requestAnimationFrame(() => this.frame());
		this.due = true;
	}

	private frame() {
		const end = performance.now() + FRAME_MS;
		this.due = false;
		this.work ??= this.begin();
		while (performance.now() < end)
			if (this.work.next().done) {
				this.work = null;
				this.element.removeAttribute("aria-busy");
				return;
			}
		requestAnimationFrame(() => this.frame());
		this.due = true;
	}
}
