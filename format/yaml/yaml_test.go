package yaml

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/memwall/memwall/fault"
)

var small = Limits{Bytes: 64 << 10, Depth: 12, Holds: "one thing", Hint: "leave things out"}

// TestDecode: blocks, lists and leaves come as they stand, each with its line and with what YAML takes it for.
func TestDecode(t *testing.T) {
	docs, err := Decode("a: 1_000\nb:\n  - x\n  - 2.5\n  - yes\n  - true\nc: ~\nd: []\n---\n# nothing\n---\ne: |\n  f\n  g\nh: "+
		"'18446744073709551615'\ni: 18446744073709551615\nj: !!str 7\n", small)
	if err != nil {
		t.Fatal(err)
	}
	text := func(line int, s string) *Node { return &Node{Line: line, Text: s, Scalar: s} }
	want := []*Node{
		{Line: 1, Keys: []string{"a", "b", "c", "d"}, Of: map[string]*Node{
			"a": {Line: 1, Text: "1_000", Scalar: int64(1000)}, "c": {Line: 7}, "d": {Line: 8, List: []*Node{}},
			"b": {Line: 3, List: []*Node{text(3, "x"), {Line: 4, Text: "2.5", Scalar: 2.5}, text(5, "yes"),
				{Line: 6, Text: "true", Scalar: true}}},
		}},
		{Line: 12, Keys: []string{"e", "h", "i", "j"}, Of: map[string]*Node{
			"e": text(12, "f\ng\n"), "h": text(15, "18446744073709551615"),
			"i": {Line: 16, Text: "18446744073709551615", Scalar: uint64(18446744073709551615)},
			"j": {Line: 17, Text: "7", Scalar: int64(7)},
		}},
	}
	if d := cmp.Diff(want, docs, cmpopts.IgnoreFields(Node{}, "Column", "Places"), cmpopts.IgnoreUnexported(Node{})); d != "" {
		t.Errorf("want -, have +\n%s", d)
	}
	b := docs[0].At("b")
	if x, two := b.List[0], b.List[1]; docs[0].Column != 1 || x.Column != 5 || two.Column != 5 || docs[0].Places["c"] != (Place{7, 1}) ||
		docs[1].At("h").Column != 4 {
		t.Errorf("columns of %+v, %+v, %+v, %+v", docs[0], x, two, docs[1].At("h"))
	}
	if n := docs[0]; !n.At("c").Null() || n.At("d").Null() || n.Null() || n.At("b", "x").Value() != "" || n.At("a").Value() != "1_000" ||
		len(n.At("b").Items()) != 4 || n.At("no", "no").Items() != nil {
		t.Errorf("walks of %+v", n)
	}
}

// TestEmptyDocuments: what stands behind documents with nothing in them is read.
func TestEmptyDocuments(t *testing.T) {
	for text, want := range map[string]int{
		"---\n---\na: 1\n": 1, "---\n# of a chart\n---\n# and another\n---\na: 1\n": 1,
		"a: 1\n---\n---\n---\nb: 1\n---\n# c\n---\nd: 1\n": 3, "a: 1\n---\n": 1, "---\n": 0, "": 0, "# c\n": 0,
		"a: 1\n...\n---\n---\nb: 1\n": 2,
	} {
		if docs, err := Decode(text, small); err != nil || len(docs) != want {
			t.Errorf("%q: %d documents, %v, want %d", text, len(docs), err, want)
		}
	}
}

// TestRefused: faults name their line, and say what to do.
func TestRefused(t *testing.T) {
	plain := small
	plain.Plain = true
	for _, c := range []struct {
		text      string
		within    Limits
		says, fix string
	}{
		{"a: &x 1\nb: *x\n", small, "line 1: holds an anchor, which is not read", "write it out; leave things out"},
		{"a: 1\nb: *x\n", small, "line 2: holds an alias", "write it out"},
		{"<<: {a: 1}\n", small, "line 1: holds a merge key", "write it out"},
		{"? a\n: b\n", small, "line 1: holds a complex key", "write it out"},
		{"a: !!int 1\n", plain, "line 1: holds a tag", "write it out"},
		{"%YAML 1.2\n---\na: 1\n", plain, "line 1: holds a directive", "write it out"},
		{"a: |\n  b\n", plain, "line 1: holds a block of text", "write it out"},
		{"a: >\n  b\n", plain, "line 1: holds a block of text", "write it out"},
		{"a: 1\na: 2\n", small, `line 2: is not YAML: mapping key "a" already defined`, "two spaces"},
		{"a: [1\nb: 2\n", small, "is not YAML: ", "two spaces"},
		{"a: " + strings.Repeat("[", 12), small, "line 1: nests deeper than 12 levels",
			"one thing, in at most 12 levels; leave things out"},
		{strings.Repeat("#", 64<<10+1), small, "the file has 65537 bytes", "one thing, in at most 65536 bytes; leave things out"},
	} {
		_, err := Decode(c.text, c.within)
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(e.Error(), c.says) || !strings.HasPrefix(e.Fix, c.fix) {
			t.Errorf("%.40q: %v (%+v), want %q, fix %q", c.text, err, e, c.says, c.fix)
		}
	}
}

// TestDepth: as many levels as are allowed are read, one more is not, however they are written.
func TestDepth(t *testing.T) {
	for name, write := range map[string]func(levels int) string{
		"brackets": func(n int) string { return strings.Repeat("[", n-1) + strings.Repeat("]", n-1) },
		"braces":   func(n int) string { return strings.Repeat("{a: ", n-1) + strings.Repeat("}", n-1) },
		"entries":  func(n int) string { return strings.Repeat("- ", n-1) + "x" },
		"columns":  stairs,
		"entries in lines": func(n int) string {
			return strings.Repeat("- ", n/2) + "a:\n" + strings.Repeat("  ", n/2+1) + strings.Repeat("- ", n-n/2-2) + "x"
		},
		"behind brackets": func(n int) string { return "a: []\nb: [\n1]\n" + stairs(n) },
	} {
		if _, err := Decode(write(small.Depth), small); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Decode(write(small.Depth+1), small); err == nil || !strings.Contains(err.Error(), "deeper") {
			t.Errorf("%s, one more: %v", name, err)
		}
	}
}

// stairs are keys each below the one before.
func stairs(levels int) string {
	var b strings.Builder
	for i := range levels - 1 {
		b.WriteString(strings.Repeat(" ", i) + "k:\n")
	}
	return b.String() + strings.Repeat(" ", levels-1) + "x"
}

// TestHostile: no text costs more than bounds that follow from its length.
func TestHostile(t *testing.T) {
	full := func(s string) string { return strings.Repeat(s, small.Bytes/len(s)) }
	for name, text := range map[string]string{
		"brackets": full("["), "closed": full("]"), "closed, then open": full("]")[:1<<15] + full("[")[:1<<15], "entries": full("- "),
		"keys": full("a: "), "questions": full("? "), "lines": full("x\n"),
		"a quote": `"` + full("x")[1:], "stairs": stairs(350), "stairs in a bracket": "[\n" + stairs(350), "stairs behind a bracket": "a: ]\n" + stairs(350), "pairs": "[" + full("{a: 1},")[:1<<15] + "]", "no letters": full("\xff\xfe"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		docs, err := Decode(text, small)
		runtime.ReadMemStats(&after)
		if took := time.Since(start); took > 3*time.Second || after.TotalAlloc-before.TotalAlloc > 256<<20 {
			t.Errorf("%s: %v, %d bytes", name, took, after.TotalAlloc-before.TotalAlloc)
		}
		if e, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || e.Fix == "") {
			t.Errorf("%s: %v", name, err)
		}
		lawful(t, text, docs)
	}
}

// lawful: trees have no more nodes than the text has bytes, and are at most twice as deep as allowed.
func lawful(t *testing.T, text string, docs []*Node) {
	nodes := 0
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		if nodes++; depth > 2*small.Depth {
			t.Fatalf("%.80q: %d levels", text, depth)
		}
		for _, v := range n.List {
			walk(v, depth+1)
		}
		for _, v := range n.Of {
			walk(v, depth+1)
		}
	}
	for _, d := range docs {
		walk(d, 1)
	}
	if nodes > len(text)+1 {
		t.Errorf("%.80q: %d nodes", text, nodes)
	}
}

// FuzzDecode: any text ends in an error with a fix, or in trees within their bounds.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a: 1\nb:\n  - x\n  - {c: [1, 2]}\n", "- - - a:\n      - b: |\n          c\n", "a: &x 1\nb: *x",
		"a: 1\n---\n!!map {b: ~}\n", "a:\n- b:\n  - c:\n    - d", "? a\n: b", "]\n a:\n  b: .inf\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := Decode(text, small)
		if e, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || e.Fix == "") {
			t.Error(err)
		}
		lawful(t, text, docs)
	})
}

// TestReferences: anchors, aliases and merge keys are read where a file may have them, in shared memory and bounded by
// what they stand for.
func TestReferences(t *testing.T) {
	refers := small
	refers.Expanded = 1000
	docs, err := Decode("x: &base\n  a: 1\n  b: 2\ny:\n  <<: *base\n  b: 3\nz:\n  <<: [*base, {c: 4}]\nl: [&w word, *w]\n", refers)
	if err != nil {
		t.Fatal(err)
	}
	d := docs[0]
	got := []string{d.At("x", "b").Value(), d.At("y", "a").Value(), d.At("y", "b").Value(), d.At("z", "b").Value(), d.At("z", "c").Value(),
		d.At("l").Items()[1].Value()}
	if strings.Join(got, " ") != "2 1 3 2 4 word" {
		t.Errorf("merged: %q", got)
	}
	laughs := "a: &a [x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 8) + "]\n"
	}
	for text, says := range map[string]string{
		laughs: "stands for more than 1000 values", laughs + "z:\n  <<: *j\n": "stands for more than 1000 values",
		"a: *b\n": "refers to &b, which does not stand above it", "a: &a [*a]\n": "refers to &a", "x: &x 1\n---\ny: *x\n": "refers to &x",
		"? [a]\n: b\n": "a complex key",
	} {
		if _, err := Decode(text, refers); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.30q: %v, want %q", text, err, says)
		}
	}
}
