// Package config renders the configuration that a training framework accepts for a plan, and parses such files back
// into a plan. It knows vocabulary: which key expresses which field in which framework, and what a framework cannot
// express. It sizes nothing.
//
// See framework.go for the table of frameworks, then the file of one framework: each key is one rule, used in both
// directions. says.go has what each framework can express, refuse.go how the rest is rejected, keys.go the lists of
// keys in the frameworks' sources. Nothing is executed and no file is opened.
package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/plan"
)

// Input is the input of a configuration writer: a model by its names, and a plan with all defaults filled in.
type Input struct {
	// Model is the catalog's name, Hub the id on the Hugging Face hub; frameworks load the model by it.
	Model, Hub string
	Plan       plan.Plan
	Training   plan.Training
	// Devices are all of them, over Nodes machines; 0 reads as 1.
	Devices, Nodes int64
	// Layers of the decoder; 0 where nobody says. Megatron-LM counts those of a stage that are computed again.
	Layers int64
	// Shape is for Megatron-LM, which builds the model from numbers; nil takes them from a checkpoint.
	Shape *Shape
}

// Shape holds the dimensions of a decoder.
type Shape struct {
	Layers, Hidden, Heads, KVHeads, HeadDim, FFN, Vocab, Positions int64
	Experts, TopK, ExpertFFN                                       int64
	Gated, Tied, RMSNorm, Rotary, Biased                           bool
	// Latent: keys and values are kept as one latent vector (multi-head latent attention), whose widths are not here.
	Latent bool
	// Plain: the numbers say all that a decoder is built from, so that one of a catalog can stand for it with them put in.
	Plain bool
}

// File is a configuration. Run is the command that takes it, where it is not the file itself.
type File struct{ Name, Text, Run string }

// Write gives the files of a framework for a plan. What the framework cannot say is a *plan.Problem.
func Write(framework string, in Input) ([]File, error) {
	f, err := find(framework)
	if err != nil {
		return nil, err
	}
	in.Devices, in.Nodes = max(1, in.Devices), max(1, in.Nodes)
	if err := check(f, &in); err != nil {
		return nil, err
	}
	var out []File
	for i := range f.parts {
		p := &f.parts[i]
		if p.needed != nil && !p.needed(&in) {
			continue
		}
		out = append(out, File{Name: p.name, Text: p.encode(&in, p.settings(&in)), Run: p.command(&in)})
	}
	return out, nil
}

// settings are what a part's rules write.
func (p *part) settings(in *Input) *section {
	s := &section{}
	for _, r := range p.rules {
		if r.put != nil {
			r.put(in, s)
		}
	}
	return s
}

// readAll reads the files of one run, the later over the earlier.
func (f *framework) readAll(files [][]byte) (in Input, unread []string, err error) {
	if f.merges {
		unread, err = f.readMerged(files, &in)
		files = nil
	}
	if err != nil {
		return Input{}, nil, err
	}
	for _, data := range files {
		left, err := f.read(data, &in)
		if err != nil {
			return Input{}, nil, err
		}
		unread = append(unread, left...)
	}
	in.Training.Framework = cmp.Or(in.Training.Framework, f.plan)
	if f.settle != nil {
		f.settle(&in)
	}
	return in, unread, nil
}

// read finds the part that a file is, and reads it.
func (f *framework) read(data []byte, in *Input) ([]string, error) {
	p, n, err := f.part(data)
	if err != nil {
		return nil, err
	}
	return f.readTree(p, n, in)
}

// readMerged reads files of which each changes keys of those before it.
func (f *framework) readMerged(files [][]byte, in *Input) ([]string, error) {
	p, tree := &f.parts[0], block()
	for _, data := range files {
		_, n, err := f.part(data)
		if err != nil {
			return nil, err
		}
		tree.merge(n)
	}
	return f.readTree(p, tree, in)
}

func (f *framework) readTree(p *part, n *node, in *Input) ([]string, error) {
	if key := f.trainsNot(n); key != "" {
		return nil, wrong("file", "has "+key+" and no optimizer: it trains nothing", "a configuration of a recipe that trains")
	}
	if err := f.otherWay(n); err != nil {
		return nil, err
	}
	r := &reader{root: n, seen: map[*node]bool{}}
	for _, rule := range p.rules {
		if rule.get != nil {
			rule.get(in, r)
		}
	}
	return r.left(p), nil
}

// trainsNot is the key by which a file generates, evaluates or quantises; "" where it may train.
func (f *framework) trainsNot(n *node) string {
	for _, key := range f.idle {
		if n.at(key) != nil && n.at("optimizer") == nil {
			return key
		}
	}
	return ""
}

// otherWay refuses a way of training that no plan sizes, rather than take it for full weights.
func (f *framework) otherWay(n *node) error {
	for _, w := range f.ways {
		key, known, _ := strings.Cut(w, "=")
		v := n.at(key)
		if v == nil || v.null || v.text == "" || has(known, v.text) {
			continue
		}
		return &plan.Problem{Field: "config", Value: key, Message: key + " = " + v.String() + " is a way of training that is not sized here", Fix: "one of " + strings.Join(strings.Fields(known), ", "), Lacking: true}
	}
	return nil
}

// part is the part that holds most of a file's keys.
func (f *framework) part(data []byte) (*part, *node, error) {
	var best *part
	var tree *node
	most := -1
	var first error
	for i := range f.parts {
		p := &f.parts[i]
		if p.decode == nil {
			continue
		}
		n, err := p.decode(data)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if held := p.knownKeys(n); held > most {
			best, tree, most = p, n, held
		}
	}
	switch {
	case best == nil && first == nil:
		return nil, nil, &plan.Problem{Field: "framework", Value: f.name, Message: f.title + " files are written and not read here", Fix: readable(), Lacking: true}
	case best == nil:
		return nil, nil, first
	}
	return best, tree, nil
}

func wrong(file, message, fix string) *plan.Problem {
	return &plan.Problem{Field: "config", Value: file, Message: fmt.Sprintf("the %s %s", file, message), Fix: fix}
}
