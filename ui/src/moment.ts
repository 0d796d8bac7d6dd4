// SPDX-License-Identifier: GPL-2.0-only
// What threads have of an event in some time: for the tips of the timeline.
import type { Shown } from "./compute";
import type { Group, Profile } from "./data";

// What is counted: samples of an event in a thread (-1: in all), of those that wait for the GIL, if isForGil.
export interface Of {
	event: number;
	thread: number;
	isForGil: boolean;
}

export interface Moment {
	samples: number;
	// Of spans: as far as they reach into that time.
	weight: number;
	// Of that what each function has itself; -1: no function is shown.
	functions: Map<number, number>;
	// The sample that weighs most.
	longest: number;
}

// The first sample of the group that is not before that time.
function firstAt(profile: Profile, group: Group, time: number): number {
	let low = group.first, high = group.first + group.count;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (profile.time[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// From that time to before the other; null: nothing. Samples of a thread stand in order of time, and spans do not overlap.
export function momentOf(profile: Profile, shown: Shown, of: Of, from: number, to: number): Moment | null {
	const { time, weight, stack, spent } = profile, isSpan = profile.isSpan(of.event);
	const found: Moment = { samples: 0, weight: 0, functions: new Map(), longest: -1 };
	for (const group of profile.groups) {
		if (group.event !== of.event || (of.thread >= 0 && group.thread !== of.thread))
			continue;
		for (let i = firstAt(profile, group, from); i < group.first + group.count; i++) {
			const begin = isSpan ? time[i] - weight[i] : time[i];
			if (begin >= to)
				break;
			if (of.isForGil && !profile.isForGil(spent[i]))
				continue;
			const part = isSpan ? Math.min(time[i], to) - Math.max(begin, from) : weight[i], fn = shown.functionOf(stack[i]);
			found.samples++;
			found.weight += part;
			found.functions.set(fn, (found.functions.get(fn) ?? 0) + part);
			if (found.longest < 0 || weight[i] > weight[found.longest])
				found.longest = i;
		}
	}
	return found.samples ? found : null;
}
