// SPDX-License-Identifier: GPL-2.0-only
// The state of the page, and what is computed of it once.
import { Changes } from "./changes";
import { allCodes, findFunctions, findLanes, Selection, Shown, stacksWith, Tree, type Entry, type Lane } from "./compute";
import { NONE, type Profile } from "./data";
import { format, magnifiedTo, movedBy, NOBODY, parse, partOf, type Range, type State } from "./state";

// So many other events fit beside the one that is shown.
const MAX_SIDES = 4;

// What functions weigh in an event that is shown beside the selected one.
export interface Side {
	event: number;
	all: number;
	entries: Map<number, Entry>;
}

// What own time was spent in, the heaviest first, by function or line; -1: no Python code.
export type Spent = Map<number, [number, number][]>;

export class App {
	state: State;
	readonly lanes: Lane[];
	private listeners: (() => void)[] = [];
	private selections = new Map<string, Selection>();
	private showns = new Map<string, Shown>();
	private trees = new Map<string, Tree>();
	private functionEntries = new Map<string, Entry[]>();
	private lineEntries = new Map<string, Entry[]>();
	private sideEntries = new Map<string, Side[]>();
	private codeSums = new Map<string, Float64Array>();
	private changesOf = new Map<string, Changes>();
	private functionSpents = new Map<string, Spent>();
	private lineSpents = new Map<string, Spent>();
	private searched = "";
	private hits: Uint8Array | null = null;

	constructor(readonly profile: Profile) {
		this.state = parse(profile, location.hash);
		this.lanes = findLanes(profile);
		addEventListener("popstate", () => this.restore());
		addEventListener("hashchange", () => this.restore());
	}

	private restore() {
		const state = parse(this.profile, location.hash);
		if (format(this.profile, state) === format(this.profile, this.state))
			return;
		this.state = state;
		this.tell();
	}

	onChange(act: () => void) { this.listeners.push(act); }
	tell() { this.listeners.forEach((act) => act()); }

	// A step that can be undone by the browser's back button, unless it goes on with the last one.
	set(change: Partial<State>, isSame = false) {
		this.state = { ...this.state, ...change };
		const hash = `#${format(this.profile, this.state)}`;
		if (hash !== (location.hash || "#"))
			history[isSame ? "replaceState" : "pushState"](null, "", hash);
		this.tell();
	}

	// The text of a function: its file, or its instructions; null: the page has neither.
	textOf(fn: number): Partial<State> | null {
		const p = this.profile, code = p.codeOf(fn);
		if (p.isPython(fn) && p.functionFile[fn] !== NONE)
			return { view: "source", file: p.functionFile[fn], line: p.functionLine[fn], code: -1 };
		return code >= 0 ? { view: "source", code, line: 0 } : null;
	}

	// A range of time: whole microseconds, as the address of the page has them.
	setRange(from: number, to: number, change: Partial<State> = {}, isSame = false) {
		this.set({ ...change, range: [Math.floor(from / 1e3) * 1e3, Math.ceil(to / 1e3) * 1e3] }, isSame);
	}

	// What the timeline draws.
	drawnTime(): Range {
		const { magnified } = this.state;
		return magnified[magnified.length - 1] ?? [0, this.profile.span];
	}

	// What the timeline can be magnified to; null: nothing of what it draws is selected, or all of it.
	magnifiable(): Range | null { return this.state.range && partOf(this.state.range, this.drawnTime()); }

	// A step. What is selected stays selected.
	magnify() {
		const part = this.magnifiable();
		if (part)
			this.set({ magnified: magnifiedTo(this.state.magnified, part) });
	}

	// Back by so many steps.
	unmagnify(steps: number) {
		const { magnified } = this.state;
		if (magnified.length)
			this.set({ magnified: magnified.slice(0, -steps) });
	}

	// The part that is drawn, to an earlier one (by < 0) or a later one; by: in ns.
	moveDrawn(by: number) {
		const { magnified } = this.state, moved = movedBy(magnified, by, this.profile.span);
		if (String(moved) !== String(magnified))
			this.set({ magnified: moved }, true);
	}

	// Of the samples that are selected.
	private key(): string {
		const { event, thread, range, only, focus } = this.state;
		return JSON.stringify([event, thread, range, only, focus]);
	}

	// And of which frames they are shown with.
	private shownKey(): string { return `${this.key()} ${this.framesKey()}`; }

	private framesKey(): string { return `${this.state.native} ${this.state.libraries} ${this.state.hide}`; }

	// Keeps the last two: what is looked at, and what was before it.
	private cached<T>(cache: Map<string, T>, key: string, make: () => T): T {
		let value = cache.get(key);
		if (value === undefined) {
			if (cache.size > 1)
				cache.delete(cache.keys().next().value!);
			cache.set(key, value = make());
		}
		return value;
	}

	selection(): Selection {
		return this.cached(this.selections, this.key(), () => new Selection(this.profile, this.state));
	}

	shown(): Shown {
		const { native, hide, libraries } = this.state;
		return this.cached(this.showns, this.framesKey(), () => new Shown(this.profile, native, hide, libraries));
	}

	tree(): Tree {
		const { merge, view, byTime, invert } = this.state, isInverted = view === "tree" && invert;
		// Below a library's function that is left out nothing would be shown. Callers are above the focus, too.
		const focus = this.isLeftOut(this.state.focus) || isInverted ? -1 : this.state.focus;
		// By time one thread is drawn, which the other recording does not have.
		const comparison = view === "flame" && byTime ? null : this.changes() && this.profile.comparison;
		return this.cached(this.trees, `${this.shownKey()} ${merge} ${comparison !== null} ${focus}`, () =>
			new Tree(this.selection(), this.shown(), focus, merge, this.nobody(), comparison));
	}

	functions(): Entry[] {
		return this.cached(this.functionEntries, this.shownKey(), () => this.selection().functions(this.shown()));
	}

	lines(): Entry[] {
		return this.cached(this.lineEntries, this.shownKey(), () => this.selection().lines(this.shown()));
	}

	// Functions that are compared as one are one here, too.
	functionSpent(): Spent {
		const p = this.profile, shown = this.shown(), same = this.changes() && p.comparison!.same;
		return this.cached(this.functionSpents, `${this.shownKey()} ${same !== null}`, () =>
			this.selection().spent(shown, p.functionCount, (stack) => {
				const fn = shown.functionOf(stack);
				return same && fn >= 0 ? same[fn] : fn;
			}));
	}

	lineSpent(): Spent {
		const shown = this.shown();
		return this.cached(this.lineSpents, this.shownKey(), () =>
			this.selection().spent(shown, this.profile.lineFile.length, (stack) => shown.lineOf(stack)));
	}

	// Of a listing, without any filter.
	allOfCode(code: number): number {
		const { event } = this.state;
		return this.cached(this.codeSums, String(event), () => allCodes(this.profile, event))[code];
	}

	// The other events, of the same threads, time and stacks; what changed stands in their place.
	sides(): Side[] {
		const { state, profile } = this, events = profile.events().filter((event) => event !== state.event);
		return state.alone || this.changes() ? [] :
			this.cached(this.sideEntries, this.shownKey(), () => events.slice(0, MAX_SIDES).map((event) => this.side(event)));
	}

	private side(event: number): Side {
		const selection = new Selection(this.profile, { ...this.state, event });
		const entries = new Map(selection.functions(this.shown()).map((entry) => [entry.id, entry]));
		return { event, all: selection.all, entries };
	}

	// A step: frames of that function are dropped from all stacks.
	hide(fn: number) {
		const { hide } = this.state;
		if (fn >= 0 && !hide.includes(fn))
			this.set({ hide: [...hide, fn].sort((a, b) => a - b), fn: -1, zoom: [] });
	}

	// Of a library, where these are not shown.
	isLeftOut(fn: number): boolean { return !this.state.libraries && fn >= 0 && this.profile.library?.[fn] === 1; }

	// With what is selected; null where a thread, a time or an event is meant that the other recording does not have.
	changes(): Changes | null {
		const { event, thread, range } = this.state, c = this.profile.comparison;
		if (!c || event !== c.event || thread >= 0 || range)
			return null;
		return this.cached(this.changesOf, this.shownKey(), () => new Changes(this.profile, c, this.selection(), this.shown()));
	}

	// What chance does is known of all samples.
	isAll() {
		return !this.state.native && !this.isFiltered();
	}

	// Fewer samples than all of the event, or other frames of them.
	isFiltered() {
		const { only, focus, hide, libraries, thread, range } = this.state;
		return !libraries || only !== "" || focus >= 0 || hide.length > 0 || thread >= 0 || range !== null;
	}

	whyNotCompared(): string {
		const { event, thread, range, view, byTime } = this.state, c = this.profile.comparison;
		if (!c || (this.changes() && !(view === "flame" && byTime)))
			return "";
		const why = this.changes() ? "this is one thread" : event !== c.event ? `only ${this.profile.eventName(c.event)} is` :
			range ? "a range of time is of this recording alone" : thread >= 0 ? "a thread is of this recording alone" : "";
		return `not compared with ${c.path}: ${why}`;
	}

	// A step: the boxes of that function alone are marked, and all of them are in view.
	markInGraph(fn: number) {
		if (fn >= 0)
			this.set({ view: "flame", mark: fn, search: "", zoom: [], fn });
	}

	// What the graph marks: the boxes of a function, or those that are searched.
	markedFunctions(): Uint8Array | null {
		const { mark } = this.state, same = this.profile.comparison?.same;
		if (mark < 0)
			return this.found();
		return Uint8Array.from({ length: this.profile.functionCount }, (_, fn) =>
			fn === mark || (same && same[fn] === same[mark]) ? 1 : 0);
	}

	// Why nothing is selected; "": something is.
	whyNoSamples(): string {
		const { only, range, thread, focus } = this.state, p = this.profile;
		if (this.selection().count)
			return "";
		const parts = [only && `“${only}” in its stack`, focus >= 0 && `${p.functionName(focus)} in its stack`,
			range && "a time in this range", thread >= 0 && `the thread ${p.threadTitle(thread)}`].filter(Boolean);
		return `No sample of ${p.eventName(this.state.event)} has ${parts.join(" and ")}. The key x drops all filters.`;
	}

	// Why a table has no row, if it has none.
	whyNone(): string {
		return this.whyNoSamples() || (this.state.search ? `No name and no file has “${this.state.search}”.` : "");
	}

	// Whom samples belong to of which no frame is shown.
	nobody() {
		const { hide, libraries } = this.state;
		return hide.length ? "[no frame shown]" : libraries ? "[no Python code]" : "[not in your files]";
	}

	nameOf(fn: number) { return fn === NOBODY ? this.nobody() : this.profile.functionName(fn); }

	unit() { return this.profile.unit(this.state.event); }
	share(weight: number) { return this.selection().all ? weight / this.selection().all : 0; }

	found(): Uint8Array | null {
		if (this.searched !== this.state.search)
			this.hits = findFunctions(this.profile, this.state.search);
		this.searched = this.state.search;
		return this.hits;
	}

	// Stacks that are drawn darker in the timeline: those of the search, or of the function looked at.
	marked(): Uint8Array | null {
		let functions = this.found();
		if (!functions && this.state.fn >= 0) {
			functions = new Uint8Array(this.profile.functionCount);
			functions[this.state.fn] = 1;
		}
		return functions && stacksWith(this.profile, functions);
	}
}
