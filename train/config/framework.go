package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/config/keys"
)

// framework is one configuration format.
type framework struct {
	name, title string
	// plan is what Training.Framework calls it, or one of the names that are read for it.
	plan  string
	names string
	// marks are keys of which files that are told from others' have one; "" asks for none.
	marks string
	// says has the values of each field that the format has a word for: "*" for all, "~" before a value that goes
	// without saying, so that reading does not give it back. A field that is missing has no word.
	says  map[string]string
	parts []part
	// refuses are combinations of fields that the framework does not run, each with its reason.
	refuses []refusal
	// idle are keys of files that the framework runs without training, where they have no key of an optimizer.
	idle []string
	// ways are keys whose values beyond a few are ways of training that no plan sizes: "finetuning_type=full lora".
	ways []string
	// merges: a file changes keys of those before it, and what no file says has its default once.
	merges bool
	// settle derives what follows from several keys, once all files are read.
	settle func(in *Input)
}

// part is one file of a format.
type part struct {
	name string
	// keys are the lists that its keys are checked against.
	keys  string
	rules []rule
	// decode is nil for a file that is written only.
	decode func([]byte) (*node, error)
	encode func(in *Input, s *section) string
	run    func(in *Input) string
	needed func(in *Input) bool
}

func (p *part) command(in *Input) string {
	if p.run == nil {
		return ""
	}
	return p.run(in)
}

// knownKeys counts the keys of a file that the part's lists have.
func (p *part) knownKeys(n *node) int {
	held := 0
	r := reader{root: n}
	r.unread(n, "", func(path string, _ *node) {
		if keys.Known(p.keys, path) {
			held++
		}
	})
	return held
}

// all are the formats in the order in which they are listed.
var all = sync.OnceValue(func() []*framework {
	return []*framework{deepspeed(), accelerate(), megatron(), torchtune(), torchtitan(), axolotl(), llamaFactory(), trl()}
})

// Frameworks returns the names that Write and Read accept.
func Frameworks() (names []string) {
	for _, f := range all() {
		names = append(names, f.name)
	}
	return names
}

// find takes the name of a format or of a framework of plan.Training, with or without @version.
func find(name string) (*framework, error) {
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	for _, f := range all() {
		if name == f.name || has(f.names, name) {
			return f, nil
		}
	}
	return nil, &plan.Problem{
		Field: "framework", Value: name, Message: "no configuration of " + name + " is known here",
		Fix: "one of " + strings.Join(Frameworks(), ", "), Lacking: true,
	}
}

// readable are the formats that Read takes.
func readable() string {
	var names []string
	for _, f := range slices.Concat(all(), others()) {
		for i := range f.parts {
			if f.parts[i].decode != nil {
				names = append(names, f.name)
				break
			}
		}
	}
	return "one of " + strings.Join(names, ", ")
}

func has(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// can tells whether a format takes a value of a field.
func (f *framework) can(field, value string) bool {
	values := f.says[field]
	return values == "*" || has(values, value) || has(values, "~"+value)
}

// values of a field that a format takes; "*" stands for all.
func (f *framework) values(field string) []string {
	return strings.Fields(strings.ReplaceAll(f.says[field], "~", ""))
}
