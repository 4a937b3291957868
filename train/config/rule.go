package config

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// rule is what one key says, in both directions. A nil put is never written, a nil get never read.
type rule struct {
	put func(in *Input, s *section)
	get func(in *Input, r *reader)
}

// fixed is a key that a framework wants and no field of a plan says: a path, a data set, a learning rate. It is
// not inlined, which would be 30 kB in the places that call it.
//
//go:noinline
func fixed(key string, value any) rule {
	return rule{
		put: func(_ *Input, s *section) { s.set(key, value) },
		get: func(_ *Input, r *reader) { r.take(key) },
	}
}

// made is such a key whose value follows from the input.
func made(key string, value func(in *Input) any) rule {
	return rule{
		put: func(in *Input, s *section) { s.set(key, value(in)) },
		get: func(_ *Input, r *reader) { r.take(key) },
	}
}

// count is a whole number; 0 is not written. Degrees, which are multiplied, are bounded like those of a request.
func count[N ~int64](key string, at func(in *Input) *N) rule {
	return rule{
		put: func(in *Input, s *section) {
			if n := *at(in); n != 0 {
				s.set(key, int64(n))
			}
		},
		get: func(in *Input, r *reader) {
			if r.root.at(key) == nil {
				return
			}
			n, ok := r.count(key)
			_, degree := any(N(0)).(int64)
			if !ok || n < 0 || degree && n > plan.MaxRanks {
				r.keepUnlessAuto(key)
				return
			}
			*at(in) = N(n)
		},
	}
}

// flag is a yes or no that may be left open.
func flag(key string, at func(in *Input) **bool) rule {
	return rule{
		put: func(in *Input, s *section) {
			if b := *at(in); b != nil {
				s.set(key, *b)
			}
		},
		get: func(in *Input, r *reader) {
			if b, ok := r.flag(key); ok {
				*at(in) = &b
			}
		},
	}
}

// words maps values of a field to a framework's: "adamw=adamw_torch". With ">" in place of "=" the pair is written
// and not read. Other words of the file stay unread.
func words(key string, at func(in *Input) *string, pairs ...string) rule {
	return rule{
		put: func(in *Input, s *section) {
			if w := translate(*at(in), pairs); w != "" {
				s.set(key, literal(w))
			}
		},
		get: func(in *Input, r *reader) {
			w := r.text(key)
			if w == "" {
				return
			}
			v := back(w, pairs)
			if v == "" {
				r.keep(key)
				return
			}
			*at(in) = v
		},
	}
}

// literal turns true and false into what they say.
func literal(w string) any {
	switch w {
	case "true":
		return true
	case "false":
		return false
	}
	return w
}

func translate(value string, pairs []string) string {
	for _, p := range pairs {
		if i := strings.IndexAny(p, "=>"); p[:i] == value {
			return p[i+1:]
		}
	}
	return ""
}

func back(word string, pairs []string) string {
	for _, p := range pairs {
		i := strings.IndexAny(p, "=>")
		if w := p[i+1:]; p[i] == '=' && (w == word || (w == "true" || w == "false") && strings.EqualFold(w, word)) {
			return p[:i]
		}
	}
	return ""
}

// also are further words that a framework takes for a value: read and never written.
func also(key string, at func(in *Input) *string, pairs ...string) rule {
	r := words(key, at, pairs...)
	get := r.get
	r.put = nil
	r.get = func(in *Input, from *reader) {
		if back(from.root.textAt(key), pairs) != "" {
			get(in, from)
		}
	}
	return r
}

// textAt is the text at a path, without marking it read.
func (n *node) textAt(path string) string {
	if v := n.at(path); v != nil {
		return v.text
	}
	return ""
}

// joined are rules one after the other.
func joined(lists ...[]rule) (out []rule) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// offload gives a place of the input's Offload, made where there is none.
func offload(in *Input) *plan.Offload {
	if in.Plan.Offload == nil {
		in.Plan.Offload = &plan.Offload{}
	}
	return in.Plan.Offload
}

// place reads a place without making one.
func place(in *Input, of func(*plan.Offload) string) string {
	if in.Plan.Offload == nil {
		return "none"
	}
	if p := of(in.Plan.Offload); p != "" {
		return p
	}
	return "none"
}

func params(o *plan.Offload) string      { return o.Params }
func optimizer(o *plan.Offload) string   { return o.Optimizer }
func activations(o *plan.Offload) string { return o.Activations }

func yes(b *bool) bool { return b != nil && *b }

// degree reads 0 as 1.
func degree(n int64) int64 { return max(1, n) }

// ranks are the devices of one replica.
func ranks(in *Input) int64 {
	return degree(in.Plan.TP) * degree(in.Plan.PP) * degree(in.Plan.CP)
}

// replicas is dp where it is given, else what the devices leave.
func replicas(in *Input) int64 {
	if in.Plan.DP > 0 {
		return in.Plan.DP
	}
	return max(1, in.Devices/ranks(in))
}
