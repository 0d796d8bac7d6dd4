// SPDX-License-Identifier: GPL-2.0-only
// What was recorded, where and how, and what a reader should know.
import type { App } from "./app";
import { taskWeights, threadWeights } from "./compute";
import { percent, h } from "./dom";

export class SummaryView {
	readonly element: HTMLElement;
	private threads = h("tbody");
	private tasks = h("tbody");
	private taskPart = h("div.tasks", {}, h("h3", {}, "Tasks of asyncio"), h("table", {},
		h("thead", {}, h("tr", {}, h("th.right", {}, "share"), h("th", {}, "task"))), this.tasks));

	constructor(private app: App) {
		const p = app.profile;
		const facts = h("dl", {}, ...p.facts.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]));
		const notes = h("ul.notes", {}, ...p.notes.map((note) => h("li", {}, note)));
		this.element = h("section.panel.summary", { "aria-label": "Summary", tabindex: 0 }, h("h2", {}, "Summary"),
			h("div.columns", {}, h("div", {}, facts),
				h("div", {}, h("h3", {}, "What to know"),
					p.notes.length ? notes : h("p.dim", {}, "Nothing is missing, as far as the recording tells."),
					this.taskPart, h("h3", {}, "Threads"), h("table", {},
						h("thead", {}, h("tr", {}, h("th.right", {}, "share"), h("th", {}, "thread"),
							h("th", {}, "process"), h("th.right", {}, "tid"))), this.threads))));
	}

	update() {
		const { app } = this, p = app.profile, weights = threadWeights(p, app.state.event);
		const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
		this.threads.replaceChildren(...weights.slice(0, 100).map(([thread, weight]) =>
			h("tr", {}, h("td.right", {}, percent(weight / all)), h("td", {}, p.threadName(thread)),
				h("td", {}, `${p.threadProcess(thread)} ${p.pid(thread)}`), h("td.right", {}, String(p.tid(thread))))));
		this.showTasks(all);
	}

	// Shares are of all samples, threads' too. One shows its samples alone.
	private showTasks(all: number) {
		const { app } = this, weights = taskWeights(app.profile, app.state.event);
		this.taskPart.hidden = !weights.length;
		this.tasks.replaceChildren(...weights.slice(0, 100).map(([fn, weight]) =>
			h("tr", {}, h("td.right", {}, percent(weight / all)), h("td", {}, h("button.link", { type: "button", title: "Only what this task did and awaited",
				onclick: () => app.set({ focus: fn, view: "functions", zoom: [] }) }, app.profile.taskName(fn) || "without a name, or not read")))));
	}

	focus() { this.element.focus(); }
}
