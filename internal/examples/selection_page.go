package examples

import (
	"fmt"
	"strings"
)

const selectionOpening = `# Which GPU

What texts say of GPUs for models of 7B, 13B, 70B and 405B, and what memwall says of the same. A size is taken for the
model that it stood for when the texts were written and for the one that it stands for today; each is asked of memwall
for one user (where the text says no more) with vLLM 0.24 on the devices named, and for a size such as 16 GB on a card
of that size. Figures are GiB for each device: ✓ fits, ~ fits and the high edge of its band does not, ✗ does not fit
and what may be used.

| verdict | means                                                    |
|---------|----------------------------------------------------------|
| right   | all of it holds                                          |
| stale   | it held for the model of its day, and holds for none now |
| wrong   | none of it holds                                         |
| depends | on the device or the model: the cells show which         |

The number before a row is that of the text in [worked examples](worked-examples.md).
`

const selectionGrid = `
## Our table

Need of each device in GiB, one user. Q4_K_M is asked of llama.cpp with all layers on the device, the others of vLLM.
With some layers or experts in host memory smaller cards do, more slowly: ` + "`memwall plan`" + ` says which.

`

// SelectionMarkdown renders docs/gpu-selection.md.
func SelectionMarkdown() (string, error) {
	c := newCalc()
	var b, below strings.Builder
	b.WriteString(selectionOpening)
	counts := map[Verdict]int{}
	var t table
	t.add("text", "model", "says", "then", "now", "verdict")
	for i := range selection {
		a := &selection[i]
		t.add(a.row(c, counts)...)
		if a.why != "" {
			fmt.Fprintf(&below, "- %s\n", wrap(fmt.Sprintf("**%d, %s, %s:** %s", a.doc, a.model, a.says, a.why), textWidth-2, "  "))
		}
	}
	fmt.Fprintf(&b, "\n## What is said\n\nOf %d pieces of advice %d are right, %d stale, %d wrong, and %d depend.\n\n", len(selection),
		counts[Right], counts[Stale], counts[Wrong], counts[Depends])
	t.write(&b)
	b.WriteString("\n" + below.String() + selectionGrid)
	writeGrid(&b, c)
	b.WriteString(selectionTraining)
	writeTuning(&b, c)
	b.WriteString("\n`go test ./internal/examples -update` writes this page anew.\n")
	return b.String(), c.err
}

// row asks for an advice and judges it.
func (a *advice) row(c *calc, counts map[Verdict]int) []string {
	then := a.asks(c, a.then)
	var now []outcome
	shown := "—"
	if a.now.id != "" {
		now = a.asks(c, a.now)
		shown = a.now.name + ": " + cell(now)
	}
	v := a.verdict(then, now)
	counts[v]++
	return []string{fmt.Sprint(a.doc), a.model, a.says, a.then.name + ": " + cell(then), shown, string(v)}
}

func writeGrid(b *strings.Builder, c *calc) {
	var t table
	head := []string{"model"}
	for _, p := range gridPlaces {
		head = append(head, p.name)
	}
	t.add(head...)
	for _, s := range gridSubjects {
		row := []string{s.label}
		for _, p := range gridPlaces {
			p.engine = s.engine
			mark, _, _ := strings.Cut(c.place(s.subject, p).brief(), " of ")
			row = append(row, mark)
		}
		t.add(row...)
	}
	t.write(b)
}
