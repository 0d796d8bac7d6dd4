// SPDX-License-Identifier: GPL-2.0-only
// The first view: which functions and which lines take the time.
import type { App, Side } from "./app";
import { changeHead, changeText, changeWords, fixed, type Change, type Changes, type Sides } from "./changes";
import { functionColour } from "./colours";
import type { Entry } from "./compute";
import { NONE } from "./data";
import { h, List, pathCell, percent } from "./dom";
import { NOBODY, type State } from "./state";

// A share as a number with a bar behind it.
export function shareCell(share: number, name = ""): HTMLElement {
	const bar = h("i");
	bar.style.width = `${Math.min(100, share * 100)}%`;
	return h(`span.share${name}`, { role: "gridcell" }, bar, h("b", {}, percent(share)));
}

export function swatch(app: App, fn: number): HTMLElement {
	const element = h("i.swatch", { "aria-hidden": "true" });
	element.style.background = functionColour(app.profile, fn);
	return element;
}

const SPENT_LISTED = 3, SPENT_LISTED_WHOLE = 20;

// Points of a hundred, as `kaa report` rounds them; what is left out is "others".
export function spentText(app: App, parts: [number, number][] = [], most = SPENT_LISTED): string {
	const points = (weight: number) => 100 * app.share(weight);
	const heavy = parts.filter(([, weight]) => points(weight) >= 0.5), few = heavy.length === most + 1 ? most + 1 : most;
	const listed = heavy.slice(0, few), rest = parts.reduce((sum, [, weight]) => sum + weight, 0) -
		listed.reduce((sum, [, weight]) => sum + weight, 0);
	const words = listed.map(([spent, weight]) => `${app.profile.spentText(spent)} ${fixed(points(weight), 0)}`);
	return [...words, words.length && points(rest) >= 0.5 ? `others ${fixed(points(rest), 0)}` : ""].filter(Boolean).join(", ");
}

export const spentWhole = (app: App, parts: [number, number][] | undefined) => spentText(app, parts, SPENT_LISTED_WHOLE);

// By how much own time changed, and what chance says of that; of all samples alone it is known.
export function changeCell(app: App, change: Sides | undefined): HTMLElement {
	const c = app.profile.comparison!, value = change ? change.after - change.before : 0;
	const kind = !change || !value || change.mark === "noise" ? "" : value > 0 ? ".more" : ".less";
	const word = change?.mark && app.isAll() ? change.mark : "";
	return h(`span.change${kind}`, { role: "gridcell", title: change ? changeWords(c, change, app.isAll()) : null },
		h("b", {}, change ? changeText(c, change) : ""), h("span.mark", {}, word === "noise" ? "" : word));
}

interface Row {
	// A function; -1: no Python code. Of lines it means nothing.
	id: number;
	own: number;
	total: number;
	change?: Change;
}

interface LineRow extends Row {
	fn: number;
	file: number;
	number: number;
	// Its own number; -1: no Python code; -2: it is many lines.
	line: number;
	// Instead of its text.
	note?: string;
}

// That chance may have made all changes, as the text of kaa diff has it; "": it did not, or that is not known.
function chanceText(app: App, functions: Change[]): string {
	const marks = new Set(functions.map((change) => change.mark));
	marks.delete("");
	if (!app.isAll() || !marks.size || [...marks].some((mark) => mark !== "noise" && mark !== "maybe"))
		return "";
	return marks.has("maybe") ? ": no change of a function is certain" : ": no function changed beyond the noise";
}

function countText(functions: Change[]): string {
	const fresh = functions.filter((change) => !change.before && change.own).length;
	const gone = functions.filter((change) => !change.own && change.before).length;
	return (fresh ? `, ${fresh} new` : "") + (gone ? `, ${gone} gone` : "");
}

export class FunctionsView {
	readonly element: HTMLElement;
	private functions: Row[] = [];
	private lines: LineRow[] = [];
	private isCompared = false;
	private changeHeads: HTMLElement[] = [];
	private said = h("span.hint");
	private functionList: List;
	private lineList: List;
	private heads: HTMLButtonElement[] = [];
	private sources = new Map<number, string[]>();
	private sides: Side[] = [];
	private sideHeads = h("span.sides");
	private counts = [h("span.count"), h("span.count")];

	constructor(private app: App) {
		this.functionList = new List({ label: "Functions", role: "grid", row: (i) => this.functionRow(this.functions[i]),
			onSelect: (i) => this.select(this.functions[i].id),
			onOpen: (i) => this.openFunction(this.functions[i].id),
			onKey: (i, key) => this.key(this.functions[i].id, key) });
		this.lineList = new List({ label: "Lines", role: "grid", row: (i) => this.lineRow(this.lines[i]),
			onSelect: (i) => this.select(this.lines[i].fn), onOpen: (i) => this.openLine(this.lines[i]) });
		this.element = h("div.split", {},
			h("section.panel", { "aria-label": "Functions" }, h("h2", {}, "Functions", this.counts[0], this.said),
				h("div.head.functions", {}, this.changeHead(), this.head("own", "own"), this.head("total", "total"),
					this.sideHeads, this.head("name", "function"),
					h("span.spent", {}, "spent in")), this.functionList.why, this.functionList.element),
			h("section.panel", { "aria-label": "Lines" }, h("h2", {}, "Lines", this.counts[1]),
				h("div.head.lines", {}, this.changeHead(), this.head("own", "own"), this.head("total", "total"),
					this.head("name", "line"), h("span.code", {}, "source")), this.lineList.why, this.lineList.element));
	}

	// Sorts both tables.
	private changeHead(): HTMLElement | null {
		const c = this.app.profile.comparison;
		if (!c)
			return null;
		const head = this.head("change", changeHead(c));
		head.title = `By how much own time changed since ${c.path}`;
		head.classList.add("change");
		this.changeHeads.push(head);
		return head;
	}

	private head(sort: State["sort"], word: string): HTMLElement {
		const button = h<HTMLButtonElement>(`button.sort.${sort === "name" ? "name" : "share"}`,
			{ type: "button", "data-sort": sort, onclick: () => this.app.set({ sort }) }, word);
		this.heads.push(button);
		return button;
	}

	// The share that a function has of another event.
	private sideCell(side: Side, fn: number): HTMLElement {
		const { app } = this, entry = side.entries.get(fn), share = (weight: number) => percent(side.all ? weight / side.all : 0);
		const words = entry ? `own ${share(entry.own) || "0%"}, total ${share(entry.total)}` : "none";
		const cell = shareCell(side.all && entry ? entry.own / side.all : 0, ".side");
		cell.title = `${app.profile.eventName(side.event)}: ${words}`;
		return cell;
	}

	private showSides() {
		const { app } = this;
		this.sides = app.sides();
		this.sideHeads.hidden = !this.sides.length;
		this.sideHeads.replaceChildren(...this.sides.map(({ event }) => {
			const name = app.profile.eventName(event);
			return h("button.sort.share.side", { type: "button", title: `${name}, own: show this event`,
				onclick: () => app.set({ event, zoom: [] }) }, name);
		}));
		this.element.classList.toggle("manysides", this.sides.length > 1);
	}

	// Those of the event, and after them those that the events beside it have.
	private entries(): Entry[] {
		const entries = this.app.functions(), known = new Set(entries.map((entry) => entry.id)), more: Entry[] = [];
		for (const side of this.sides)
			for (const id of side.entries.keys())
				if (!known.has(id)) {
					known.add(id);
					more.push({ id, own: 0, total: 0, samples: 0 });
				}
		return more.length ? [...entries, ...more] : entries;
	}

	private key(fn: number, key: string): boolean {
		if (fn >= 0 && key === "o")
			this.app.set({ focus: fn, zoom: [] });
		else if (fn >= 0 && key === "g")
			this.app.markInGraph(fn);
		else
			return false;
		return true;
	}

	private openFunction(fn: number) {
		const text = fn < 0 ? null : this.app.textOf(fn);
		if (text)
			this.app.set({ ...text, fn });
	}

	private select(fn: number) { this.app.set({ fn: fn < 0 ? NOBODY : fn }, true); }

	private openLine({ fn, file, number }: LineRow) {
		if (fn >= 0 && file !== NONE)
			this.app.set({ view: "source", file, line: number, code: -1, fn });
	}

	private functionRow(entry: Row): HTMLElement {
		const { app } = this, p = app.profile, fn = entry.id, functions = entry.change?.functions ?? 1;
		const spent = app.functionSpent().get(fn);
		const name = fn < 0 ? app.nobody() : functions > 1 ? `${p.functionName(fn)} (${functions})` : p.functionName(fn);
		return h("div.functions", {}, this.changeCell(entry), shareCell(app.share(entry.own)),
			shareCell(app.share(entry.total), ".total"), ...this.sides.map((side) => this.sideCell(side, fn)),
			h("span.name", { role: "gridcell" }, swatch(app, fn), h("span.symbol", {}, name),
				pathCell("place", fn < 0 ? "" : p.place(fn))),
			h("span.spent", { role: "gridcell", title: spentWhole(app, spent) || null }, spentText(app, spent)));
	}

	// Where nothing is compared there is none.
	private changeCell(row: Row): HTMLElement | null {
		return this.isCompared ? changeCell(this.app, row.change) : null;
	}

	private sourceLine(file: number, line: number): string {
		if (file === NONE || !line)
			return "";
		if (!this.sources.has(file))
			this.sources.set(file, this.app.profile.source(file));
		return (this.sources.get(file)![line - 1] ?? "").trim();
	}

	private lineRow(row: LineRow): HTMLElement {
		const { app } = this, p = app.profile, { fn, file, number } = row;
		const isPlace = file !== NONE && number > 0;
		const place = fn < 0 ? app.nobody() : isPlace ? p.filePlace(file) : p.functionName(fn);
		const source = row.note ?? this.sourceLine(file, number), spent = spentWhole(app, app.lineSpent().get(row.line));
		return h("div.lines", { title: spent ? `spent in ${spent}` : null }, this.changeCell(row), shareCell(app.share(row.own)),
			shareCell(app.share(row.total), ".total"), h("span.name", { role: "gridcell" },
				isPlace ? pathCell("symbol", place) : h("span.symbol", {}, place), isPlace && h("span", {}, `:${number}`)),
			h("span.code", { role: "gridcell" }, h("code", {}, source || (fn < 0 ? "" : p.functionName(fn)))));
	}

	private lineOf(entry: Entry): LineRow {
		const p = this.app.profile, line = entry.id;
		return { ...entry, line, fn: line < 0 ? -1 : p.lineFunction[line], file: line < 0 ? NONE : p.lineFile[line],
			number: line < 0 ? 0 : p.lineNumber[line] };
	}

	// All lines of a function that was edited are one.
	private comparedLine(change: Change): LineRow {
		const p = this.app.profile, row = change.id < 0 ? null : p.comparison!.lines[change.id];
		const fn = !row ? -1 : row.isUnpaired ? row.subject : p.frameFunction[row.subject];
		const number = !row ? 0 : row.isUnpaired ? p.functionLine[fn] : p.frameLine[row.subject];
		return { ...change, change, fn, file: fn < 0 ? NONE : p.functionFile[fn], number,
			note: row?.isUnpaired ? "[changed]" : undefined,
			line: !row ? -1 : row.isUnpaired ? -2 : p.lineOfFrame[row.subject] };
	}

	private order<T extends Row>(entries: T[], name: (entry: T) => string): T[] {
		const { sort } = this.app.state;
		if (sort === "own" && this.isCompared)
			return [...entries].sort((a, b) => b.own - a.own || b.total - a.total);
		if (sort === "total")
			return [...entries].sort((a, b) => b.total - a.total || b.own - a.own);
		if (sort === "name")
			return entries.map((entry) => [name(entry), entry] as const).sort((a, b) => a[0] < b[0] ? -1 : 1)
				.map((pair) => pair[1]);
		return entries;
	}

	update() {
		const { app } = this, p = app.profile, found = app.found(), changes = app.changes();
		const isFound = (fn: number) => !found || (fn >= 0 && found[fn] === 1);
		this.isCompared = changes !== null;
		this.showSides();
		const functions: Row[] = changes ? changes.functions.map((change) => ({ ...change, change })) : this.entries();
		const lines = changes ? changes.lines.map((change) => this.comparedLine(change)) :
			app.lines().map((entry) => this.lineOf(entry));
		this.functions = this.order(functions.filter((entry) => isFound(entry.id)),
			(entry) => entry.id < 0 ? "" : p.functionName(entry.id));
		this.lines = this.order(lines.filter((row) => isFound(row.fn)),
			(row) => row.fn < 0 ? "" : `${p.filePlace(row.file)}:${String(row.number).padStart(8, "0")}`);
		this.showCompared(changes);
		this.functionList.show(this.functions.length,
			this.functions.findIndex(({ id }) => (id < 0 ? NOBODY : id) === app.state.fn), app.whyNone());
		this.lineList.show(this.lines.length, this.lineList.selected, app.whyNone());
		this.element.classList.toggle("nospent", !this.functions.some(({ id }) => spentText(app, app.functionSpent().get(id))));
		this.counts[0].textContent = String(this.functions.length);
		this.counts[1].textContent = String(this.lines.length);
		const sort = app.state.sort === "change" && !changes ? "own" : app.state.sort;
		for (const head of this.heads)
			head.setAttribute("aria-pressed", String(head.dataset.sort === sort));
	}

	private showCompared(changes: Changes | null) {
		const { app } = this, c = app.profile.comparison;
		for (const head of this.changeHeads)
			head.hidden = !changes;
		this.element.classList.toggle("compared", !!changes);
		if (!c)
			return;
		this.said.textContent = changes ?
			`${changeText(c, { before: changes.allBefore, after: changes.allAfter })} ${c.unit} since ${c.path}` +
			(chanceText(app, changes.functions) || countText(changes.functions)) : "";
	}

	focus() { this.functionList.element.focus(); }
}
