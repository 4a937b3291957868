package snapshot

import (
	_ "embed" // the rules
	"strings"
	"sync"
)

// role is a set of what a line of code does, within a stack.
type role uint16

const (
	optimizing role = 1 << iota
	backward
	accumulating // gradients, in autograd itself
	forward
	loading
	feeding    // copying samples to the device
	gathering  // gathering parameter shards
	reducing   // reducing gradients over ranks
	exchanging // other collectives
	workspace  // of cuBLAS
	caching    // keys and values
	clearing   // gradients set to none: nothing is made there
)

// rule gives the frames of a file, of a function or of both a role. File and function are parts of the path and of the name; a
// function that begins with = is meant whole.
type rule struct {
	file, function string
	role           role
}

//go:embed rules.tsv
var rulesText string

// rules of frames, as rules.tsv lists them.
var rules = sync.OnceValue(func() (all []rule) {
	for line := range strings.Lines(rulesText) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) != 3 {
			continue
		}
		r := rule{file: cells[0], function: cells[1]}
		for name := range strings.FieldsSeq(cells[2]) {
			r.role |= roleNames[name]
		}
		all = append(all, r)
	}
	return all
})

// roleNames are roles as rules.tsv has them.
var roleNames = map[string]role{
	"optimizing": optimizing, "backward": backward, "accumulating": accumulating, "forward": forward,
	"loading": loading, "feeding": feeding, "gathering": gathering, "reducing": reducing, "exchanging": exchanging,
	"workspace": workspace, "caching": caching, "clearing": clearing,
}

func (r *rule) matches(file, name string) bool {
	if !strings.Contains(file, r.file) {
		return false
	}
	if whole, ok := strings.CutPrefix(r.function, "="); ok {
		return name == whole || strings.HasSuffix(name, "."+whole)
	}
	return strings.Contains(name, r.function)
}

// settle gives every stack the roles of its frames.
func (s *stacks) settle() {
	of, rules := make([]role, len(s.frames)), rules()
	for i, f := range s.frames {
		for j := range rules {
			if rules[j].matches(strings.ReplaceAll(s.texts[f.file], `\`, "/"), s.texts[f.name]) {
				of[i] |= rules[j].role
			}
		}
	}
	s.roles = make([]role, len(s.lists))
	for i, list := range s.lists {
		for _, f := range list {
			s.roles[i] |= of[f]
		}
	}
}
