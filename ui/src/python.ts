// SPDX-License-Identifier: GPL-2.0-only
// Python's words in a line, for colours alone: what is wrong is merely shown as it is.

const WORDS = new Set(("and as assert async await break class continue def del elif else except finally for from global if " +
	"import in is lambda nonlocal not or pass raise return try while with yield match case None True False").split(" "));
// A comment, the quotes of a string of many lines, a string, a number, a name.
const TOKEN = new RegExp([
	/(#.*)/,
	/([rbufRBUF]{0,2}(?:"""|'''))/,
	/([rbufRBUF]{0,2}(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))/,
	/(\b\d[\w.]*\b)/,
	/([\p{XIDS}_]\p{XIDC}*)/u,
].map((part) => part.source).join("|"), "gu");

export interface Piece {
	text: string;
	kind: "" | "comment" | "string" | "number" | "word" | "name";
}

// inside: the quotes of a string that an earlier line began, or "".
export function pieces(line: string, inside: string): { pieces: Piece[]; inside: string } {
	const list: Piece[] = [];
	const put = (text: string, kind: Piece["kind"]) => text && list.push({ text, kind });
	let at = 0;
	if (inside) {
		const end = line.indexOf(inside);
		if (end < 0)
			return { pieces: [{ text: line, kind: "string" }], inside };
		at = end + 3;
		put(line.slice(0, at), "string");
	}
	let wasDef = false;
	TOKEN.lastIndex = at;
	for (let match = TOKEN.exec(line); match; match = TOKEN.exec(line)) {
		put(line.slice(at, match.index), "");
		at = TOKEN.lastIndex;
		if (match[2]) {
			const quotes = match[2].slice(-3), end = line.indexOf(quotes, at);
			if (end < 0) {
				put(line.slice(match.index), "string");
				return { pieces: list, inside: quotes };
			}
			at = TOKEN.lastIndex = end + 3;
			put(line.slice(match.index, at), "string");
		} else if (match[5]) {
			put(match[5], WORDS.has(match[5]) ? "word" : wasDef ? "name" : "");
		} else {
			put(match[0], match[1] ? "comment" : match[3] ? "string" : "number");
		}
		wasDef = match[5] === "def" || match[5] === "class";
	}
	put(line.slice(at), "");
	return { pieces: list, inside: "" };
}
