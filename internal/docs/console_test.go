package docs

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/cli"
	"github.com/memwall/memwall/internal/live"
	"github.com/memwall/memwall/source"
)

var update = flag.Bool("update", false, "write the output of commands into the pages")

// Blocks of a page that begin with "$ memwall" are what a reader would see: each command is run in this
// process, from the root of the repository, 80 columns wide and without colours, and its output compared.
// A command may end in "| head -N", "| tail -N" or "| grep WORD", or in "> /dev/null" and "; echo $?", whose
// code would be that of the last command of a pipe.

const prompt = "$ "

// block is a fence with commands: the lines between its marks.
type block struct{ first, last int }

func (p *page) blocks() (out []block) {
	for i := 0; i < len(p.lines); i++ {
		if !p.code[i] {
			continue
		}
		end := i
		for end+1 < len(p.lines) && p.code[end+1] && !(fenceOf(p.lines[end]) != "" && end > i) {
			end++
		}
		if i+1 < end && strings.HasPrefix(p.lines[i+1], prompt+"memwall") {
			out = append(out, block{i + 1, end})
		}
		i = end
	}
	return out
}

// shown gives what a block shows after its commands are run again.
func shown(lines []string) ([]string, error) {
	var out []string
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], prompt) {
			i++ // output of before
			continue
		}
		from := i
		for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
			i++
		}
		i++
		out = append(out, lines[from:i]...)
		text, err := runLine(strings.Join(lines[from:i], "\n"))
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return out, nil
}

// runLine runs one command line.
func runLine(line string) ([]string, error) {
	line = strings.ReplaceAll(strings.TrimPrefix(line, prompt), "\\\n", " ")
	command, echo := strings.CutSuffix(line, "; echo $?")
	command, silent := strings.CutSuffix(strings.TrimSpace(command), "> /dev/null")
	stages := splitOutside(command, '|')
	args, err := words(stages[0])
	switch {
	case err != nil:
		return nil, err
	case len(args) == 0 || args[0] != "memwall":
		return nil, fmt.Errorf("%q is not a command of memwall", line)
	case echo && len(stages) > 1:
		return nil, fmt.Errorf("%q: the exit code would be that of %q", line, stages[len(stages)-1])
	}
	out, talk, code := run(args[1:])
	for _, s := range stages[1:] {
		if out, err = filter(out, strings.Fields(s)); err != nil {
			return nil, err
		}
	}
	if silent {
		out = nil
	}
	out = append(out[:len(out):len(out)], talk...)
	if echo {
		out = append(out, strconv.Itoa(code))
	}
	return out, nil
}

// run gives the lines that a command writes to stdout and to stderr, and its exit code.
func run(args []string) (out, talk []string, code int) { return runWith("", args) }

// runWith does so for a command that reads stdin.
func runWith(stdin string, args []string) (out, talk []string, code int) {
	return runIn(stdin, args, func(name string, _ []byte) error { return errors.New(name + " is not written by a page") })
}

// runWriting does so for a command that writes a file.
func runWriting(args []string) (out, talk []string, code int) {
	return runIn("", args, func(name string, data []byte) error { return os.WriteFile(name, data, 0o600) })
}

func runIn(stdin string, args []string, write func(string, []byte) error) (out, talk []string, code int) {
	var stdout, stderr bytes.Buffer
	now := time.Time{}
	code = cli.Run(demonstrated(cli.Config{
		Now:  func() time.Time { now = now.Add(time.Millisecond); return now }, // no page tells how long its answers took here
		Args: args, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Models: source.New(source.Options{}),
		FromCommand: memwall.FromCommand,
		Env:         func(name string) string { return map[string]string{"COLUMNS": "80", "TERM": "xterm"}[name] },
		WriteFile:   write,
		Server:      composed,
	}))
	return linesOf(&stdout), linesOf(&stderr), code
}

// composed answers for servers of pages: localhost:8000 is the vLLM that package live composed for its tests, localhost:30000
// the SGLang.
func composed(_ context.Context, address, _ string, _ time.Duration) (*memwall.StartupLog, error) {
	name := map[string]string{"http://localhost:8000": "vllm", "http://localhost:30000": "sglang"}[address]
	a, err := txtar.ParseFile(filepath.Join("internal", "live", "testdata", name+".txtar"))
	if err != nil {
		return nil, err
	}
	pages := live.Pages{}
	for _, f := range a.Files {
		pages["/"+f.Name] = f.Data
	}
	return live.Read(pages), nil
}

func linesOf(b *bytes.Buffer) []string {
	text := strings.TrimRight(b.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// filter is head, tail or grep.
func filter(lines, stage []string) ([]string, error) {
	bad := fmt.Errorf("no filter %q: head -N, tail -N or grep WORD", strings.Join(stage, " "))
	if len(stage) != 2 {
		return nil, bad
	}
	n, err := strconv.Atoi(strings.TrimPrefix(stage[1], "-"))
	switch {
	case stage[0] == "grep":
		var out []string
		for _, l := range lines {
			if strings.Contains(l, stage[1]) {
				out = append(out, l)
			}
		}
		return out, nil
	case err != nil:
		return nil, bad
	case stage[0] == "head":
		return lines[:min(n, len(lines))], nil
	case stage[0] == "tail":
		return lines[max(0, len(lines)-n):], nil
	}
	return nil, bad
}

// splitOutside cuts a text at a byte that stands outside of quotes.
func splitOutside(s string, at byte) (out []string) {
	quote, from := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == at:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}

// words are those of a shell, with quotes and no variables.
func words(s string) (out []string, err error) {
	for _, w := range splitOutside(strings.Join(strings.Fields(s), " "), ' ') {
		if w == "" {
			continue
		}
		if strings.ContainsAny(w, "$`\\") {
			return nil, fmt.Errorf("%q needs a shell", w)
		}
		out = append(out, strings.NewReplacer("'", "", `"`, "").Replace(w))
	}
	return out, nil
}

// refreshed gives the page with the output of its commands as it is today, and where it differs.
func refreshed(p *page) (*page, []string, error) {
	var stale []string
	lines := p.lines
	blocks := p.blocks()
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		have := lines[b.first:b.last]
		want, err := shown(have)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", p.name, b.first+1, err)
		}
		if d := difference(have, want); d != "" {
			stale = append(stale, fmt.Sprintf("%s:%d: %s", p.name, b.first+1, d))
		}
		lines = append(lines[:b.first:b.first], append(want[:len(want):len(want)], lines[b.last:]...)...)
	}
	return newPage(p.name, strings.Join(lines, "\n")), stale, nil
}

// difference tells the first line that is not as it was; "" when all are.
func difference(have, want []string) string {
	for i := range max(len(have), len(want)) {
		h, w := "(nothing)", "(nothing)"
		if i < len(have) {
			h = have[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if h != w {
			return fmt.Sprintf("line %d of the block\n  page    %s\n  program %s", i+1, h, w)
		}
	}
	return ""
}

// showsCommands reports whether a page's commands are run.
func showsCommands(name string) bool {
	return name == "README.md" || name == "docs/formulas.md" || strings.HasPrefix(name, "docs/guides/") ||
		strings.HasPrefix(name, "docs/case-studies/")
}

// current gives a page with its outputs and its figures as they are today, and where it differs.
func current(p *page) (*page, []string, error) {
	now, stale, err := refreshed(p)
	if err != nil {
		return nil, nil, err
	}
	now, more, err := remarked(now)
	return now, append(stale, more...), err
}

// TestCommands: the output that pages show is what the program prints.
func TestCommands(t *testing.T) {
	all := pages(t)
	t.Chdir(root)
	var names []string
	for name := range all {
		if showsCommands(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	commands := 0
	for _, name := range names {
		commands += len(all[name].blocks())
		now, stale, err := current(all[name])
		switch {
		case err != nil:
			t.Error(err)
		case *update && len(stale) > 0:
			if err := os.WriteFile(filepath.FromSlash(name), []byte(now.text()), 0o644); err != nil {
				t.Error(err)
			}
		case len(stale) > 0:
			t.Errorf("%s\ngo test ./internal/docs -update writes it", strings.Join(stale, "\n"))
		}
	}
	if commands == 0 {
		t.Error("no page shows a command")
	}
}

// TestStaleOutputIsSeen: the check above can fail, and -update makes it pass.
func TestStaleOutputIsSeen(t *testing.T) {
	const fence = "```"
	p := newPage("docs/guides/x.md", strings.Join([]string{
		"text", fence + "console", "$ memwall formats q8_0 | head -1", "wrong", "$ memwall fit no-such-model; echo $?", fence, "more",
		fence + "sh", "$ go test ./...", fence, "",
	}, "\n"))
	now, stale, err := refreshed(p)
	if err != nil || len(stale) != 1 {
		t.Fatalf("%d stale blocks (%v), want 1", len(stale), err)
	}
	if strings.Contains(now.text(), "wrong") || !strings.Contains(now.text(), "\n1\n"+fence+"\nmore") {
		t.Errorf("after the update:\n%s", now.text())
	}
	if again, stale, err := refreshed(now); err != nil || len(stale) > 0 || again.text() != now.text() {
		t.Errorf("the update is stale at once: %v, %v", stale, err)
	}
}

// TestCommandsThatCannotRun: what a page may not show is an error, not silence.
func TestCommandsThatCannotRun(t *testing.T) {
	for _, line := range []string{"$ memwall version | wc -l", "$ memwall version | head -x", "$ memwall fit $HOME", "$ go test ./...",
		"$ memwall version | head -1; echo $?"} {
		if out, err := runLine(line); err == nil {
			t.Errorf("%q ran: %q", line, out)
		}
	}
}

func TestWords(t *testing.T) {
	got, err := words(`memwall fit  --from 'vllm serve m  --tp 2' --set "a b"`)
	if err != nil || strings.Join(got, "|") != "memwall|fit|--from|vllm serve m --tp 2|--set|a b" {
		t.Errorf("%q, %v", got, err)
	}
}
