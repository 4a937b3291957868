package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
)

// textOf is the text of a symbol in a file, and the number of its first line: of Python a function, a class or an assignment, of C and
// C++ a function with its body, else the lines that name it. "" is the whole file. false where the file has no such symbol.
func textOf(file, text, symbol string) (string, int, bool) {
	lines := strings.Split(text, "\n")
	if symbol == "" {
		return text, 1, true
	}
	find := inC
	if path.Ext(file) == ".py" {
		find = inPython
	}
	from, to := find(lines, symbol)
	if to == 0 {
		return naming(lines, symbol)
	}
	return strings.Join(lines[from:to], "\n"), from + 1, true
}

// inPython finds the block that defines a name; 0, 0 where none does.
func inPython(lines []string, symbol string) (from, to int) {
	block := regexp.MustCompile(`^\s*(async def|def|class) ` + regexp.QuoteMeta(symbol) + `\b`)
	value := regexp.MustCompile(`^\s*` + regexp.QuoteMeta(symbol) + `\s*(:[^=]*)?=`)
	for i, l := range lines {
		switch {
		case block.MatchString(l):
			return i, blockEnd(lines, i)
		case value.MatchString(l):
			return i, balanced(lines, i)
		}
	}
	return 0, 0
}

// blockEnd is the line behind a Python block: the first that is not indented deeper than its head, once the head's brackets are closed.
func blockEnd(lines []string, head int) int {
	deep := indent(lines[head])
	for i := balanced(lines, head); i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" && indent(lines[i]) <= deep {
			return i
		}
	}
	return len(lines)
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// balanced is the line behind a statement whose brackets are all closed.
func balanced(lines []string, from int) int {
	open := 0
	for i := from; i < len(lines); i++ {
		open += strings.Count(lines[i], "(") + strings.Count(lines[i], "[") + strings.Count(lines[i], "{")
		open -= strings.Count(lines[i], ")") + strings.Count(lines[i], "]") + strings.Count(lines[i], "}")
		if open <= 0 {
			return i + 1
		}
	}
	return len(lines)
}

// inC finds a function with its body; 0, 0 where the file has none. Names may be qualified: "llama_context::output_reserve".
func inC(lines []string, symbol string) (from, to int) {
	head := regexp.MustCompile(`(^|[\s*&:])` + regexp.QuoteMeta(symbol) + `\s*\(`)
	for i, l := range lines {
		if strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t") || !head.MatchString(l) {
			continue
		}
		if end := bodyEnd(lines, i); end > 0 {
			return i, end
		}
	}
	return 0, 0
}

// bodyEnd is the line behind the body that begins after a head; 0 for a declaration.
func bodyEnd(lines []string, from int) int {
	open, begun := 0, false
	for i := from; i < len(lines); i++ {
		l := lines[i]
		if !begun && strings.Contains(l, ";") && !strings.Contains(l, "{") {
			return 0
		}
		begun = begun || strings.Contains(l, "{")
		open += strings.Count(l, "{") - strings.Count(l, "}")
		if begun && open <= 0 {
			return i + 1
		}
	}
	return 0
}

// naming are the lines in which a name stands: a field and its default, a macro.
func naming(lines []string, symbol string) (string, int, bool) {
	word := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(symbol) + `(\W|$)`)
	var out []string
	first := 0
	for i, l := range lines {
		if word.MatchString(l) {
			if first == 0 {
				first = i + 1
			}
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n"), first, first > 0
}

// fingerprint of a text, whatever its indentation, empty lines and lines of comment are.
func fingerprint(text string) string {
	h := sha256.New()
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		if words == "" || strings.HasPrefix(words, "#") && !strings.HasPrefix(words, "#define") || strings.HasPrefix(words, "//") {
			continue
		}
		h.Write([]byte(words + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
