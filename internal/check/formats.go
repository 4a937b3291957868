package check

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall/safe"
)

// Formats are the names of what Format writes.
func Formats() []string { return []string{"text", "json", "markdown", "sarif", "junit"} }

// Why says in a line what decided over a plan.
func (r *Result) Why() string {
	if r.Error != nil {
		return strings.TrimSuffix(r.Error.Message, ".")
	}
	var out []string
	for _, j := range r.Musts {
		if j.Outcome != Holds {
			out = append(out, j.Words())
		}
	}
	if len(out) == 0 {
		for _, j := range r.Musts {
			out = append(out, j.Words())
		}
	}
	return strings.Join(out, "; ")
}

// Words say a bound and what was found.
func (j *Judged) Words() string {
	if j.Name == fits {
		return j.Found
	}
	side := "at most "
	if boundOf(j.Name).least {
		side = "at least "
	}
	return j.Name + " " + j.Found + ", " + side + j.Bound
}

// Words say a change: "needs 12.1 → 15.2 GiB (+3.1)".
func (c *Change) Words() string {
	out := c.Name + " " + c.Was + " → " + c.Now
	if c.By != "" {
		out += " (" + c.By + ")"
	}
	return out
}

// Markdown is the run as a comment on a change: a table, and what is otherwise than in the base.
func (r *Run) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "### memwall: %s\n\n| | plan | on | found |\n|---|---|---|---|\n", r.Summary())
	for i := range r.Plans {
		p := &r.Plans[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", marks[p.Outcome], cell(p.Name), cell(p.On), cell(p.Why()))
	}
	if r.Base != "" {
		fmt.Fprintf(&b, "\nAgainst %s: ", cell(r.Base))
		b.WriteString(r.changesInMarkdown())
	}
	return []byte(b.String())
}

func (r *Run) changesInMarkdown() string {
	var b strings.Builder
	for i := range r.Plans {
		p := &r.Plans[i]
		if p.New {
			fmt.Fprintf(&b, "- **%s** is new\n", cell(p.Name))
		}
		if len(p.Changes) == 0 {
			continue
		}
		var parts []string
		for j := range p.Changes {
			parts = append(parts, cell(p.Changes[j].Words()))
		}
		fmt.Fprintf(&b, "- **%s**: %s\n", cell(p.Name), strings.Join(parts, ", "))
	}
	for _, n := range r.Gone {
		fmt.Fprintf(&b, "- **%s** is gone\n", cell(n))
	}
	if b.Len() == 0 {
		return "nothing changed\n"
	}
	return "\n\n" + b.String()
}

var marks = map[Outcome]string{Holds: "✓", Fails: "✗", Unknown: "?", Unanswered: "✗"}

// cell is a text in a table of Markdown: no mark-up of its own.
func cell(s string) string {
	s = strings.Join(strings.Fields(safe.Text(s, "")), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "@", "@\u200b").Replace(s)
}

// Summary counts the outcomes.
func (r *Run) Summary() string {
	n := map[Outcome]int{}
	for i := range r.Plans {
		n[r.Plans[i].Outcome]++
	}
	out := fmt.Sprintf("%d of %d plans hold", n[Holds], len(r.Plans))
	for _, o := range []struct {
		of   Outcome
		word string
	}{{Fails, "fail"}, {Unknown, "unknown"}, {Unanswered, "in error"}} {
		if n[o.of] > 0 {
			out += fmt.Sprintf(", %d %s", n[o.of], o.word)
		}
	}
	return out
}

// SARIF 2.1.0 (docs.oasis-open.org/sarif): a result for each bound that does not hold, at its line.
func (r *Run) SARIF() ([]byte, error) {
	type object = map[string]any
	results := []object{}
	add := func(rule, level, text string, line int) {
		results = append(results, object{
			"ruleId": rule, "level": level, "message": object{"text": safe.Text(text, "")},
			"locations": []object{{"physicalLocation": object{"artifactLocation": object{"uri": filepath.ToSlash(r.File)},
				"region": object{"startLine": max(1, line)}}}},
		})
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		if p.Error != nil {
			add("error", "error", p.Name+": "+p.Error.Message, p.Line)
		}
		for _, j := range p.Musts {
			if j.Outcome != Holds {
				add(j.Name, map[Outcome]string{Fails: "error", Unknown: "warning"}[j.Outcome], p.Name+": "+j.Words(), j.Line)
			}
		}
	}
	rules := []object{{"id": fits}, {"id": "error"}}
	for _, b := range bounds {
		rules = append(rules, object{"id": b.name})
	}
	return json.MarshalIndent(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "memwall", "version": r.Version, "rules": rules}}, "results": results}},
	}, "", "  ")
}

// JUnit is a suite with a case for each plan.
func (r *Run) JUnit() ([]byte, error) {
	type outcome struct {
		Message string `xml:"message,attr"`
	}
	type testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Failure *outcome `xml:"failure"`
		Error   *outcome `xml:"error"`
		Skipped *outcome `xml:"skipped"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	out := suite{Name: "memwall", Tests: len(r.Plans)}
	for i := range r.Plans {
		p := &r.Plans[i]
		c, f := testCase{Name: safe.Text(p.Name, ""), Class: r.File}, &outcome{safe.Text(p.Why(), "")}
		switch p.Outcome {
		case Fails:
			c.Failure = f
			out.Failures++
		case Unanswered:
			c.Error = f
			out.Errors++
		case Unknown:
			c.Skipped = f
			out.Skipped++
		}
		out.Cases = append(out.Cases, c)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
