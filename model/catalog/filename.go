package catalog

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/naming"
)

// labelParts takes the labels of files and of benchmark tables apart, the whole first: "baidu_ERNIE-4.5-21B-A3B" is an
// organisation and a model, "Phi 4 Mini 3.8B" a model and its size, "Qwen3 32B (Dense)" one with a remark. Each comes with
// the billions of parameters that were cut off, 0 for none.
func labelParts(name string) (tries []sized) {
	if i := strings.IndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		name = strings.TrimSpace(name[:i])
	}
	tries = append(tries, sized{name, 0})
	for i := range name {
		if (name[i] == '_' || name[i] == '-') && i < mostOrg && (orgs()[fold(name[:i])] || naming.Quantises(name[:i])) {
			tries = append(tries, sized{name[i+1:], 0})
			break
		}
	}
	for i, n := 0, len(tries); i < n; i++ {
		if rest, size, ok := withoutSize(tries[i].name); ok {
			tries = append(tries, sized{rest, size})
		}
	}
	return tries
}

// mostOrg bounds the name of an organisation.
const mostOrg = 40

// orgs are the organisations of the entries' repositories.
var orgs = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, h := range headers() {
		for _, n := range h.names {
			if org, _, ok := strings.Cut(n, "/"); ok {
				out[fold(org)] = true
			}
		}
	}
	return out
})

type sized struct {
	name     string
	billions float64
}

// withoutSize cuts the number of parameters off the end of a name: "30B-A3B", "14B".
func withoutSize(name string) (rest string, billions float64, ok bool) {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' })
	if len(words) < 2 {
		return "", 0, false
	}
	size, _, _ := strings.Cut(strings.ToLower(words[len(words)-1]), "-a")
	b, isB := strings.CutSuffix(size, "b")
	n, err := strconv.ParseFloat(b, 64)
	if !isB || err != nil || n <= 0 {
		return "", 0, false
	}
	return strings.Join(words[:len(words)-1], " "), n, true
}

// Names round their numbers of parameters: by so much at most beside the whole name, and where the number stands for words
// of it (13B is not 14B).
const (
	rounded     = 0.08
	standsAlone = 0.05
)

// holds reports whether an entry has about so many billions of parameters.
func (h *header) holds(billions, within float64) bool {
	m := h.model()
	return m != nil && math.Abs(float64(m.Params())/1e9/billions-1) < within
}

// activates reports whether a token takes about so many billions of an entry's: names round them, and count the ends or do not.
func (h *header) activates(billions float64) bool {
	m := h.model()
	return m != nil && math.Abs(float64(m.ActiveParams())/1e9/billions-1) < 0.25
}

// model is what an entry describes; nil of one that cannot be read.
func (h *header) model() *model.Model {
	e, err := parse(h.line)
	if err != nil {
		return nil
	}
	spec, err := e.Spec()
	if err != nil {
		return nil
	}
	return spec.Model(e.ID)
}
