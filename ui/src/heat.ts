// SPDX-License-Identifier: GPL-2.0-only
// Where in a text the heat is: a map beside its rows, and the way from one hot row to the next.
import { onTheme, variable } from "./colours";
import { fitCanvas, h, type List } from "./dom";

const WIDTH = 14;

// heats: of each row, 0 to 1.
export class HeatMap {
	readonly element = h<HTMLCanvasElement>("canvas.map", { "aria-hidden": "true" });

	constructor(private list: List, private heats: () => number[]) {
		this.element.addEventListener("click", (event) => {
			const share = event.offsetY / Math.max(1, this.element.clientHeight);
			list.reveal(Math.floor(share * heats().length), true);
		});
		new ResizeObserver(() => this.draw()).observe(list.element);
		onTheme(() => this.draw());
	}

	draw() {
		const height = this.list.element.clientHeight, heats = this.heats();
		if (!height)
			return;
		const context = fitCanvas(this.element, WIDTH, height);
		context.fillStyle = variable("--heat-colour");
		heats.forEach((heat, i) => {
			if (!heat)
				return;
			context.globalAlpha = 0.25 + 0.75 * heat;
			context.fillRect(2, i / heats.length * height, WIDTH - 4, Math.max(2, height / heats.length));
		});
	}
}

// The next row, or the one before, that has a tenth of the hottest one's weight; from the last on the first; -1: none.
export function hotRow(weights: number[], hottest: number, at: number, isForward: boolean): number {
	const hot: number[] = [];
	weights.forEach((weight, i) => hottest && weight >= hottest * 0.1 && hot.push(i));
	const next = isForward ? hot.find((row) => row > at) ?? hot[0] : [...hot].reverse().find((row) => row < at) ?? hot[hot.length - 1];
	return next ?? -1;
}
