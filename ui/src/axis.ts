// SPDX-License-Identifier: GPL-2.0-only
// A line of times.
import { variable } from "./colours";
import { duration, fitCanvas } from "./dom";

// In ns since the first sample, from the canvas's left to its right.
export function drawAxis(canvas: HTMLCanvasElement, width: number, from: number, to: number) {
	const context = fitCanvas(canvas, width, 18), span = to - from || 1;
	const raw = span / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw)!;
	context.font = "11px system-ui, sans-serif";
	context.fillStyle = variable("--dim");
	context.textBaseline = "middle";
	for (let i = Math.ceil(from / step); i * step <= to; i++) {
		const at = i * step, x = (at - from) / span * width;
		context.fillRect(x, 13, 1, 5);
		const text = at ? duration(at, step).replace(/\.0*([^\d.])/, "$1").replace(/(\.\d*?)0+ /, "$1 ") : "0";
		if (x + context.measureText(text).width < width)
			context.fillText(text, x + 3, 9);
	}
}
