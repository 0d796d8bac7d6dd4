// SPDX-License-Identifier: GPL-2.0-only
// What changed since the recording that this one is compared with: by function, and by line.
import type { Selection } from "./compute";
import { NONE, Profile, type Comparison } from "./data";

// Of each stack the one that ends with its innermost frame that is shown, and with that of Python; -1: none.
export interface Innermost {
	inner: Int32Array;
	python: Int32Array;
}

// Before and after, in the unit of the comparison, and what chance does, as far as it is known.
export interface Sides {
	before: number;
	after: number;
	off?: number;
	mark?: string;
}

export interface Change extends Sides {
	// A function, or a row of Comparison.lines; -1: no Python code.
	id: number;
	// Of the recording that is shown.
	own: number;
	total: number;
	// Of all samples; NaN and "": not known. Values are own time.
	off: number;
	mark: string;
	// So many functions are one, since they cannot be told apart.
	functions: number;
}

export class Changes {
	readonly functions: Change[];
	readonly lines: Change[];
	// What all samples that are selected weighed.
	readonly allBefore: number;
	readonly allAfter: number;

	constructor(private profile: Profile, readonly of: Comparison, private selection: Selection, private shown: Innermost) {
		this.functions = this.compareFunctions();
		this.lines = this.compareLines();
		const sum = (key: "before" | "after") => this.functions.reduce((all, change) => all + change[key], 0);
		this.allBefore = sum("before");
		this.allAfter = sum("after");
	}

	private compareFunctions(): Change[] {
		const p = this.profile, { same, functionRows } = this.of, { inner } = this.shown;
		const owner = (stack: number) => inner[stack] < 0 ? -1 : same[p.fn[inner[stack]]];
		return this.compare(p.functionCount, owner, owner, (stack) => inner[stack] === stack ? same[p.fn[stack]] : -1,
			(id) => functionRows.get(id));
	}

	private compareLines(): Change[] {
		const p = this.profile, { frameBefore, frameAfter, lines } = this.of, { python } = this.shown;
		const row = (rows: Uint32Array) => (stack: number) => {
			const at = python[stack] < 0 ? NONE : rows[p.frame[python[stack]]];
			return at === NONE || lines[at].subject === NONE ? -1 : at;
		};
		const after = row(frameAfter), nobody = lines.findIndex((line) => line.subject === NONE);
		return this.compare(lines.length, row(frameBefore), after, (stack) => python[stack] === stack ? after(stack) : -1,
			(id) => id < 0 ? nobody : id, this.of.lines);
	}

	private compare(count: number, before: (stack: number) => number, after: (stack: number) => number,
		of: (stack: number) => number, rowOf: (id: number) => number | undefined, rows = this.of.functions): Change[] {
		const { selection } = this, { scaleBefore, scaleAfter } = this.of;
		const own = new Float64Array(count + 1), was = new Float64Array(count + 1), total = this.totals(count, of);
		const at = (id: number) => id < 0 ? count : id;
		selection.own.forEach((weight, stack) => weight && (own[at(after(stack))] += weight));
		selection.eachBefore((stack, weight) => was[at(before(stack))] += weight);
		total[count] = own[count];
		const list: Change[] = [];
		for (let i = 0; i <= count; i++) {
			if (!own[i] && !was[i] && !total[i])
				continue;
			const id = i < count ? i : -1, row = rowOf(id), known = row === undefined || row < 0 ? null : rows[row];
			list.push({ id, own: own[i], total: total[i], before: was[i] * scaleBefore, after: own[i] * scaleAfter,
				off: known ? known.off : NaN, mark: known ? known.mark : "", functions: known ? known.functions : 1 });
		}
		return list.sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before) || b.own - a.own || a.id - b.id);
	}

	// A sample counts once for each that is in its stack.
	private totals(count: number, of: (stack: number) => number): Float64Array {
		const p = this.profile, { selection } = this;
		const totals = new Float64Array(count + 1), open = new Int32Array(count), path: number[] = [];
		for (let i = 0; i < p.stackCount; i++) {
			if (!selection.total[i]) {
				i = p.end[i] - 1;
				continue;
			}
			while (path.length && p.end[path[path.length - 1]] <= i) {
				const left = of(path.pop()!);
				if (left >= 0)
					open[left]--;
			}
			const id = of(i);
			if (id >= 0 && open[id]++ === 0)
				totals[id] += selection.total[i];
			path.push(i);
		}
		return totals;
	}
}

// As printf() rounds: what is in the middle goes to the even side.
export function fixed(value: number, decimals: number): string {
	const text = value.toFixed(decimals), digits = Math.abs(value).toFixed(Math.min(100, decimals + 60));
	const point = digits.indexOf("."), rest = digits.slice(point + 1 + decimals);
	if (!/^50*$/.test(rest))
		return text;
	const cut = digits.slice(0, point + 1 + decimals).replace(/\.$/, "");
	return Number(cut[cut.length - 1]) % 2 ? text : cut;
}

const amountOf = (c: Comparison, value: number) => fixed(Math.abs(value) * c.factor, c.decimals);

// "+70.0", as kaa diff has it.
export function changeText(c: Comparison, change: Sides): string {
	const value = change.after - change.before;
	return `${value < 0 ? "-" : "+"}${amountOf(c, value)}`;
}

// The head of a column.
export const changeHead = (c: Comparison | null) => c?.unit ? `change, ${c.unit}` : "change";

// "gone: 50.0 ms before; ± 12.5"
export function changeWords(c: Comparison, change: Sides, isAll = false): string {
	const unit = c.unit ? ` ${c.unit}` : "";
	const sides = !change.before ? `new: ${amountOf(c, change.after)}${unit}` : !change.after ?
		`gone: ${amountOf(c, change.before)}${unit} before` :
		`${amountOf(c, change.before)}${unit} before, ${amountOf(c, change.after)}${unit} after`;
	return !isAll || !change.mark ? sides : `${sides}; ± ${amountOf(c, change.off!)}${unit}: ${change.mark}`;
}
