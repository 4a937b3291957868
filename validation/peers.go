package validation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

// What other programs say about the same rows. peers/*.tsv has their figures, found by running them once over the
// files of the rows; the first lines say which version and how.

// Peer is a program with its total on devices for questions.
type Peer struct {
	Name, Version, Source, How string
	totals                     map[string]float64
}

// Beside is a peer's errors and ours over the rows that both answer.
type Beside struct {
	Peer         *Peer
	Rows         int
	Ours, Theirs Errors
}

// Errors are errors of totals, relative to the measurements.
type Errors struct {
	Within           int // rows within a hundredth
	Median, P90, Max float64
}

// Peers reads the figures of all peers.
func Peers() ([]Peer, error) {
	files, err := packed.Glob("peers/*.tsv")
	if err != nil {
		return nil, err
	}
	var out []Peer
	for _, f := range files {
		data, err := f.Read()
		if err != nil {
			return nil, err
		}
		p, err := parsePeer(string(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func parsePeer(text string) (Peer, error) {
	p := Peer{totals: map[string]float64{}}
	heads := map[string]*string{"# name": &p.Name, "# version": &p.Version, "# source": &p.Source, "# how": &p.How,
		"# columns": new(string)}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			key, value, _ := strings.Cut(line, "\t")
			if heads[key] == nil {
				return p, fmt.Errorf("line %d: no such heading: %s", i+1, key)
			}
			*heads[key] = value
			continue
		}
		cut := strings.LastIndexByte(line, '\t')
		n, err := strconv.ParseFloat(line[cut+1:], 64)
		if cut < 0 || err != nil {
			return p, fmt.Errorf("line %d: no number of bytes", i+1)
		}
		p.totals[line[:cut]] = n
	}
	if p.Name == "" || p.Version == "" || p.Source == "" || p.How == "" {
		return p, fmt.Errorf("a heading is missing: name, version, source, how")
	}
	return p, nil
}

// peerKey is a row's question as gguf-parser's arguments say it.
func peerKey(r *memwall.Request) string {
	or := func(n, other int64) int64 {
		if n == 0 {
			return other
		}
		return n
	}
	args := fmt.Sprintf("-c %d -np %d -b %d -ub %d", r.ContextTotal, or(int64(r.Sequences), 1), or(int64(r.BatchTokens), 2048),
		or(int64(r.UBatch), 512))
	if r.Attention == "flash" {
		args += " --fa"
	} else {
		args += " --no-fa"
	}
	k, v := r.KV, r.KVV
	if v == "" {
		v = k
	}
	if k != "" && k != "f16" {
		args += " -ctk " + k
	}
	if v != "" && v != "f16" {
		args += " -ctv " + v
	}
	if r.SWAFull != nil && *r.SWAFull {
		args += " --swa-full"
	}
	if strings.HasPrefix(r.Hardware, "2x") {
		args += " -ts 1,1"
	}
	return strings.Join([]string{r.Model, r.Weights, args}, "\t")
}

// onDevices sums what llama.cpp holds on devices, as measured and as we say, for rows all of whose parts are there.
func onDevices(all []Comparison) map[*Row]*[2]float64 {
	out, lacking := map[*Row]*[2]float64{}, map[*Row]bool{}
	for i := range all {
		c := &all[i]
		part := c.Figure[strings.LastIndexByte(c.Figure, '.')+1:]
		if c.Row.Set != "llamacpp-gpu" || strings.HasPrefix(c.Figure, "host.") || part == "output" {
			continue
		}
		if c.Refused != "" {
			lacking[c.Row] = true
			continue
		}
		if out[c.Row] == nil {
			out[c.Row] = &[2]float64{}
		}
		out[c.Row][0] += c.Measured.Mid
		out[c.Row][1] += c.Ours.Mid
	}
	for r := range lacking {
		delete(out, r)
	}
	return out
}

// besides puts the errors of peers beside ours.
func besides(peers []Peer, all []Comparison) (out []Beside) {
	totals := onDevices(all)
	for i := range peers {
		b := Beside{Peer: &peers[i]}
		var ours, theirs []float64
		for row, t := range totals {
			n, ok := peers[i].totals[peerKey(&row.Ask)]
			if !ok || t[0] == 0 {
				continue
			}
			b.Rows++
			ours, theirs = append(ours, math.Abs(t[1]/t[0]-1)), append(theirs, math.Abs(n/t[0]-1))
		}
		b.Ours, b.Theirs = errorsOf(ours), errorsOf(theirs)
		out = append(out, b)
	}
	return out
}

func errorsOf(x []float64) (e Errors) {
	for _, d := range x {
		e.Within += count(d <= 0.01)
	}
	if len(x) > 0 {
		e.Median, e.P90, e.Max = stat.Median(x), stat.Quantile(x, 0.9), slices.Max(x)
	}
	return e
}

// peerTable is the section of docs/accuracy.md.
func peerTable(b *strings.Builder, all []Beside) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Peers beside us\n\nThe total on all devices (weights, caches, states, compute buffers) of rows of `llamacpp-gpu`, from the same files.\n\n")
	b.WriteString("| program | rows | within 1 % | median | p90 | max |\n|---|---:|---:|---:|---:|---:|\n")
	for i := range all {
		x := &all[i]
		for _, l := range []struct {
			name string
			e    *Errors
		}{{"memwall", &x.Ours}, {x.Peer.Name + ", " + x.Peer.Version, &x.Theirs}} {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", l.name, unit.Count(int64(x.Rows)), Percent(share(l.e.Within, x.Rows)),
				Percent(l.e.Median), Percent(l.e.P90), Percent(l.e.Max))
		}
		fmt.Fprintf(b, "\n[%s](https://%s), %s: %s. Its figures are [a file](../validation/peers/%s.tsv).\n", x.Peer.Name, x.Peer.Source,
			x.Peer.Version, x.Peer.How, x.Peer.Name)
	}
}
