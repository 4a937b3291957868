// Search as one types: each word of the question must begin a word of a section, of its heading or of its page's title.
"use strict";
(() => {
	const box = document.getElementById("search"), field = box.querySelector("input"), panel = box.querySelector(".found");
	const list = panel.querySelector("ul"), said = panel.querySelector("p");
	const up = document.documentElement.dataset.up, most = 15;
	let loading = false;
	box.hidden = false;

	// words of a text, as index.go has them.
	const words = text => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(w => w);
	const spaced = text => " " + words(text).join(" ") + " ";

	function load() {
		if (loading) return;
		loading = true;
		const script = document.createElement("script");
		script.src = up + "index.js";
		script.onload = () => {
			for (const p of docs.pages) p.words = spaced(p.t);
			for (const s of docs.sections) { s.head = spaced(s.h || ""); s.text = " " + s.w + " "; }
			show();
		};
		script.onerror = () => { loading = false; said.textContent = "The index did not load: try again."; };
		document.head.append(script);
	}

	// worth of a section for a word: 0 when it is nowhere in it.
	function worth(section, word) {
		const has = (text, whole, begun) => text.includes(" " + word + " ") ? whole : text.includes(" " + word) ? begun : 0;
		return has(section.head, 8, 5) + has(docs.pages[section.p].words, 6, 3) + has(section.text, 2, 1);
	}

	function find(asked) {
		const found = [];
		for (const section of docs.sections) {
			const each = asked.map(word => worth(section, word));
			if (each.every(n => n)) found.push({ section, n: each.reduce((a, b) => a + b) });
		}
		return found.sort((a, b) => b.n - a.n);
	}

	const part = (name, text) => { const e = document.createElement(name); e.textContent = text; return e; };

	function result({ section }) {
		const page = docs.pages[section.p], item = document.createElement("li"), link = document.createElement("a");
		link.href = up + page.u + (section.i ? "#" + encodeURIComponent(section.i) : "");
		link.append(part("b", section.h || page.t));
		if (section.h && section.h !== page.t) link.append(part("span", " · " + page.t));
		if (section.l) link.append(part("small", section.l));
		item.append(link);
		return item;
	}

	function show() {
		const asked = words(field.value);
		panel.hidden = !asked.length;
		if (panel.hidden) return;
		if (!globalThis.docs) { said.textContent = "Loading…"; load(); return; }
		const found = find(asked);
		said.textContent = !found.length ? "Nothing has all of these words." :
			found.length > most ? `The best ${most} of ${found.length} sections` : found.length === 1 ? "1 section" : `${found.length} sections`;
		list.replaceChildren(...found.slice(0, most).map(result));
	}

	// close ends a search; the field keeps its words.
	const close = () => { panel.hidden = true; };

	function step(event, by) {
		const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement) + by;
		event.preventDefault();
		(at < 0 ? field : links[Math.min(at, links.length - 1)] || field).focus();
	}

	field.addEventListener("focus", load);
	field.addEventListener("input", show);
	field.addEventListener("click", show);
	box.addEventListener("keydown", event => {
		if (event.key === "ArrowDown") step(event, 1);
		else if (event.key === "ArrowUp") step(event, -1);
		else if (event.key === "Enter" && event.target === field) list.querySelector("a")?.click();
		else if (event.key === "Escape") { close(); field.focus(); }
	});
	list.addEventListener("click", close);
	document.addEventListener("click", event => { if (!box.contains(event.target)) close(); });
	document.addEventListener("keydown", event => {
		if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
		event.preventDefault();
		field.focus();
	});
})();
