// SPDX-License-Identifier: GPL-2.0-only
// What was recorded, where and how, and what a reader should know.
import type { App } from "./app";
import { threadWeights } from "./compute";
import { percent, h } from "./dom";

export class SummaryView {
	readonly element: HTMLElement;
	private threads = h("tbody");

	constructor(private app: App) {
		const p = app.profile;
		const facts = h("dl", {}, ...p.facts.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]));
		const notes = h("ul.notes", {}, ...p.notes.map((note) => h("li", {}, note)));
		this.element = h("section.panel.summary", { "aria-label": "Summary", tabindex: 0 }, h("h2", {}, "Summary"),
			h("div.columns", {}, h("div", {}, facts),
				h("div", {}, h("h3", {}, "What to know"),
					p.notes.length ? notes : h("p.dim", {}, "Nothing is missing, as far as the recording tells."),
					h("h3", {}, "Threads"), h("table", {},
						h("thead", {}, h("tr", {}, h("th.right", {}, "share"), h("th", {}, "thread"),
							h("th", {}, "process"), h("th.right", {}, "tid"))), this.threads))));
	}

	update() {
		const { app } = this, p = app.profile, weights = threadWeights(p, app.state.event);
		const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
		this.threads.replaceChildren(...weights.slice(0, 100).map(([thread, weight]) =>
			h("tr", {}, h("td.right", {}, percent(weight / all)), h("td", {}, p.threadName(thread)),
				h("td", {}, `${p.threadProcess(thread)} ${p.pid(thread)}`), h("td.right", {}, String(p.tid(thread))))));
	}

	focus() { this.element.focus(); }
}
