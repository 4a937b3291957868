package learn

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// desk asks the questions of a script, each once and only if an expression needs it.
type desk struct {
	asker *memwall.Asker
	// said and typed substitute the example in sentences and in commands.
	said, typed *strings.Replacer
	lines       map[string]string
	asked       map[string]*reply
	// holding returns the number of the example's devices that its model needs, and ample twice that, in the syntax of
	// --on.
	holding, ample func() string
}

// reply is the result of a question.
type reply struct {
	answer *memwall.Answer // nil for a catalog row
	tree   any
	err    error
}

func newDesk(asker *memwall.Asker, e *example, asks []entry) *desk {
	count := sync.OnceValue(func() int64 { return e.count(asker) })
	d := &desk{asker: asker, lines: map[string]string{}, asked: map[string]*reply{}}
	d.said, d.typed = e.vars()
	d.holding, d.ample = func() string { return e.times(count()) }, func() string { return e.times(2 * count()) }
	for _, a := range asks {
		d.lines[a.key] = a.value
	}
	return d
}

// tree returns the JSON tree that an expression's first step refers to.
func (d *desk) tree(name string) (any, error) {
	r := d.reply(name)
	return r.tree, r.err
}

func (d *desk) reply(name string) *reply {
	if r := d.asked[name]; r != nil {
		return r
	}
	r := &reply{err: fmt.Errorf("no question called %q", name)}
	if line, ok := d.lines[name]; ok {
		r = d.ask(d.words(line))
	}
	d.asked[name] = r
	return r
}

// fill substitutes the example in a text.
func (d *desk) fill(s string) string { return d.said.Replace(d.counted(s)) }

// counted substitutes the numbers of devices.
func (d *desk) counted(s string) string {
	if strings.Contains(s, "$holding") {
		s = strings.ReplaceAll(s, "$holding", d.holding())
	}
	if strings.Contains(s, "$ample") {
		s = strings.ReplaceAll(s, "$ample", d.ample())
	}
	return s
}

// command substitutes the example in a command.
func (d *desk) command(s string) string { return d.typed.Replace(d.counted(s)) }

// words splits a question into words and substitutes the example: a path stays one word.
func (d *desk) words(line string) []string {
	words := append(strings.Fields(line), "")
	for i, w := range words {
		words[i] = d.fill(w)
	}
	return words[:max(1, len(words)-1)]
}

// ask answers "fit MODEL key=value …" and "roof" as memwall does, and "device", "format", "recipe", "model" and "loss"
// from the catalogs.
func (d *desk) ask(words []string) *reply {
	verb, words := words[0], words[1:]
	rest := strings.Join(words, " ")
	var v any
	var err error
	switch verb {
	case "device":
		v, err = device(rest)
	case "format":
		v, err = format(rest)
	case "recipe":
		v, err = recipe(rest)
	case "model":
		v, err = d.model(rest)
	case "loss":
		v, err = d.loss(words)
	default:
		return d.question(verb, words)
	}
	return treeOf(&reply{err: err}, v)
}

func (d *desk) question(verb string, words []string) *reply {
	r, err := request(verb, words)
	if err != nil {
		return &reply{err: err}
	}
	if verb == "roof" {
		v, err := d.asker.Roof(r)
		return treeOf(&reply{err: err}, v)
	}
	a, err := d.asker.Ask(r)
	return treeOf(&reply{answer: a, err: err}, a)
}

// request parses MODEL key=value …, with fields as in flags and columns.
func request(verb string, words []string) (*memwall.Request, error) {
	r := &memwall.Request{Ask: verb}
	for i, w := range words {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case i == 0:
			r.Model = w
		case !ok:
			return nil, fmt.Errorf("%q is not key=value", w)
		default:
			if err := r.Set(key, value); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// treeOf sets a reply's tree to a value's decoded JSON.
func treeOf(r *reply, v any) *reply {
	if r.err != nil {
		return r
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &r.tree)
	}
	r.err = err
	return r
}

// questions returns the questions asked so far, in the script's wording.
func (d *desk) questions() map[string]string {
	out := map[string]string{}
	for name := range d.asked {
		if line := d.lines[name]; line != "" {
			out[name] = d.fill(line)
		}
	}
	return out
}

// most is the maximum number of devices in an example.
const most = 64

// count returns how many of the example's devices its model needs at 8k: 1, 2, 4 …; 1 if 64 are too few.
func (e *example) count(asker *memwall.Asker) int64 {
	for n := int64(1); n <= most; n *= 2 {
		r := &memwall.Request{Ask: "fit", Model: e.model, Hardware: e.times(n)}
		r.Context = 8192
		if a, err := asker.Size(r); err == nil && (a.Verdict == memwall.Fits || a.Verdict == memwall.Tight) {
			return n
		}
	}
	return 1
}

// times returns n devices in the syntax of --on.
func (e *example) times(n int64) string {
	if n == 1 {
		return e.device
	}
	return fmt.Sprintf("%dx%s", n, e.device)
}

// contextOf returns what a lesson calls a long context: 128k, or the trained context if shorter.
func contextOf(trained int64) int64 {
	const long = 128 << 10
	if trained == 0 {
		return long
	}
	return min(long, trained)
}

func lengthWord(n int64) string { return strings.ReplaceAll(unit.Length(n), ",", "") }
