package study

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/memwall/memwall/internal/stable"
)

// Point is one question of a study.
type Point struct {
	Index int64
	// Request in its normal form: fields by their names in order, as the contract writes them, those that say nothing left
	// out, traces by their digests.
	Request []byte
	Key     Key
}

// Trace is that of the question's workload; "" where there is none.
func (p *Point) Trace() string {
	var r struct {
		Workload struct {
			Trace string `json:"trace"`
		} `json:"workload"`
	}
	if !bytes.Contains(p.Request, []byte(`"trace":`)) || json.Unmarshal(p.Request, &r) != nil {
		return ""
	}
	return r.Workload.Trace
}

// Key identifies a question and the tables behind it: equal keys have equal answers in any study.
type Key [20]byte

// String is the key in hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what String writes.
func ParseKey(s string) (k Key, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(k) {
		return k, fmt.Errorf("%.60q is not a key", s)
	}
	return Key(b), nil
}

// keyOf a request in its normal form.
func keyOf(tables string, request []byte) (k Key) {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s%s", len(tables), tables, request)
	copy(k[:], h.Sum(nil))
	return k
}

// Levels of the factors at a point, from 0.
func (s *Study) Levels(index int64) []int64 {
	out := make([]int64, len(s.Factors))
	for i := len(out) - 1; i >= 0; i-- {
		n := s.Factors[i].Levels()
		out[i], index = index%n, index/n
	}
	return out
}

// At gives a point, which takes no memory but its own. The tables are those that the key is to be of.
func (s *Study) At(index int64, tables string) *Point {
	var all []*setting
	for i := range s.fixed {
		all = append(all, &s.fixed[i])
	}
	for i, l := range s.Levels(index) {
		set := s.Factors[i].settings(l)
		for j := range set {
			all = append(all, &set[j])
		}
	}
	stable.Sort(all, func(a, b *setting) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.inner, b.inner)) })
	text := s.write(all)
	return &Point{index, text, keyOf(tables, text)}
}

// write a request of settings in order: those of its workload stand beside each other.
func (s *Study) write(all []*setting) []byte {
	out := []byte{'{'}
	for i, v := range all {
		inside := v.inner != "" && i > 0 && all[i-1].field == v.field
		if i > 0 {
			out = append(out, ',')
		}
		if !inside {
			out = append(append(append(out, '"'), v.field...), `":`...)
		}
		if v.inner != "" {
			if !inside {
				out = append(out, '{')
			}
			out = append(append(append(out, '"'), v.inner...), `":`...)
		}
		out = append(out, s.value(v)...)
		if v.inner != "" && (i+1 == len(all) || all[i+1].field != v.field) {
			out = append(out, '}')
		}
	}
	return append(out, '}')
}

// All gives the points in their order, each as it is asked for.
func (s *Study) All(tables string) iter.Seq[*Point] {
	return func(yield func(*Point) bool) {
		for i := range s.Points() {
			if !yield(s.At(i, tables)) {
				return
			}
		}
	}
}

// Traces are the names that the file gives to traces, each once.
func (s *Study) Traces() (names []string) {
	collect := func(all []setting) {
		for i := range all {
			var name string
			if all[i].isTrace() && json.Unmarshal(all[i].value, &name) == nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	collect(s.fixed)
	for i := range s.Factors {
		for j := range s.Factors[i].levels {
			collect(s.Factors[i].levels[j].set)
		}
	}
	return names
}

// Digested gives the study with traces known by what they hold: digests by their names.
func (s *Study) Digested(digests map[string]string) *Study {
	out := *s
	out.traces = digests
	return &out
}

func (s *setting) isTrace() bool { return s.inner == "trace" }

// value of a setting, a trace by its digest.
func (s *Study) value(v *setting) json.RawMessage {
	var name string
	if !v.isTrace() || s.traces == nil || json.Unmarshal(v.value, &name) != nil {
		return v.value
	}
	text, err := json.Marshal(s.traces[name])
	if err != nil {
		return v.value
	}
	return text
}
