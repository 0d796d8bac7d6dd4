// SPDX-License-Identifier: GPL-2.0-only
// What kinds of functions look like. They differ in lightness and by stripes, not by hue alone.
import type { Sides } from "./changes";
import { Kind, Profile } from "./data";

const dark = matchMedia("(prefers-color-scheme: dark)");

// The word of the legend; hue, saturation, lightness in shades, of which each file has one.
export const KINDS: { word: string; shades: [number, number, number][]; striped?: boolean }[] = [];
KINDS[Kind.Program] = { word: "this program", shades: [[40, 88, 68], [33, 86, 72], [46, 84, 76], [27, 82, 77]] };
KINDS[Kind.Package] = { word: "installed packages", shades: [[206, 62, 74], [212, 56, 81], [200, 58, 69]] };
KINDS[Kind.Standard] = { word: "standard library", shades: [[168, 36, 66], [160, 32, 75], [176, 34, 71]] };
KINDS[Kind.Native] = { word: "C code", shades: [[215, 12, 80], [215, 14, 85]] };
KINDS[Kind.Allocation] = { word: "allocation", shades: [[232, 46, 82]] };
KINDS[Kind.Collector] = { word: "garbage collection", shades: [[326, 46, 74]], striped: true };
KINDS[Kind.Gil] = { word: "GIL wait", shades: [[20, 28, 64]], striped: true };
KINDS[Kind.Kernel] = { word: "kernel", shades: [[268, 42, 81]] };
KINDS[Kind.Mark] = { word: "incomplete stacks, idle", shades: [[0, 0, 76]], striped: true };

function hash(text: string): number {
	let value = 7;
	for (let i = 0; i < text.length; i++)
		value = (value * 31 + text.charCodeAt(i)) >>> 0;
	return value;
}

function hsl([hue, saturation, lightness]: [number, number, number]): string {
	return dark.matches ? `hsl(${hue} ${Math.round(saturation * 0.62)}% ${lightness - 17}%)` :
		`hsl(${hue} ${saturation}% ${lightness}%)`;
}

export const kindColour = (kind: Kind) => hsl(KINDS[kind].shades[0]);

// One beside the other.
export function inStripes(colours: string[]): string {
	const share = 100 / colours.length;
	return `linear-gradient(90deg, ${colours.map((colour, i) => `${colour} ${i * share}% ${(i + 1) * share}%`).join(", ")})`;
}

const known = new Map<number, string>();
dark.addEventListener("change", () => known.clear());

export function functionColour(profile: Profile, fn: number): string {
	let colour = known.get(fn);
	if (!colour) {
		if (fn < 0 || fn >= profile.functionCount)
			return dark.matches ? "hsl(215 8% 42%)" : "hsl(215 12% 90%)";
		const shades = KINDS[profile.functionKind[fn]].shades;
		colour = hsl(shades[hash(profile.place(fn).replace(/:\d+$/, "")) % shades.length]);
		known.set(fn, colour);
	}
	return colour;
}

let canvas: CanvasRenderingContext2D | null = null;
const parsed = new Map<string, number[]>();

// Red, green and blue of any colour of CSS without transparency.
function rgb(colour: string): number[] {
	let parts = parsed.get(colour);
	if (!parts) {
		canvas ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
		canvas.fillStyle = colour;
		// "#rrggbb".
		parts = [1, 3, 5].map((at) => parseInt(String(canvas!.fillStyle).slice(at, at + 2), 16));
		parsed.set(colour, parts);
	}
	return parts;
}

// Of WCAG 2: 0 is black, 1 white.
function luminance(parts: number[]): number {
	const [red, green, blue] = parts.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: number[], other: number[]): number {
	const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
	return (light + 0.05) / (dark + 0.05);
}

// On the last two any text can be read.
const TEXTS = ["#14181d", "#e6edf3", "#000000", "#ffffff"], MIN_CONTRAST = 4.6;
const texts = new Map<string, string>();

// Of a text on a box, through which some of what is behind it is seen.
export function textColour(box: string, alpha: number, back: string): string {
	const key = `${box} ${alpha} ${back}`;
	let text = texts.get(key);
	if (!text) {
		const behind = rgb(back), seen = rgb(box).map((part, i) => part * alpha + behind[i] * (1 - alpha));
		text = TEXTS.find((one) => contrast(rgb(one), seen) >= MIN_CONTRAST) ??
			TEXTS.reduce((best, one) => contrast(rgb(one), seen) > contrast(rgb(best), seen) ? one : best);
		texts.set(key, text);
	}
	return text;
}

// Red: more than before; blue: less; the stronger, the greater the change of what it was. They differ for all who see colours
// differently, too, and in lightness from what is as before.
export function changeColour({ before, after }: Sides): string {
	const change = (after - before) / Math.max(after, before, 1e-12), strength = Math.min(1, Math.abs(change) * 1.5);
	const hue = change > 0 ? 8 : 212, most = dark.matches ? 55 : 75, light = dark.matches ? 66 : 90;
	const saturation = Math.round((dark.matches ? 8 : 15) + most * strength);
	return `hsl(${hue} ${saturation}% ${Math.round(light - (dark.matches ? 8 : 28) * strength)}%)`;
}

export const isDark = () => dark.matches;
export const onTheme = (act: () => void) => dark.addEventListener("change", act);
// A colour of the style sheet.
export const variable = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
