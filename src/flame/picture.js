// SPDX-License-Identifier: GPL-2.0-only
// Zoom and search in the picture of `kaa flamegraph -o x.svg`, which stands without it, too.
(() => {
"use strict";

const svg = document.documentElement;
const WIDTH = svg.viewBox.baseVal.width, CHARACTER = 6.7;
const by = (id) => document.getElementById(id);
// x and width are in pixels of the picture as it was drawn.
const boxes = Array.from(by("boxes").children, (g) => ({
	g, rect: g.querySelector("rect"), text: g.querySelector("text"),
	name: g.querySelector("title").textContent.split("\n")[0],
	x: Number(g.dataset.x), width: Number(g.dataset.w), row: Number(g.dataset.row),
}));
const all = boxes[0];

function write(box, x, width) {
	const room = Math.floor((width - 6) / CHARACTER);
	box.rect.setAttribute("x", x);
	box.rect.setAttribute("width", Math.max(width - 0.5, 0.3));
	box.text.setAttribute("x", x + 3);
	box.text.textContent = room < 3 ? "" : box.name.length <= room ? box.name :
		box.name.slice(0, room - 1) + "\u2026";
}

function zoom(to) {
	const scale = WIDTH / to.width, small = 1e-6;
	for (const box of boxes) {
		const holds = box.x <= to.x + small && box.x + box.width >= to.x + to.width - small;
		const isCaller = box.row < to.row && holds;
		const isInside = box.row >= to.row && box.x >= to.x - small &&
			box.x + box.width <= to.x + to.width + small;
		box.g.style.display = isCaller || isInside ? "" : "none";
		box.g.classList.toggle("caller", isCaller);
		if (isCaller)
			write(box, 0, WIDTH);
		else if (isInside)
			write(box, (box.x - to.x) * scale, box.width * scale);
	}
}

// Below a box that is found no other adds to the sum.
function search(word) {
	const found = [];
	for (const box of boxes) {
		const isFound = word !== "" && box !== all && box.name.toLowerCase().includes(word);
		box.g.classList.toggle("found", isFound);
		box.g.classList.toggle("faint", word !== "" && !isFound);
		if (isFound)
			found.push(box);
	}
	const outermost = found.filter((box) => !found.some((other) => other.row < box.row &&
		other.x <= box.x + 1e-6 && other.x + other.width >= box.x + box.width - 1e-6));
	const share = outermost.reduce((sum, box) => sum + box.width, 0) / WIDTH;
	by("found").textContent = word === "" ? "" : found.length === 0 ? "nothing found" :
		`${(share * 100).toFixed(1)} % in ${found.length} boxes`;
}

function ask() {
	const word = prompt("Function or file to look for (nothing: end the search)", "");
	if (word !== null)
		search(word.trim().toLowerCase());
}

function listen() {
	for (const box of boxes) {
		box.g.setAttribute("tabindex", "0");
		box.g.addEventListener("click", () => zoom(box));
		box.g.addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				zoom(box);
		});
	}
	document.addEventListener("keydown", (event) => {
		if (event.key === "Escape")
			zoom(all);
		if (event.key === "/") {
			event.preventDefault();
			ask();
		}
	});
	by("search").addEventListener("click", ask);
	by("out").addEventListener("click", () => zoom(all));
	by("tools").style.display = "";
}

listen();
})();
