package argv

import (
	"regexp"
	"strings"
)

// What stands around a command where people paste it: the fences of Markdown, prompts, numbers of lines.

// fence opens or closes a block of Markdown.
var fence = regexp.MustCompile("^[ \t>]*(```|~~~)")

// prompts are what a shell prints at the head of a line. A bare # begins a comment.
var prompts = regexp.MustCompile(`^[ \t]*((\([\w.-]+\) )?[\w.-]+@[\w.-]+[:~ ][^$#\n]{0,80}[$#] ?|\([\w.-]+\) ?[$#] ?|(\([\w.-]+\) )?PS( [^>\n]{0,80})?> ?|[A-Za-z]:\\[^>\n|]{0,80}> ?|[$%❯➜›»] |>>> |> )`)

// Tidied is a text without what stands around its commands: of Markdown with fences what lies within them, of lines what
// stands behind a prompt.
func Tidied(text string) string {
	text = strings.NewReplacer("\x00", " ", "\u00a0", " ", "\u200b", "", "\ufeff", "", "\r\n", "\n", "“", `"`, "”", `"`).Replace(text)
	text = escaped.ReplaceAllString(fenced(text), "\\\n$1")
	text = flattened.ReplaceAllString(text, " $1")
	text = loose.ReplaceAllString(remarked.ReplaceAllString(text, "\\"), "$1=$2")
	lines := strings.Split(powerShell(batch(inline(text))), "\n")
	for i, l := range lines {
		lines[i] = prompted(l)
	}
	return strings.Join(lines, "\n")
}

// escaped is the end of a line that another language escaped: in JavaScript's templates and Python's texts a backslash is two.
var escaped = regexp.MustCompile(`\\\\[ \t]*\n([ \t]*-)`)

// remarked is a comment behind the mark that continues a line, which ends the command in a shell.
var remarked = regexp.MustCompile(`(?m)\\[ \t]+#[^\n]*$`)

// statements and placed are those of templates (Jinja, Helm) within a command.
var (
	statements = regexp.MustCompile(`\{%[^%\n]*%\}`)
	placed     = regexp.MustCompile(`\{\{[^{}\n]*\}\}`)
)

// flattened is the end of a line that lost its break where somebody pasted the text as one.
var flattened = regexp.MustCompile(`[ \t]\\[ \t]+(--?[A-Za-z])`)

// loose is the name of a model that was assigned with a blank behind the sign, which a shell would run: model= org/name.
var loose = regexp.MustCompile(`(?mi)^([ \t]*\w*model\w*)=[ \t]+([\w.-]+/[\w./-]+)[ \t]*$`)

// inline is a text without the backquotes around all of it.
func inline(text string) string {
	inner := strings.TrimSpace(text)
	if n := len(inner); n > 2 && inner[0] == '`' && inner[n-1] == '`' && strings.Count(inner, "`") == 2 {
		return inner[1 : n-1]
	}
	return text
}

// variables of PowerShell are set by lines of their own: $model = "…".
var variables = regexp.MustCompile(`(?m)^[ \t]*\$([A-Za-z_]\w*)[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*'|[^\s"'=]\S*)[ \t]*;?[ \t]*$`)

// powerShell writes variables of PowerShell as those of other shells. A backslash escapes nothing there, and parts folders.
func powerShell(text string) string {
	if !variables.MatchString(text) {
		return text
	}
	return strings.ReplaceAll(variables.ReplaceAllString(text, "$1=$2"), `\$`, "/$")
}

// setLine is a variable of a batch file: set NAME=value, or set "NAME=value".
var setLine = regexp.MustCompile(`(?mi)^[ \t]*@?set[ \t]+"?([A-Za-z_]\w*)=([^"\n]*)"?[ \t]*$`)

// batch puts the variables of a batch file in, which stand between percent signs.
func batch(text string) string {
	lines := setLine.FindAllStringSubmatch(text, -1)
	if len(lines) == 0 || len(text) > MaxText {
		return text
	}
	text = setLine.ReplaceAllString(text, "")
	for i := len(lines) - 1; i >= 0 && len(text) <= MaxText; i-- { // one may hold those before it
		text = strings.ReplaceAll(text, "%"+lines[i][1]+"%", strings.TrimSpace(lines[i][2]))
	}
	return text
}

// fenced gives what lies within the fences of a text; all of it where there are none.
func fenced(text string) string { return Unfenced(text, "\n") }

// Unfenced returns the contents of a text's code fences, joined by between; all of the text if there are none.
func Unfenced(text, between string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	var inside []string
	open, seen := headless(text), false
	for _, l := range strings.Split(text, "\n") {
		switch {
		case fence.MatchString(l):
			open, seen = !open, true
			if open && len(inside) > 0 && between != "\n" {
				inside = append(inside, strings.Trim(between, "\n"))
			}
			if inline := strings.Trim(strings.TrimSpace(l), "`"); strings.Count(l, "```") > 1 { // ```cmd``` in one line
				inside, open = append(inside, inline), false
			}
		case open:
			inside = append(inside, l)
		}
	}
	if !seen || len(inside) == 0 {
		return text
	}
	return strings.Join(inside, "\n")
}

// diffBlock is a block of changes, whose lines begin with a mark.
var diffBlock = regexp.MustCompile("(?ms)^([ \\t>]*`{3,})(?:diff|patch)[ \\t]*(\n.*?)(?:\n`{3,}[ \\t]*$|\\z)")

// Settled is a text whose blocks of changes are what the changed files have, and in which each place of a template is one word.
func Settled(text string) string {
	if len(text) > MaxText {
		return text
	}
	text = placed.ReplaceAllStringFunc(statements.ReplaceAllString(text, ""), func(s string) string { return strings.Join(strings.Fields(s), "") })
	return diffBlock.ReplaceAllStringFunc(text, func(block string) string {
		m := diffBlock.FindStringSubmatch(block)
		out := []string{m[1]}
		for l := range strings.Lines(m[2]) {
			l = strings.TrimRight(l, "\r\n")
			switch {
			case l == "" || strings.HasPrefix(l, "@@") || l[0] == '-':
				continue
			case l[0] == '+' || l[0] == ' ':
				l = l[1:]
			}
			if !fence.MatchString(l) {
				out = append(out, l)
			}
		}
		return strings.Join(append(out, strings.TrimSpace(m[1])), "\n")
	})
}

var (
	// fences are the marks of a text, with the language that stands behind one that opens.
	fences = regexp.MustCompile("(?m)^[ \t>]*(?:```|~~~)[ \t]*(\\w*)[ \t]*$")
	// flagged is a word that a command has, and no sentence.
	flagged = regexp.MustCompile(`(?m)(^|[\s"'])--?[a-z][\w-]+`)
)

// headless: the first mark closes a block whose opening was not pasted. The next one says a language, or flags stand before it alone.
func headless(text string) bool {
	all := fences.FindAllStringSubmatchIndex(text, 3)
	if len(all) == 0 || all[0][2] < all[0][3] {
		return false
	}
	if len(all) > 1 {
		return all[1][2] < all[1][3]
	}
	return flagged.MatchString(text[:all[0][0]]) && !flagged.MatchString(text[all[0][1]:])
}

func quoted(mark string) bool { return strings.TrimSpace(mark) == ">" }

// prompted is a line without its prompt, without the mark of a list, and without backquotes around all of it.
func prompted(line string) string {
	for at := prompts.FindString(line); at != ""; at = prompts.FindString(line) {
		line = line[len(at):]
		if !quoted(at) { // quotes of quotes stand before a prompt
			break
		}
	}
	item := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), "* "))
	if inner := inline(item); inner != item {
		return inner
	}
	return line
}
