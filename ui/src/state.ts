// SPDX-License-Identifier: GPL-2.0-only
// What is shown, in the address of the page: so that a link and the browser's history restore it.
import { Profile } from "./data";

export const VIEWS = ["functions", "flame", "tree", "source", "summary"] as const;
export type View = typeof VIEWS[number];

// Of `fn`: what samples have of which no frame is shown.
export const NOBODY = -2;

// ns since the first sample.
export type Range = [number, number];

// The timeline remembers so many steps.
const MAX_MAGNIFIED = 16;

export interface State {
	view: View;
	event: number;
	// Without the other events beside it.
	alone: boolean;
	// Narrow tracks for waits and the GIL in the timeline.
	lanes: boolean;
	// -1: all.
	thread: number;
	// null: all.
	range: Range | null;
	// What the timeline was magnified to, each a part of the one before; the last one is drawn. Empty: all is.
	magnified: Range[];
	search: string;
	// The function whose boxes the flame graph marks; -1: those of the search.
	mark: number;
	// Only samples with such a function in their stack; "": all.
	only: string;
	// Only samples with this function in their stack; -1: all.
	focus: number;
	// Functions whose frames are dropped from all stacks.
	hide: number[];
	native: boolean;
	// Functions of libraries; else their time is that of who called them.
	libraries: boolean;
	// Recursive calls are one frame, in graph and tree.
	merge: boolean;
	invert: boolean;
	// The inverted tree begins at this function; -1: at all that have own time.
	callers: number;
	// The flame graph is that of one thread, in order of time.
	byTime: boolean;
	// The function that is looked at, or NOBODY; -1: none.
	fn: number;
	file: number;
	// Of the file, or of the listing: there rows count.
	line: number;
	// The listing of a function in C that is shown instead of a file; -1: none.
	code: number;
	// Functions from the outermost on: the box that the flame graph begins at.
	zoom: number[];
	// "change" is "own" where nothing is compared.
	sort: "change" | "own" | "total" | "name";
}

export function initial(profile: Profile): State {
	return { view: "functions", event: profile.event, alone: false, lanes: true, thread: -1, range: null, magnified: [], search: "", mark: -1, only: "", focus: -1,
		hide: [], native: false, libraries: true, merge: false, invert: false, callers: -1, byTime: false, fn: -1, file: -1, line: 0, code: -1, zoom: [],
		sort: profile.comparison ? "change" : "own" };
}

function numberOf(words: URLSearchParams, key: string, limit: number, none: number): number {
	const text = words.get(key), value = Number(text);
	return text !== null && Number.isInteger(value) && value >= 0 && value < limit ? value : none;
}

function numbersOf(words: URLSearchParams, key: string, limit: number): number[] {
	return (words.get(key) ?? "").split(".").filter(Boolean).map(Number)
		.filter((number) => Number.isInteger(number) && number >= 0 && number < limit);
}

// In ms, whole microseconds.
function rangeOf(text: string): Range | null {
	const [from, to, ...more] = text.split("-").map((ms) => Math.round(Number(ms) * 1e3) * 1e3);
	return from >= 0 && from < to && !more.length ? [from, to] : null;
}

const textOf = (range: Range) => range.map((ns) => (ns / 1e6).toFixed(3)).join("-");

// What of a range lies in another one; null: nothing, or it is all of that.
export function partOf([from, to]: Range, [first, last]: Range): Range | null {
	const begin = Math.max(from, first), end = Math.min(to, last);
	return begin < end && end - begin < last - first ? [begin, end] : null;
}

// One step more.
export const magnifiedTo = (steps: Range[], part: Range): Range[] => [...steps, part].slice(-MAX_MAGNIFIED);

// The last step, moved by so much, as far as there is time. Those before it move along as far as they must to hold it.
export function movedBy(steps: Range[], by: number, span: number): Range[] {
	const moved: Range[] = [];
	let inner: Range | null = null;
	for (const [from, to] of [...steps].reverse()) {
		const step: number = inner ? Math.min(0, inner[0] - from) || Math.max(0, inner[1] - to) : Math.max(-from, Math.min(span - to, by));
		moved.unshift(inner = [from + step, to + step]);
	}
	return moved;
}

// As far as each is a part of the one before.
function magnifiedOf(profile: Profile, text: string): Range[] {
	const steps: Range[] = [];
	for (const word of text.split("_", MAX_MAGNIFIED)) {
		const range = rangeOf(word), part = range && partOf(range, steps[steps.length - 1] ?? [0, profile.span]);
		if (!part)
			break;
		steps.push(part);
	}
	return steps;
}

export function parse(profile: Profile, hash: string): State {
	const state = initial(profile), words = new URLSearchParams(hash.replace(/^#/, ""));
	const view = words.get("view") as View, sort = words.get("sort");
	const events = profile.events(), event = numberOf(words, "event", 65536, -1);
	state.view = VIEWS.includes(view) ? view : state.view;
	state.event = events.includes(event) ? event : events.includes(state.event) ? state.event : events[0];
	state.alone = words.has("alone");
	state.lanes = !words.has("nolanes");
	state.thread = numberOf(words, "thread", profile.threadCount(), -1);
	state.range = rangeOf(words.get("range") ?? "");
	state.magnified = magnifiedOf(profile, words.get("magnified") ?? "");
	state.search = words.get("search") ?? "";
	state.only = words.get("only") ?? "";
	state.focus = numberOf(words, "focus", profile.functionCount, -1);
	state.hide = [...new Set(numbersOf(words, "hide", profile.functionCount))].sort((a, b) => a - b);
	state.native = words.has("native");
	state.libraries = !profile.library || !words.has("nolibraries");
	state.merge = words.has("merge");
	state.invert = words.has("invert");
	state.callers = state.invert ? numberOf(words, "callers", profile.functionCount, -1) : -1;
	state.byTime = words.has("bytime");
	state.mark = numberOf(words, "mark", profile.functionCount, -1);
	state.fn = words.get("fn") === "none" ? NOBODY : numberOf(words, "fn", profile.functionCount, -1);
	state.file = numberOf(words, "file", profile.fileCount, -1);
	state.line = numberOf(words, "line", 1e9, 0);
	state.code = numberOf(words, "code", profile.codeFunction.length, -1);
	// One more: the box of what has no frame.
	state.zoom = numbersOf(words, "zoom", profile.functionCount + 1);
	state.sort = sort === "total" || sort === "name" || sort === "own" ? sort : state.sort;
	return state;
}

export function format(profile: Profile, state: State): string {
	const words = new URLSearchParams(), first = initial(profile);
	const put = (key: string, value: string | number, isWanted: boolean) => isWanted && words.set(key, String(value));
	put("view", state.view, state.view !== first.view);
	put("event", state.event, state.event !== first.event);
	put("alone", "", state.alone);
	put("nolanes", "", !state.lanes);
	put("thread", state.thread, state.thread >= 0);
	if (state.range)
		words.set("range", textOf(state.range));
	put("magnified", state.magnified.map(textOf).join("_"), state.magnified.length > 0);
	put("search", state.search, state.search !== "");
	put("only", state.only, state.only !== "");
	put("focus", state.focus, state.focus >= 0);
	put("hide", state.hide.join("."), state.hide.length > 0);
	put("native", "", state.native);
	put("nolibraries", "", !state.libraries);
	put("merge", "", state.merge);
	put("invert", "", state.invert);
	put("callers", state.callers, state.callers >= 0);
	put("bytime", "", state.byTime);
	put("mark", state.mark, state.mark >= 0);
	put("fn", state.fn === NOBODY ? "none" : state.fn, state.fn !== -1);
	put("file", state.file, state.file >= 0);
	put("line", state.line, state.line > 0);
	put("code", state.code, state.code >= 0);
	put("zoom", state.zoom.join("."), state.zoom.length > 0);
	put("sort", state.sort, state.sort !== first.sort);
	return words.toString();
}
