// SPDX-License-Identifier: GPL-2.0-only
// What threads have of an event in some time, in words: for the tips of the timeline.
import type { App } from "./app";
import type { Shown } from "./compute";
import { EventKind, type Profile } from "./data";
import { amount, count, duration, percent, period } from "./dom";
import type { Range } from "./state";

// What is counted: samples of an event in a thread (-1: in all), of those that wait for the GIL, if isForGil.
export interface Of {
	event: number;
	thread: number;
	isForGil: boolean;
}

interface Moment {
	samples: number;
	// Of spans: as far as they reach into that time.
	weight: number;
	// Of that what each function has itself; -1: no function is shown.
	functions: Map<number, number>;
	// The sample that weighs most.
	longest: number;
}

// From that time to before the other, or with moments at the other, if isClosed; null: nothing.
function momentOf(profile: Profile, shown: Shown, of: Of, [from, to]: Range, isClosed: boolean): Moment | null {
	const { until, weight, stack, spent } = profile, isSpan = profile.isSpan(of.event);
	const found: Moment = { samples: 0, weight: 0, functions: new Map(), longest: -1 };
	for (const group of profile.groupsOf(of.event, of.thread)) {
		for (let i = profile.firstAt(group, from); i < group.first + group.count; i++) {
			const begin = until[i] - (isSpan ? weight[i] : 0);
			if (begin > to || (begin === to && (isSpan || !isClosed)))
				break;
			if (of.isForGil && !profile.isForGil(spent[i]))
				continue;
			const part = isSpan ? profile.spanWithin(i, from, to) : weight[i], fn = shown.functionOf(stack[i]);
			found.samples++;
			found.weight += part;
			found.functions.set(fn, (found.functions.get(fn) ?? 0) + part);
			if (found.longest < 0 || weight[i] > weight[found.longest])
				found.longest = i;
		}
	}
	return found.samples ? found : null;
}

function functionText(app: App, fn: number): string {
	return fn < 0 ? app.nobody() : [app.profile.functionName(fn), app.profile.place(fn)].filter(Boolean).join(", ");
}

// The longest wait.
function waitLines(app: App, name: string, { longest, samples }: Moment): string[] {
	const p = app.profile, end = p.until[longest], begin = Math.max(0, end - p.weight[longest]);
	return [`${name}: ${duration(p.weight[longest])}`,
		period(begin, end) + (samples > 1 ? `, the longest of ${count(samples)} here` : ""),
		functionText(app, app.shown().functionOf(p.stack[longest])), p.spentText(p.spent[longest])];
}

// All of it, and which function has most.
function sumLines(app: App, name: string, event: number, moment: Moment, when: string): string[] {
	const { functions, samples, weight } = moment;
	const [fn, most] = [...functions].reduce((best, one) => one[1] > best[1] ? one : best);
	const part = functions.size > 1 ? `${percent(most / weight)} in ` : "";
	return [`${name}: ${amount(weight, app.profile.unit(event))}`, `${when}, ${count(samples)} ${samples > 1 ? "samples" : "sample"}`,
		part + functionText(app, fn)];
}

// Lines, the first of which begins with the name; some may be empty. isClosed: with moments at its end.
export function momentLines(app: App, name: string, of: Of, time: Range, isClosed: boolean): string[] {
	const p = app.profile, event = p.eventName(of.event), moment = momentOf(p, app.shown(), of, time, isClosed);
	if (!moment)
		return [name, `nothing from ${period(...time, "to")}`, event];
	if (p.eventKind(of.event) === EventKind.Wait)
		return [...waitLines(app, name, moment), event];
	return [...sumLines(app, name, of.event, moment, period(...time)), event];
}
