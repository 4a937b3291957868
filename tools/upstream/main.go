// Command upstream compares a checkout of an engine or framework with the rules that were read from it: which source
// text changed or disappeared, which flags are new, and which architectures no family reads.
//
//	go run ./tools/upstream CHECKOUT [-at REV] [-since REV] [-diff] [-read]
//
// CHECKOUT is a folder or a bare repository; -at selects a revision of it. -since lists only flags and architectures
// that a revision did not have. -read accepts today's text for rules that have been reviewed: it writes rules.tsv.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// table is where -read writes.
const table = "tools/upstream/rules.tsv"

func main() {
	at := flag.String("at", "", "revision of the checkout to read; the files as they lie without it")
	since := flag.String("since", "", "list flags and architectures that this revision did not have")
	patch := flag.Bool("diff", false, "show what the changes of a text changed, where the repository has the revision that was read")
	read := flag.Bool("read", false, "the changed texts were read, and their rules hold: write "+table)
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/upstream [-at REV] [-since REV] [-diff] [-read] CHECKOUT")
		flag.PrintDefaults()
	}
	dir, err := place(os.Args[1:])
	if err == nil {
		err = run(os.Stdout, dir, *at, *since, options{*patch, *read})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// place parses the arguments, of which flags may follow the checkout too.
func place(args []string) (string, error) {
	if err := flag.CommandLine.Parse(args); err != nil {
		return "", err
	}
	dir := flag.Arg(0)
	if rest := flag.Args(); len(rest) > 1 {
		if err := flag.CommandLine.Parse(rest[1:]); err != nil {
			return "", err
		}
		if flag.NArg() > 0 {
			return "", fmt.Errorf("one CHECKOUT is looked at, and %q follows it", flag.Arg(0))
		}
	}
	if dir == "" {
		return "", errors.New("no CHECKOUT: a folder with vllm, sglang, llama.cpp, transformers, Megatron-LM, torchtune or litgpt")
	}
	return dir, nil
}

// options say what is shown, and whether today's text is taken as read.
type options struct{ patch, read bool }

// run reports on a checkout.
func run(w io.Writer, dir, at, since string, o options) error {
	all, err := parseSources(sources)
	if err != nil {
		return err
	}
	c, err := open(dir, at)
	if err != nil {
		return err
	}
	p := projectOf(c)
	if p == nil {
		return fmt.Errorf("%s is not a checkout of a project that is followed: %s", dir, strings.Join(names(), ", "))
	}
	found, err := p.findings(c, all, o.patch)
	if err != nil {
		return err
	}
	report(w, p, c, found, o.patch)
	if err := p.news(w, c, since); err != nil {
		return err
	}
	if o.read {
		return os.WriteFile(table, []byte(write(readAgain(all, found, c.named()))), 0o644)
	}
	return nil
}

func names() (out []string) {
	for i := range projects {
		out = append(out, projects[i].name)
	}
	return out
}

// projectOf a checkout, by files that no other has.
func projectOf(c *checkout) *project {
	for i := range projects {
		if !slices.ContainsFunc(projects[i].marks, func(f string) bool { return !c.has(f) }) {
			return &projects[i]
		}
	}
	return nil
}

// findings of the rules that were read from a project.
func (p *project) findings(c *checkout, all []source, patch bool) (out []finding, err error) {
	for _, s := range all {
		if s.project != p.name || s.unread() {
			continue
		}
		f, err := look(c, s, patch)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// readAgain is the table with the texts of today.
func readAgain(all []source, found []finding, read string) []source {
	out := slices.Clone(all)
	for _, f := range found {
		for i := range out {
			if f.state == changed && out[i] == f.source {
				out[i].read, out[i].print = read, f.now
			}
		}
	}
	return out
}

// most changes of a file that are shown.
const most = 6

func report(w io.Writer, p *project, c *checkout, found []finding, patch bool) {
	count := map[string]int{}
	for i := range found {
		count[found[i].state]++
	}
	fmt.Fprintf(w, "%s at %s: %d rules read there; %d unchanged, %d changed, %d gone\n", p.name, c.named(), len(found), count[same],
		count[changed], count[gone])
	for i := range found {
		if f := &found[i]; f.state != same {
			fmt.Fprintf(w, "\n%-8s %s\n         %s", f.state, f.rule, f.file)
			if f.line > 0 {
				fmt.Fprintf(w, ":%d", f.line)
			}
			fmt.Fprintf(w, " %s, read at %s\n", f.symbol, f.read)
			for j, s := range f.commits {
				if j == most && !patch {
					fmt.Fprintf(w, "         … and %d more\n", len(f.commits)-most)
					break
				}
				fmt.Fprintf(w, "         %s\n", s)
			}
			if len(f.moved) > 0 {
				fmt.Fprintf(w, "         now in %s?\n", strings.Join(f.moved, ", "))
			}
		}
	}
}

// news are flags and architectures that memwall does not know; with since only those that came after it.
func (p *project) news(w io.Writer, c *checkout, since string) error {
	var before *checkout
	if since != "" {
		var err error
		if before, err = open(c.dir, since); err != nil {
			return err
		}
	}
	if p.flag != nil {
		flags, err := p.flagsOf(c)
		if err != nil {
			return err
		}
		lack := p.missing(flags)
		if before != nil {
			old, err := p.flagsOf(before)
			if err != nil {
				return err
			}
			lack = less(lack, old)
		}
		list(w, fmt.Sprintf("%d of %d flags are not read", len(lack), len(flags)), lack)
	}
	for i := range p.arches {
		l := &p.arches[i]
		all, lack, err := l.architectures(c)
		if err != nil {
			return err
		}
		if before != nil {
			old, _, err := l.architectures(before)
			if err != nil {
				return err
			}
			lack = less(lack, old)
		}
		if len(all) > 0 {
			list(w, fmt.Sprintf("%d of %d architectures in %s have no family", len(lack), len(all), l.file), lack)
		}
	}
	return nil
}

func less(all, old []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(old, s) })
}

// list words in lines of 100 columns.
func list(w io.Writer, head string, words []string) {
	fmt.Fprintf(w, "\n%s\n", head)
	line := " "
	for _, s := range words {
		if len(line)+len(s) > 100 {
			fmt.Fprintln(w, line)
			line = " "
		}
		line += " " + s
	}
	if len(words) > 0 {
		fmt.Fprintln(w, line)
	}
}
