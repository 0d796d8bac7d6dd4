// SPDX-License-Identifier: GPL-2.0-only
// The call tree: what calls what, or who calls what takes the time.
import type { App } from "./app";
import { changeHead } from "./changes";
import { calledFunction, callerNode, callers, type Caller, type Tree } from "./compute";
import { h, List, pathCell, percent } from "./dom";
import { changeCell, shareCell, swatch } from "./functions";
import { NOBODY } from "./state";

interface Row {
	depth: number;
	fn: number;
	name: string;
	place: string;
	own: number;
	total: number;
	// A node of the tree, or callers of what the row above is.
	node: number;
	caller: Caller | null;
	isOpen: boolean;
	isLeaf: boolean;
}

export class TreeView {
	readonly element: HTMLElement;
	private rows: Row[] = [];
	private list: List;
	private shown: unknown = null;
	private begin = "";
	private invert: HTMLButtonElement;
	// Whose callers are shown, and the way back to those of all.
	private called = h<HTMLButtonElement>("button.toggle.callersof", { type: "button", title: "Show the callers of all functions",
		onclick: () => this.app.set({ callers: -1 }) });
	private said = h("span.hint");
	private changeHead = h("span.change");

	constructor(private app: App) {
		this.list = new List({ label: "Call tree", role: "treegrid", row: (i) => this.row(i),
			onSelect: (i) => app.set({ fn: this.functionOf(this.rows[i]) }, true), onOpen: (i) => this.toggle(i),
			onKey: (i, key) => this.key(i, key) });
		this.invert = h<HTMLButtonElement>("button.toggle", { type: "button", title: "Callers below what they call (i)",
			onclick: () => app.set({ invert: !app.state.invert, callers: -1 }) }, "Inverted");
		this.element = h("section.panel.tree", { "aria-label": "Call tree" }, h("h2", {}, "Call tree", this.invert, this.called, this.said,
			h("span.hint", {}, "→ opens, ← closes, * opens all below")),
			h("div.head", {}, this.changeHead, h("span.share", {}, "total"), h("span.share", {}, "own"),
				h("span.name", {}, "function")),
			this.list.why, this.list.element);
	}

	private functionOf(row: Row) { return row.fn < this.app.profile.functionCount ? row.fn : NOBODY; }

	private nodeRow(tree: Tree, node: number, depth: number): Row {
		return { depth, fn: tree.fn[node], name: tree.name(node), place: tree.place(node), own: tree.own[node],
			total: tree.total[node], node, caller: null, isOpen: false, isLeaf: !tree.hasChildren(node) };
	}

	private callerRow(tree: Tree, caller: Caller, depth: number): Row {
		const node = caller.nodes[0];
		return { depth, fn: caller.fn, name: tree.name(node), place: tree.place(node), own: depth ? 0 : caller.nodes.reduce((own, at) => own + tree.own[at], 0),
			total: caller.weight, node, caller, isOpen: false,
			isLeaf: caller.nodes.every((at) => !callerNode(tree, caller, at)) };
	}

	// Callers below what they call are those of one recording.
	private isCompared(): boolean { return !this.app.state.invert && this.app.tree().was !== null; }

	private first(tree: Tree): Row[] {
		const { callers: fn } = this.app.state, called = calledFunction(tree, tree.comparison?.same[fn] ?? fn);
		return called ? [this.callerRow(tree, called, 0)] : [];
	}

	private below(row: Row | null): Row[] {
		const tree = this.app.tree(), depth = row ? row.depth + 1 : 0;
		if (!row && this.app.state.callers >= 0)
			return this.first(tree);
		if (this.app.state.invert)
			return callers(tree, row ? row.caller : null).map((caller) => this.callerRow(tree, caller, depth));
		return tree.children(row ? row.node : 0).map((node) => this.nodeRow(tree, node, depth));
	}

	private toggle(index: number) {
		const row = this.rows[index];
		if (row.isLeaf)
			return;
		row.isOpen = !row.isOpen;
		if (row.isOpen) {
			this.rows.splice(index + 1, 0, ...this.below(row));
		} else {
			let end = index + 1;
			while (end < this.rows.length && this.rows[end].depth > row.depth)
				end++;
			this.rows.splice(index + 1, end - index - 1);
		}
		this.list.show(this.rows.length, index);
	}

	// The way that most of the time takes.
	private openHeaviest(index: number) {
		const first = this.rows[index].depth;
		for (let at = index; at < this.rows.length && (at === index || this.rows[at].depth > first) && at < index + 200; at++) {
			const row = this.rows[at];
			if (!row.isOpen && !row.isLeaf && this.app.share(row.total) >= 0.05)
				this.toggle(at);
		}
		this.list.show(this.rows.length, index);
	}

	private key(index: number, key: string): boolean {
		const row = this.rows[index];
		if (key === "ArrowRight" && !row.isOpen && !row.isLeaf)
			this.toggle(index);
		else if (key === "ArrowRight" && row.isOpen)
			this.list.select(index + 1);
		else if (key === "ArrowLeft" && row.isOpen)
			this.toggle(index);
		else if (key === "ArrowLeft") {
			let up = index;
			while (up >= 0 && this.rows[up].depth >= row.depth)
				up--;
			this.list.select(up);
		} else if (key === "*")
			this.openHeaviest(index);
		else if (key === "o" && this.functionOf(row) >= 0)
			this.app.set({ focus: row.fn, zoom: [] });
		else
			return false;
		return true;
	}

	private row(index: number): HTMLElement {
		const row = this.rows[index], { app } = this;
		const found = app.markedFunctions();
		const indent = h("span.indent", { "aria-hidden": "true" });
		// A name is not pushed out of the view.
		indent.style.width = `min(${row.depth * 14}px, max(0px, 100% - 12em))`;
		const twisty = h(`button.twisty${row.isLeaf ? ".leaf" : ""}`, { type: "button", tabindex: -1,
			"aria-label": row.isOpen ? "Close" : "Open", onclick: (event: Event) => {
				event.stopPropagation();
				this.toggle(index);
			} }, row.isLeaf ? "" : row.isOpen ? "▾" : "▸");
		const isHit = found && row.fn < found.length && found[row.fn];
		return h("div.treerow", { "aria-level": row.depth + 1,
			"aria-expanded": row.isLeaf ? null : String(row.isOpen) },
			this.isCompared() && changeCell(app, app.tree().change(row.node)), shareCell(app.share(row.total)),
			h("span.share.plain", { role: "gridcell" }, percent(app.share(row.own))),
			h("span.name", { role: "gridcell" }, indent, twisty, swatch(app, row.fn),
				h(`span.symbol${isHit ? ".hit" : ""}`, {}, row.name), pathCell("place", row.place)));
	}

	update() {
		const { app } = this, { invert, callers: called } = app.state, tree = app.tree(), begin = `${invert} ${called}`;
		this.invert.setAttribute("aria-pressed", String(invert));
		this.called.hidden = called < 0;
		this.changeHead.hidden = !this.isCompared();
		this.changeHead.textContent = changeHead(app.profile.comparison);
		if (this.shown !== tree || this.begin !== begin) {
			this.shown = tree;
			this.begin = begin;
			this.rows = this.below(null);
			this.list.show(this.rows.length, this.rows.length ? 0 : -1, app.whyNoSamples());
			if ((!invert || called >= 0) && this.rows.length)
				this.openHeaviest(0);
			this.showCalled();
		} else {
			this.list.show(this.rows.length, this.list.selected, app.whyNoSamples());
		}
	}

	private showCalled() {
		const { callers: fn } = this.app.state;
		this.called.replaceChildren(fn < 0 ? "" : `Callers of ${this.app.profile.functionName(fn)}`,
			h("span.cross", { "aria-hidden": "true" }, " ×"));
		this.said.textContent = fn >= 0 && !this.rows.length ? "It is in no stack that is shown." : "";
	}

	focus() { this.list.element.focus(); }
}
