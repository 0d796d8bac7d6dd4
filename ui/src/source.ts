// SPDX-License-Identifier: GPL-2.0-only
// The text of a file with what each line weighs, or the instructions of a function in C.
import type { App } from "./app";
import { changeHead, changeText, type Change, type Changes, type Sides } from "./changes";
import { CodeTable } from "./code";
import { fileWeights, type Entry } from "./compute";
import { Kind, NONE, SourceState, type Comparison, type Profile } from "./data";
import { endOf, h, List, percent } from "./dom";
import { changeCell } from "./functions";
import { HeatMap, hotRow } from "./heat";
import { pieces, type Piece } from "./python";

const WHY: Record<number, string> = {
	[SourceState.None]: "The recording names no file.",
	[SourceState.Missing]: "There was no such file where this page was made.",
	[SourceState.Changed]: "The file has changed since the recording, so its text is not shown.",
	[SourceState.Other]: "The file does not have the functions that were recorded, so its text is not shown.",
	[SourceState.Large]: "The file did not fit into this page.",
	[SourceState.Before]: "The file is of the recording before, so its text is not shown.",
};

// Of a function in C without a listing.
export function whyNoCode(profile: Profile, fn: number): string {
	const kind: Kind = profile.functionKind[fn];
	return kind === Kind.Mark ? "" : profile.comparison ? "a page of two recordings has no instructions" :
		kind === Kind.Kernel ? "a page has no instructions of the kernel" :
			"no instructions: less than 1% of all samples hit it, or it has no symbol";
}

// Functions in C below a line that are named.
const CALLED_MAX = 5;
// Lines that may be the longest.
const MEASURED_MAX = 10;

export class SourceView {
	readonly element: HTMLElement;
	private list: List;
	private choice = h<HTMLSelectElement>("select", { "aria-label": "File", onchange: () => this.choose(this.choice.value) });
	private note = h("p.note");
	private map: HeatMap;
	private table: HTMLElement;
	private head: HTMLElement;
	private code: CodeTable;
	// What the line that is selected calls in C.
	private called = h("p.note.called", { "aria-live": "polite", hidden: true });
	private lines: string[] = [];
	private parsed: Piece[][] = [];
	// By number.
	private weights = new Map<number, Entry>();
	private numbers: number[] = [];
	// What changed, by number; null: nothing is compared.
	private changes: Map<number, Change> | null = null;
	// Lines of functions that were edited, whose changes are of the whole function.
	private unpaired = new Map<number, Change>();
	private changeHead = h("span.change");
	private compared = h("p.note", { hidden: true });
	private hottest = 0;
	private file = -1;
	private shownLine = -1;

	constructor(private app: App) {
		this.list = new List({ label: "Source", role: "grid", row: (i) => this.row(i),
			onSelect: (i) => app.set({ line: this.numbers[i] }, true), onKey: (_, key) => this.key(key) });
		this.list.element.classList.add("wide");
		this.list.element.addEventListener("scroll", () => this.moveHead());
		this.map = new HeatMap(this.list, () => this.numbers.map((line) => this.heat(line)));
		this.code = new CodeTable(app);
		this.head = h("div.head", {}, app.profile.comparison && this.changeHead, h("span.share", {}, "own"),
			h("span.share", {}, "total"), h("span.number", {}, "line"), h("span.name", {}, "source"));
		this.table = h("div.codetable", {}, this.head, h("div.withmap", {}, this.list.element, this.map.element), this.called);
		this.element = h("section.panel.source", { "aria-label": "Source" },
			h("h2", {}, "Source", this.choice, h("span.hint", {}, "n, N: next hot line")), this.note, this.compared,
			this.table, this.code.element);
	}

	// "12" is a file, "c3" a listing.
	private choose(value: string) {
		const isCode = value.startsWith("c"), number = Number(value.replace("c", ""));
		this.app.set(isCode ? { code: number, line: 0, fn: this.app.profile.codeFunction[number] } : { file: number, line: 0, code: -1 });
	}

	private key(key: string): boolean {
		if (key !== "n" && key !== "N")
			return false;
		const weights = this.numbers.map((line) => this.weights.get(line)?.own ?? 0);
		this.list.select(hotRow(weights, this.hottest, this.list.selected, key === "n"));
		return true;
	}

	private chooseFile(): number {
		const { app } = this, p = app.profile;
		if (app.state.file >= 0)
			return app.state.file;
		if (app.state.fn >= 0 && p.functionFile[app.state.fn] !== NONE && p.isPython(app.state.fn))
			return p.functionFile[app.state.fn];
		const weights = fileWeights(p, app.lines());
		const known = weights.find(([file]) => p.sourceState(file) === SourceState.There) ?? weights[0];
		return known ? known[0] : -1;
	}

	// That of the address, or of the function in C that is looked at, where no file is chosen.
	private chooseCode(): number {
		const { code, file, fn } = this.app.state;
		return code >= 0 || file >= 0 || fn < 0 ? code : this.app.profile.codeOf(fn);
	}

	private listFiles(code: number) {
		const { app } = this, p = app.profile;
		const files = fileWeights(p, app.lines());
		if (this.file >= 0 && !files.some(([file]) => file === this.file))
			files.push([this.file, 0]);
		const options = files.map(([file, weight]) => h("option", { value: file, selected: code < 0 && file === this.file },
			`${percent(app.share(weight)).padStart(6)}  ${endOf(p.filePlace(file), this.room())}`));
		const weights = app.selection().codes();
		const codes = [...p.codeFunction].map((fn, i) => h("option", { value: `c${i}`, selected: i === code },
			`${percent(app.share(weights[i])).padStart(6)}  ${p.functionName(fn)}  ${p.place(fn)}`));
		this.choice.replaceChildren(...options, codes.length ? h("optgroup", { label: "C code" }, ...codes) : "");
		this.choice.title = code >= 0 ? p.object(p.codeFunction[code]) : p.filePath(this.file < 0 ? NONE : this.file);
	}

	// So many letters of a path the list of files has room for.
	private room(): number { return Math.max(16, Math.floor(Math.min(442, innerWidth * 0.6) / 7.5) - 10); }

	update() {
		const { app } = this, p = app.profile;
		const code = this.chooseCode(), file = code >= 0 ? this.file : this.chooseFile(), isNew = file !== this.file;
		this.table.hidden = code >= 0;
		this.code.update(code);
		if (code >= 0) {
			this.showCodeNotes(code);
			this.listFiles(code);
			return;
		}
		this.file = file;
		if (isNew) {
			this.lines = file >= 0 && p.sourceState(file) === SourceState.There ? p.source(file) : [];
			this.parse();
			this.measure();
		}
		this.weigh();
		this.listFiles(-1);
		this.note.textContent = file < 0 ? app.whyNoSamples() || "No Python code was recorded." :
			this.lines.length ? "" : `${p.filePath(file)}: ${WHY[p.sourceState(file)] ?? ""} Lines that have samples:`;
		this.note.hidden = !this.note.textContent;
		const wanted = app.state.line || (isNew ? this.heaviest() : 0);
		const index = wanted ? this.numbers.indexOf(wanted) : -1;
		this.list.show(this.numbers.length, index >= 0 ? index : isNew ? -1 : this.list.selected);
		if (index >= 0 && (isNew || wanted !== this.shownLine))
			requestAnimationFrame(() => this.list.reveal(index, true));
		this.shownLine = wanted;
		this.map.draw();
		this.showCalled(this.list.selected);
	}

	private showCodeNotes(code: number) {
		const { app } = this, p = app.profile, why = p.codeWhy(code), own = app.allOfCode(code);
		const what = own ? `own ${percent(own / app.selection().everything)} of all samples of the recording` :
			"no sample of this event hit it";
		this.note.textContent = [`${p.functionName(p.codeFunction[code])}: ${what}.`, app.isFiltered() ? "Filters do not change that." : "",
			why && `${why[0].toUpperCase()}${why.slice(1)}.`].filter(Boolean).join(" ");
		this.note.hidden = false;
		this.compared.hidden = true;
	}

	// The way from a line to the functions in C that its own time is in.
	private showCalled(index: number) {
		const { app } = this, entry = index >= 0 ? this.weights.get(this.numbers[index]) : undefined;
		const called = entry ? app.selection().ownNative(app.shown(), entry.id).slice(0, CALLED_MAX) : [];
		this.called.hidden = !called.length;
		this.called.replaceChildren("In C code: ", ...called.flatMap(([fn, weight], i) =>
			[i ? ", " : "", this.codeLink(fn), ` ${percent(app.share(weight))}`]));
	}

	private codeLink(fn: number): HTMLElement {
		const { app } = this, p = app.profile, code = p.codeOf(fn), name = p.functionName(fn);
		if (code < 0)
			return h("span", { title: whyNoCode(p, fn) }, name);
		const holder = p.codeFunction[code];
		const title = holder === fn ? "Its instructions" : `Instructions of ${p.functionName(holder)}, which it is inlined into`;
		return h("button.link", { type: "button", title, onclick: () => app.set({ code, line: 0, fn }) }, name);
	}

	// Beside its rows, which scroll sideways.
	private moveHead() {
		this.head.style.transform = `translateX(${-this.list.element.scrollLeft}px)`;
	}

	// So that all rows are as wide as the longest.
	private measure() {
		const texts = this.parsed.map((line) => line.map((piece) => piece.text).join(""));
		const widest = texts.map((text): [number, string] => [text.length + (text.match(/[^\0-~]/g)?.length ?? 0), text])
			.sort(([a], [b]) => b - a).slice(0, MEASURED_MAX).map(([, text]) => text);
		const rulers = widest.map((text) => h("code.ruler", {}, text));
		this.element.append(...rulers);
		const width = rulers.reduce((most, ruler) => Math.max(most, ruler.offsetWidth), 0);
		rulers.forEach((ruler) => ruler.remove());
		this.list.element.style.setProperty("--text", `${width}px`);
		this.list.element.scrollLeft = 0;
	}

	private parse() {
		let inside = "";
		this.parsed = this.lines.map((line) => {
			const made = pieces(line.replace(/\t/g, "        "), inside);
			inside = made.inside;
			return made.pieces;
		});
	}

	private weigh() {
		const p = this.app.profile;
		this.weights.clear();
		this.hottest = 0;
		for (const entry of this.app.lines()) {
			if (entry.id < 0 || p.lineFile[entry.id] !== this.file)
				continue;
			this.weights.set(p.lineNumber[entry.id], entry);
			this.hottest = Math.max(this.hottest, entry.own);
		}
		this.compare();
		this.numbers = this.lines.length ? this.lines.map((_, i) => i + 1) :
			[...new Set([...this.weights.keys(), ...(this.changes ? this.changes.keys() : [])])].sort((a, b) => a - b);
	}

	private compare() {
		const { app } = this, c = app.profile.comparison, changes = app.changes(), notes: string[] = [];
		const isBefore = this.file >= 0 && app.profile.sourceState(this.file) === SourceState.Before;
		this.changes = changes && new Map();
		this.unpaired.clear();
		if (c && changes) {
			notes.push(this.editedText(this.compareLines(c, changes, isBefore ? c.frameBefore : c.frameAfter)));
			notes.push(isBefore ? "" : this.goneText(c, this.goneLines(c, changes)));
		}
		this.changeHead.hidden = !changes;
		this.changeHead.textContent = changeHead(c);
		this.compared.textContent = notes.filter(Boolean).join(" ");
		this.compared.hidden = !this.compared.textContent;
	}

	// Of lines that are here. rows: of each frame its row of lines. Returns the functions whose lines cannot be told.
	private compareLines(c: Comparison, changes: Changes, rows: Uint32Array): Set<number> {
		const p = this.app.profile, edited = new Set<number>();
		const changeOf = new Map(changes.lines.map((change) => [change.id, change]));
		rows.forEach((row, frame) => {
			const change = changeOf.get(row);
			if (p.functionFile[p.frameFunction[frame]] !== this.file || !change)
				return;
			if (c.lines[row].isUnpaired)
				edited.add(c.lines[row].subject);
			(c.lines[row].isUnpaired ? this.unpaired : this.changes!).set(p.frameLine[frame], change);
		});
		return edited;
	}

	// Their numbers are those of another text.
	private goneLines(c: Comparison, changes: Changes): Sides[] {
		const p = this.app.profile;
		return changes.lines.filter((change) => {
			const row = change.id < 0 ? null : c.lines[change.id];
			return row && !change.own && change.before && !row.isUnpaired && c.frameAfter[row.subject] !== change.id &&
				c.fileAfter[p.functionFile[p.frameFunction[row.subject]]] === this.file;
		});
	}

	private editedText(functions: Set<number>): string {
		const names = [...functions].map((fn) => this.app.profile.functionName(fn));
		const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
		return names.length ? `Lines cannot be told in ${names.slice(0, 3).join(", ")}${more}, which changed: see the functions.` : "";
	}

	private goneText(c: Comparison, lines: Sides[]): string {
		const many = lines.length > 1, gone = { before: lines.reduce((sum, line) => sum + line.before, 0), after: 0 };
		return lines.length ? `${lines.length} ${many ? "lines" : "line"} of before, with ${changeText(c, gone)} ${c.unit}, ` +
			`${many ? "are" : "is"} gone.` : "";
	}

	private lineChange(line: number): HTMLElement | null {
		if (!this.changes)
			return null;
		const whole = this.unpaired.get(line);
		if (!whole)
			return changeCell(this.app, this.changes.get(line));
		return h("span.change", { role: "gridcell", title: "The function changed, so its lines cannot be told" },
			h("span.mark", {}, "changed"));
	}

	private heaviest(): number {
		let best = 0, weight = -1;
		this.weights.forEach((entry, line) => {
			if (entry.own > weight)
				[best, weight] = [line, entry.own];
		});
		return best;
	}

	// 0 to 1, so that a tenth of the hottest line can be seen.
	private heat(line: number): number {
		const entry = this.weights.get(line);
		return entry && this.hottest ? Math.sqrt(entry.own / this.hottest) : 0;
	}

	private row(index: number): HTMLElement {
		const { app } = this, line = this.numbers[index], entry = this.weights.get(line);
		const code = h("code", {}, ...(this.parsed[index] ?? []).map((piece) =>
			piece.kind ? h(`span.py-${piece.kind}`, {}, piece.text) : piece.text));
		if (!this.lines.length && entry)
			code.append(app.profile.functionName(app.profile.lineFunction[entry.id]));
		const row = h("div.sourcerow", {}, this.lineChange(line), h("span.share.plain", { role: "gridcell" }, entry ? percent(app.share(entry.own)) : ""),
			h("span.share.plain.dim", { role: "gridcell" }, entry ? percent(app.share(entry.total)) : ""),
			h("span.number", { role: "gridcell" }, String(line)), h("span.name", { role: "gridcell" }, code));
		row.style.setProperty("--heat", this.heat(line).toFixed(3));
		return row;
	}

	focus() {
		if (this.table.hidden)
			this.code.focus();
		else
			this.list.element.focus();
	}
}
