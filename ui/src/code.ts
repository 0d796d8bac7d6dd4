// SPDX-License-Identifier: GPL-2.0-only
// The instructions of a function in C with what each weighs: what `kaa annotate` shows, of the whole recording.
import type { App } from "./app";
import { NONE, type CodeRow } from "./data";
import { h, List, percent } from "./dom";
import { HeatMap, hotRow } from "./heat";

export class CodeTable {
	readonly element: HTMLElement;
	readonly list: List;
	private map: HeatMap;
	private rows: CodeRow[] = [];
	private weights: number[] = [];
	private all = 0;
	private hottest = 0;
	private code = -1;
	private fn = -1;
	private shownRow = -1;
	// Of the rows whose code is inlined; where no row's is, there is no such column.
	private inlinedHead = h("span.inlined", {}, "inlined function");

	constructor(private app: App) {
		this.list = new List({ label: "Instructions", role: "grid", row: (i) => this.row(i),
			onSelect: (i) => app.set({ line: i + 1 }, true), onKey: (i, key) => this.key(i, key) });
		this.map = new HeatMap(this.list, () => this.rows.map((_, i) => this.heat(i)));
		this.element = h("div.codetable", {}, h("div.head", {}, h("span.share", {}, "own"), h("span.address", {}, "address"),
			h("span.name", {}, "instruction"), this.inlinedHead), h("div.withmap", {}, this.list.element, this.map.element));
	}

	// A listing of the page, or -1.
	update(code: number) {
		const { app } = this, p = app.profile, isNew = code !== this.code || app.state.fn !== this.fn;
		this.element.hidden = code < 0;
		if (code >= 0 && code !== this.code)
			this.rows = p.codeRows(code);
		this.code = code;
		this.fn = app.state.fn;
		if (code < 0)
			return;
		this.inlinedHead.hidden = !this.rows.some((row) => this.inlined(row));
		this.all = app.selection().everything;
		this.weights = this.rows.map((row) => row.weights.get(app.state.event) ?? 0);
		this.hottest = this.weights.reduce((most, weight) => Math.max(most, weight), 0);
		const wanted = app.state.line || (isNew ? this.hottestRow() + 1 : 0);
		const index = wanted <= this.rows.length ? wanted - 1 : -1;
		this.list.show(this.rows.length, index >= 0 ? index : isNew ? -1 : this.list.selected);
		if (index >= 0 && (isNew || wanted !== this.shownRow))
			requestAnimationFrame(() => this.list.reveal(index, true));
		this.shownRow = wanted;
		this.map.draw();
	}

	private key(at: number, key: string): boolean {
		if (key !== "n" && key !== "N")
			return false;
		this.list.select(hotRow(this.weights, this.hottest, at, key === "n"));
		return true;
	}

	// The name of the inlined function that has the row; "": it is the listing's own.
	private inlined({ fn }: CodeRow): string {
		const p = this.app.profile;
		return fn === NONE || fn === p.codeFunction[this.code] ? "" : p.functionName(fn);
	}

	// Of the function that is looked at, if it is inlined here.
	private hottestRow(): number {
		const own = this.weights.map((weight, i) => this.rows[i].fn === this.fn ? weight : 0);
		const most = own.reduce((one, other) => Math.max(one, other), 0);
		return most ? own.indexOf(most) : this.weights.indexOf(this.hottest);
	}

	private heat(row: number): number {
		return this.hottest ? Math.sqrt(this.weights[row] / this.hottest) : 0;
	}

	private row(index: number): HTMLElement {
		const { label, text, isGap } = this.rows[index], inlined = this.inlined(this.rows[index]);
		const row = h("div.sourcerow", {}, h("span.share.plain", { role: "gridcell" }, percent(this.all ? this.weights[index] / this.all : 0)),
			h("span.address", { role: "gridcell" }, isGap ? "…" : label),
			h("span.name", { role: "gridcell" }, isGap ? h("span.dim", {}, text) : h("code", {}, text.replace(/\t/g, " "))),
			!this.inlinedHead.hidden && h("span.inlined", { role: "gridcell", title: inlined }, inlined));
		row.style.setProperty("--heat", this.heat(index).toFixed(3));
		return row;
	}

	focus() { this.list.element.focus(); }
}
