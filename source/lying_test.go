package source

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/plan"
)

// free are the keys of a header that no tensor has the shape of: another value is another network, of the same file.
var free = []string{"context_length", "attention.sliding_window", "attention.sliding_window_pattern", "expert_used_count", "attention.shared_kv_layers"}

// only answers every reference with one model.
type only struct{ r *Resolved }

func (o only) Model(string) (*Resolved, error) { return o.r, nil }

// fitted is what a plan of a model holds, item by item; "unknown" where there is no verdict.
func fitted(r *Resolved) string {
	a, err := (&memwall.Asker{Models: only{r}}).Ask(&memwall.Request{Ask: "fit", Model: "m", Hardware: "b200", Plan: plan.Plan{Engine: "llama.cpp", Context: 2048}})
	switch {
	case err != nil:
		return err.Error()
	case a.Verdict == memwall.Unknown:
		return "unknown"
	}
	var b strings.Builder
	for _, it := range a.Devices[0].Ledger {
		fmt.Fprintf(&b, "%s %d\n", it.ID, it.Bytes)
	}
	return b.String()
}

func modelOf(b *gguftest.Builder) (*Resolved, error) {
	s := b.File()
	f, err := gguf.Read(s, s.Len)
	if err != nil {
		return nil, err
	}
	return GGUF("m", f)
}

// realHeaders are those of the repository's small networks, of a Llama, and of the shared data where it is at hand. Tokens are
// left out: nothing is sized by them.
func realHeaders(t *testing.T) map[string]*gguftest.Builder {
	out := map[string]*gguftest.Builder{"tiny": gguftest.Tiny.Builder()}
	for i := range networks {
		out[networks[i].name] = networks[i].file()
	}
	for name, b := range sharedHeaders(t) {
		out[name] = b
	}
	for name, b := range out {
		out[name] = b.Without(func(key string) bool { return strings.HasPrefix(key, "tokenizer.") })
	}
	return out
}

func sharedHeaders(t *testing.T) map[string]*gguftest.Builder {
	root := os.Getenv("MEMWALL_SHARED")
	if root == "" {
		return nil
	}
	dir := filepath.Join(root, "data", "gguf_headers")
	f, err := os.Open(filepath.Join(dir, "INDEX.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*gguftest.Builder{}
	for _, r := range rows[1:] {
		packed, err := os.ReadFile(filepath.Join(dir, r[0]))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		size, _ := strconv.ParseInt(r[4], 10, 64)
		out[r[0]] = gguftest.Parse(raw, size)
	}
	return out
}

// TestLyingNumbers: a header one of whose numbers is another one is refused, is of unknown size, or is answered as before. What is
// refused names the key or what is derived of it, and the fix.
func TestLyingNumbers(t *testing.T) {
	tried, refused, named := 0, 0, 0
	for name, b := range realHeaders(t) {
		r, err := modelOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := fitted(r)
		for _, n := range b.Numbers(1000) {
			_, key, _ := strings.Cut(n.Key, ".")
			if strings.HasPrefix(n.Key, "general.") || slices.Contains(free, key) {
				continue
			}
			for _, values := range lies(n) {
				tried++
				r, err := modelOf(b.Changed(n.Key, n.With(values...)))
				if err == nil {
					if after := fitted(r); after != before && after != "unknown" {
						t.Errorf("%s: %s = %v is answered\n%swith\n%s", name, n.Key, values, before, after)
					}
					continue
				}
				if refused++; strings.Contains(err.Error(), n.Key) {
					named++
				}
				checkRefused(t, name+": "+n.Key, err)
			}
		}
	}
	t.Logf("%d numbers changed: %d files refused, %d of them by the name of the key", tried, refused, named)
	if tried < 250 || refused < tried/2 || named < refused*3/4 {
		t.Errorf("%d tried, %d refused, %d named", tried, refused, named)
	}
}

func checkRefused(t *testing.T, where string, err error) {
	t.Helper()
	err = inFile("m.gguf", err)
	e, ok := errors.AsType[*memwall.Error](err)
	if !ok || e.Code != memwall.BadFile || e.Field == "" || e.Hint == "" {
		t.Errorf("%s: %#v", where, err)
	}
}

// lies are other values of a number: small ones, near ones and multiples; in a list for one layer and for all that are alike.
func lies(n gguftest.Number) (out [][]int64) {
	v := n.Values[0]
	for _, other := range []int64{0, 1, 2, v - 1, v + 1, v / 2, 2 * v, 1 << 20} {
		if other == v || other < 0 {
			continue
		}
		one, all := slices.Clone(n.Values), slices.Clone(n.Values)
		one[0] = other
		for i := range all {
			if all[i] == v {
				all[i] = other
			}
		}
		if out = append(out, one); len(all) > 1 {
			out = append(out, all)
		}
	}
	return out
}

// TestMissingNumbers: a header without one of its numbers is refused, of unknown size, or answered as before.
func TestMissingNumbers(t *testing.T) {
	for name, b := range realHeaders(t) {
		r, err := modelOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := fitted(r)
		for _, n := range b.Numbers(1000) {
			if _, key, _ := strings.Cut(n.Key, "."); slices.Contains(free, key) {
				continue
			}
			r, err := modelOf(b.Without(func(key string) bool { return key == n.Key }))
			if err != nil {
				checkRefused(t, name+": "+n.Key, err)
			} else if after := fitted(r); after != before && after != "unknown" {
				t.Errorf("%s: without %s is answered\n%swith\n%s", name, n.Key, before, after)
			}
		}
	}
}
