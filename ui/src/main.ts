// SPDX-License-Identifier: GPL-2.0-only
// The page: a head with what is selected, the timeline, one of the views, and a line about the function looked at.
import { App } from "./app";
import { changeText, changeWords } from "./changes";
import { nobodysProcesses } from "./compute";
import { load, NONE, Profile } from "./data";
import { amount, count, h, hasModifier, isTyping, percent, period } from "./dom";
import { FlameView } from "./flame";
import { FunctionsView, spentWhole } from "./functions";
import { SourceView, whyNoCode } from "./source";
import { format, NOBODY, VIEWS, type State, type View } from "./state";
import { SummaryView } from "./summary";
import { Timeline } from "./timeline";
import { TreeView } from "./tree";

const NAMES: Record<View, string> = {
	functions: "Functions", flame: "Flame graph", tree: "Call tree", source: "Source", summary: "Summary",
};

const KEYS: [string, string][] = [
	["1 – 5", "the views"], ["/", "search"], ["n, N", "the next that is found, the one before; the next hot line"],
	["↑ ↓ ← →", "move, open, close"], ["Enter", "open the source, or the instructions; zoom into a box"],
	["Backspace, Esc", "zoom out by one box, to everything"], ["o", "only samples of this function"],
	["h", "hide this function: its callers call what it calls, and have its own time"],
	["g", "the function in the flame graph"], ["c", "C code, too"],
	["l", "libraries; without them their time is that of your function that called them"], ["i", "callers below what they call"],
	["m", "calls of a function by itself, or by what it calls, are one frame"],
	["b", "the flame graph by time, from left to right, of one thread"],
	["e", "functions in all events, side by side"],
	["w", "waits and the GIL in the timeline"],
	["t", "the timeline: ← → move the range, with Shift its end; ↑ ↓ say what a track has of it"],
	["z, Z", "magnify the timeline to the range; a step back"],
	[", .", "the magnified timeline: half of its width earlier, later; with Shift the wheel moves it"],
	["Esc", "in the timeline: drop the range; show all of time"],
	["x", "drop all filters"],
	["Alt ←", "back, by the browser's history"], ["?", "these keys"],
];

// Of samples without Python code, that are named.
const PROGRAMS_MAX = 4;

interface Part {
	element: HTMLElement;
	update(): void;
	focus(): void;
}

class Page {
	private app: App;
	private views: Record<View, Part>;
	private timeline: Timeline;
	private tabs: Record<View, HTMLButtonElement>;
	private main = h("main", { id: "main" });
	private chips = h("div.chips", { "aria-label": "Filters" });
	private details = h("footer.details", { "aria-live": "polite" });
	private search: HTMLInputElement;
	private native: HTMLButtonElement;
	private merge: HTMLButtonElement;
	private libraries = h<HTMLButtonElement>("button.toggle", { type: "button", id: "libraries",
		title: "Functions of libraries; without them their time is that of your function that called them (l)",
		onclick: () => this.toggleLibraries() }, "Libraries");
	private selected = h("span.selected", { "aria-live": "polite" });
	private events = h<HTMLSelectElement>("select", { "aria-label": "Event" });
	private sides = h<HTMLButtonElement>("button.toggle", { type: "button", id: "sides",
		title: "Functions in the other events, too (e)", onclick: () => this.toggleSides() }, "Side by side");
	private lanes = h<HTMLButtonElement>("button.toggle", { type: "button", id: "lanes",
		title: "When threads wait, and have the GIL, in the timeline (w)", onclick: () => this.toggleLanes() }, "Waits and GIL");
	private help = this.makeHelp();
	private shown: View | null = null;
	private updated: State | null = null;
	private wasSearching = false;

	constructor(private profile: Profile) {
		const app = this.app = new App(profile);
		this.views = { functions: new FunctionsView(app), flame: new FlameView(app), tree: new TreeView(app),
			source: new SourceView(app), summary: new SummaryView(app) };
		this.timeline = new Timeline(app);
		this.tabs = Object.fromEntries(VIEWS.map((view, i) => [view, this.makeTab(view, i)])) as Record<View, HTMLButtonElement>;
		this.search = h<HTMLInputElement>("input", { id: "search", type: "search", placeholder: "Search", autocomplete: "off",
			spellcheck: "false", "aria-label": "Search functions and files", title: "Search functions and files (/)",
			oninput: () => this.searched(), onkeydown: (event: KeyboardEvent) => this.searchKey(event) });
		this.native = h<HTMLButtonElement>("button.toggle", { type: "button", id: "native",
			title: "Show functions in C and the kernel (c)",
			onclick: () => app.set({ native: !app.state.native, zoom: [] }) }, "C code");
		this.merge = h<HTMLButtonElement>("button.toggle", { type: "button", id: "merge",
			title: "Recursive calls of a function are one frame (m)", onclick: () => this.toggleMerge() }, "Merge recursion");
		this.listEvents();
		document.title = profile.title;
		document.body.replaceChildren(this.makeHeader(), this.timeline.element, this.main, this.details, this.help);
		app.onChange(() => this.update());
		document.addEventListener("keydown", (event) => this.key(event));
		this.update();
	}

	private makeHeader(): HTMLElement {
		const p = this.profile;
		const facts = [p.fact("Python"), p.fact("Time"), p.fact("Samples"),
			p.comparison ? `compared with ${p.comparison.path}` : ""].filter(Boolean).join("  ·  ");
		return h("header", {}, h("div.title", {}, this.makeTitle(p.title), h("p.facts", {}, facts),
			h("button.quiet", { type: "button", title: "Keys (?)", "aria-label": "Keys",
				onclick: () => this.showHelp() }, "?")),
			h("div.bar", {}, h("div.tabs", { role: "tablist", "aria-label": "Views" }, ...VIEWS.map((view) => this.tabs[view])),
				h("div.tools", {}, this.events, this.lanes, this.sides, this.merge, this.libraries, this.native,
					h("span.searchbox", {}, this.search,
						h("button.toggle", { type: "button", id: "only",
							title: "Only samples that have it in their stack (Shift Enter)",
							onclick: () => this.onlyFound() }, "Only"))), this.chips));
	}

	// Where there is no room for all of a path, its folder is cut.
	private makeTitle(title: string): HTMLElement {
		const end = title.lastIndexOf("/") + 1;
		return h("h1", { title }, h("span.folder", {}, title.slice(0, end)), h("span", {}, title.slice(end)));
	}

	private makeTab(view: View, index: number): HTMLButtonElement {
		return h<HTMLButtonElement>("button.tab", { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "main",
			title: `${NAMES[view]} (${index + 1})`, onclick: () => this.open(view) }, NAMES[view]);
	}

	private makeHelp(): HTMLDialogElement {
		const close = () => dialog.close();
		const dialog: HTMLDialogElement = h<HTMLDialogElement>("dialog", { "aria-label": "Keys" },
			h("h2", { tabindex: -1 }, "Keys"),
			h("dl", {}, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
			h("p.dim", {}, "own: in a function, with all C code that it calls itself. " +
				"total: with the Python functions that it calls, too. " +
				"A wait counts in a range of time with the part of it that lies there."),
			h("button.toggle", { type: "button", onclick: close }, "Close"));
		return dialog;
	}

	// From its beginning on: what has the focus is in view.
	private showHelp() {
		this.help.showModal();
		this.help.querySelector("h2")!.focus();
	}

	private listEvents() {
		const events = this.profile.events();
		this.events.replaceChildren(...events.map((event) => h("option", { value: event }, this.profile.eventName(event))));
		this.events.hidden = events.length < 2;
		this.events.addEventListener("change", () => this.app.set({ event: Number(this.events.value), zoom: [] }));
	}

	// --- What is searched ------------------------------------------------------------------

	private searched() {
		// Letters of one word are one step of the history.
		this.app.set({ search: this.search.value.trim(), mark: -1 }, this.wasSearching);
		this.wasSearching = true;
	}

	private onlyFound() {
		if (this.app.state.search)
			this.app.set({ only: this.app.state.search, search: "", zoom: [] });
	}

	private searchKey(event: KeyboardEvent) {
		if (event.key === "Enter" && event.shiftKey)
			this.onlyFound();
		if (event.key === "Escape" && this.search.value)
			this.app.set({ search: "" });
		if (event.key === "Enter" || event.key === "Escape")
			this.views[this.app.state.view].focus();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	private chip(text: string, change: Partial<State>): HTMLElement {
		return h("button.chip", { type: "button", title: "Drop this filter", onclick: () => this.app.set(change) },
			h("span", {}, text), h("span.cross", { "aria-hidden": "true" }, "×"));
	}

	private showChips() {
		const { state } = this.app, p = this.profile, chips: HTMLElement[] = [];
		if (state.range)
			chips.push(this.chip(period(...state.range), { range: null }));
		if (state.thread >= 0)
			chips.push(this.chip(`thread ${p.threadTitle(state.thread)}`, { thread: -1 }));
		if (state.focus >= 0)
			chips.push(this.chip(`only ${p.functionName(state.focus)}`, { focus: -1, zoom: [] }));
		if (state.only)
			chips.push(this.chip(`only “${state.only}”`, { only: "", zoom: [] }));
		for (const fn of state.hide)
			chips.push(this.chip(`without ${p.functionName(fn)}`,
				{ hide: state.hide.filter((other) => other !== fn), zoom: [] }));
		const selection = this.app.selection();
		if (chips.length) {
			const part = selection.everything ? selection.all / selection.everything : 0;
			this.selected.textContent = `${percent(part) || "0%"} of all: ${count(selection.count)} ${selection.count === 1 ? "sample" : "samples"}, ` +
				amount(selection.all, this.app.unit());
			chips.push(this.selected);
		}
		if (this.app.whyNotCompared())
			chips.push(h("span.selected", {}, this.app.whyNotCompared()));
		this.chips.replaceChildren(...chips);
		this.chips.hidden = !chips.length;
	}

	// --- The function that is looked at -----------------------------------------------------

	private showDetails() {
		const { fn } = this.app.state, isNobody = fn === NOBODY;
		this.details.hidden = fn === -1;
		if (fn === -1)
			return;
		const change = this.changeOf(fn), spent = this.spentOf(fn);
		this.details.replaceChildren(h("div.what", {}, h("b", {}, this.app.nameOf(fn)), h("span.numbers", {}, this.weightOf(fn)),
			change && h("span.numbers", {}, change), spent && h("span.numbers", {}, `spent in ${spent}`),
			h("span.path", {}, isNobody ? this.whoseText() : this.placeOf(fn))),
		h("div.acts", {}, ...(isNobody ? this.makeActsOfNobody() : this.makeActs(fn))));
	}

	private spentOf(fn: number): string {
		const same = this.app.changes() && this.profile.comparison!.same;
		return spentWhole(this.app, this.app.functionSpent().get(fn === NOBODY ? -1 : same ? same[fn] : fn));
	}

	// "of bash 12, sleep 3", in points of a hundred; "": it is that of the only program.
	private whoseText(): string {
		const { app } = this, p = this.profile, names = new Set(Array.from({ length: p.threadCount() }, (_, i) => p.threadProcess(i)));
		const parts = names.size > 1 ? nobodysProcesses(app.selection(), app.shown()) : [];
		return parts.length ? `of ${parts.slice(0, PROGRAMS_MAX).map(([name, weight]) =>
			`${name} ${percent(app.share(weight))}`).join(", ")}${parts.length > PROGRAMS_MAX ? " and others" : ""}` : "";
	}

	private makeActsOfNobody(): HTMLElement[] {
		const { app } = this, { native, libraries, hide } = app.state;
		return [!native && libraries && !hide.length && h("button.toggle", { type: "button", title: "Show functions in C and the kernel (c)",
			onclick: () => app.set({ native: true, zoom: [] }) }, "C code"), this.closeButton()].filter((one): one is HTMLElement => !!one);
	}

	private closeButton(): HTMLElement {
		return h("button.quiet", { type: "button", "aria-label": "Close", onclick: () => this.app.set({ fn: -1 }, true) }, "×");
	}

	private hasFile(fn: number): boolean { return this.profile.isPython(fn) && this.profile.functionFile[fn] !== NONE; }

	// Of a function in C without a listing that there is none, too.
	private placeOf(fn: number): string {
		const p = this.profile;
		if (this.hasFile(fn))
			return `${p.filePath(p.functionFile[fn])}:${p.functionLine[fn]}`;
		return [p.object(fn), p.isPython(fn) || p.codeOf(fn) >= 0 ? "" : whyNoCode(p, fn)].filter(Boolean).join(": ");
	}

	private weightOf(fn: number): string {
		const { app } = this, entry = app.functions().find((one) => one.id === (fn === NOBODY ? -1 : fn));
		if (entry)
			return `own ${percent(app.share(entry.own)) || "0%"} (${amount(entry.own, app.unit())}), ` +
				`total ${percent(app.share(entry.total))} (${amount(entry.total, app.unit())})`;
		return fn < 0 ? "not in this selection" : app.state.hide.includes(fn) ? "hidden" : app.isLeftOut(fn) ? "libraries are not shown (l)" :
			this.profile.isPython(fn) || app.state.native ? "not in this selection" : "C code is not shown (c)";
	}

	private changeOf(fn: number): string {
		const { app } = this, c = this.profile.comparison, change = app.changes()?.functions.find((one) => (fn < 0 ? -1 : c!.same[fn]) === one.id);
		return change ? `${changeText(c!, change)} ${c!.unit} (${changeWords(c!, change, app.isAll())})` : "";
	}

	private makeActs(fn: number): (HTMLElement | null)[] {
		const { app } = this, text = app.textOf(fn);
		const button = (word: string, key: string, onclick: () => void) =>
			h("button.toggle", { type: "button", title: key ? `${word} (${key})` : word, onclick }, word);
		const act = (word: string, key: string, change: Partial<State>) => button(word, key, () => app.set(change));
		return [text && act(this.hasFile(fn) ? "Source" : "Instructions", "Enter", text),
			act("Only this", "o", { focus: fn, zoom: [] }),
			button("Hide", "h", () => app.hide(fn)),
			button("In the graph", "g", () => app.markInGraph(fn)),
			act("Callers", "", { view: "tree", invert: true, callers: fn }),
			this.closeButton()];
	}

	// --- All of it --------------------------------------------------------------------------

	private toggleMerge() { this.app.set({ merge: !this.app.state.merge, zoom: [] }); }

	private toggleLibraries() { this.app.set({ libraries: !this.app.state.libraries, zoom: [] }); }

	private toggleLanes() { this.app.set({ lanes: !this.app.state.lanes }); }

	private toggleSides() { this.app.set({ alone: !this.app.state.alone }); }

	private open(view: View) {
		this.app.set({ view });
		this.views[view].focus();
	}

	// Since the last update: views have nothing of it.
	private isMagnifiedAlone(): boolean {
		const [was, now] = [this.updated, this.app.state], rest = (state: State) => format(this.profile, { ...state, magnified: [] });
		this.updated = now;
		return was !== null && String(was.magnified) !== String(now.magnified) && rest(was) === rest(now);
	}

	private update() {
		if (this.isMagnifiedAlone()) {
			this.timeline.update();
			return;
		}
		const { state } = this.app, wasInside = this.main.contains(document.activeElement);
		for (const view of VIEWS) {
			this.tabs[view].setAttribute("aria-selected", String(view === state.view));
			this.tabs[view].tabIndex = view === state.view ? 0 : -1;
		}
		this.native.setAttribute("aria-pressed", String(state.native));
		this.lanes.setAttribute("aria-pressed", String(state.lanes));
		this.lanes.hidden = !this.app.lanes.length;
		this.sides.setAttribute("aria-pressed", String(!state.alone));
		this.sides.hidden = state.view !== "functions" || this.events.hidden;
		this.libraries.setAttribute("aria-pressed", String(state.libraries));
		this.libraries.hidden = !this.profile.library;
		this.merge.setAttribute("aria-pressed", String(state.merge));
		this.merge.hidden = state.view !== "flame" && state.view !== "tree";
		if (this.search.value.trim() !== state.search)
			this.search.value = state.search;
		if (!state.search)
			this.wasSearching = false;
		this.events.value = String(state.event);
		this.showChips();
		this.showDetails();
		if (this.shown !== state.view)
			this.main.replaceChildren(this.views[state.view].element);
		this.main.setAttribute("aria-labelledby", `tab-${state.view}`);
		this.shown = state.view;
		this.timeline.update();
		this.views[state.view].update();
		// What had the focus may be gone, or hidden.
		if (wasInside && !(this.main.contains(document.activeElement) && document.activeElement!.getClientRects().length))
			this.views[state.view].focus();
	}

	private moveTab(step: number) {
		const at = VIEWS.indexOf(this.app.state.view);
		const view = VIEWS[(at + step + VIEWS.length) % VIEWS.length];
		this.app.set({ view });
		this.tabs[view].focus();
	}

	private key(event: KeyboardEvent) {
		const { app } = this, { state } = app;
		if (hasModifier(event) || isTyping(event.target) || this.help.open)
			return;
		const view = VIEWS[Number(event.key) - 1];
		const isTab = (event.target as HTMLElement).getAttribute?.("role") === "tab";
		const keys: Record<string, () => void> = {
			"/": () => this.search.focus(),
			"?": () => this.showHelp(),
			c: () => app.set({ native: !state.native, zoom: [] }),
			b: () => app.set({ byTime: !state.byTime || state.view !== "flame", view: "flame" }),
			e: () => !this.events.hidden && this.toggleSides(),
			w: () => this.app.lanes.length && this.toggleLanes(),
			l: () => this.profile.library && this.toggleLibraries(),
			m: () => this.toggleMerge(),
			i: () => app.set({ invert: !state.invert, callers: -1, view: "tree" }),
			t: () => this.timeline.element.focus(),
			z: () => app.magnify(),
			Z: () => app.unmagnify(1),
			",": () => this.timeline.step(-1),
			".": () => this.timeline.step(1),
			x: () => app.set({ range: null, thread: -1, only: "", focus: -1, callers: -1, hide: [], search: "", mark: -1, zoom: [] }),
			h: () => app.hide(state.fn),
			o: () => state.fn >= 0 && app.set({ focus: state.fn, zoom: [] }),
			g: () => app.markInGraph(state.fn),
			Escape: () => (state.search || state.mark >= 0) && app.set({ search: "", mark: -1 }),
		};
		if (view)
			this.open(view);
		else if (isTab && (event.key === "ArrowRight" || event.key === "ArrowLeft"))
			this.moveTab(event.key === "ArrowRight" ? 1 : -1);
		else if (event.key in keys)
			keys[event.key]();
		else
			return;
		event.preventDefault();
	}
}

load().then((profile) => {
	new Page(profile);
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
}).catch((error: Error) => {
	document.body.replaceChildren(h("p.failed", { role: "alert" }, `This page cannot be shown: ${error.message}`));
	throw error;
});
