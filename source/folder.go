package source

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
)

// contents lists the model files of a folder.
type contents struct {
	ggufs      []string // without projectors
	projectors []string
	tensors    []string // safetensors
	pickles    []string
	index      bool
	config     bool
	adapter    bool
}

func sorted(names []string) (c contents) {
	for _, n := range names {
		switch ext := strings.ToLower(path.Ext(n)); {
		case ext == ".gguf" && strings.Contains(strings.ToLower(n), "mmproj"):
			c.projectors = append(c.projectors, n)
		case ext == ".gguf":
			c.ggufs = append(c.ggufs, n)
		case ext == ".safetensors":
			c.tensors = append(c.tensors, n)
		case ext == ".bin", ext == ".pt", ext == ".pth":
			c.pickles = append(c.pickles, n)
		case n == indexName:
			c.index = true
		case n == "config.json":
			c.config = true
		case n == "adapter_config.json":
			c.adapter = true
		}
	}
	return c
}

func (c *contents) any() bool {
	return len(c.ggufs)+len(c.tensors) > 0 || c.config || c.adapter
}

// holdsModel reports whether a folder contains a model, rather than merely sharing its name with a catalog model.
func (d *disk) holdsModel(dir string) bool {
	names, err := d.list(dir)
	if err != nil {
		return false
	}
	c := sorted(names)
	return c.any()
}

// folder reads a folder: GGUF if there is any, else safetensors, else the config.json alone.
func (d *disk) folder(dir string) (*Resolved, error) {
	names, err := d.list(dir)
	if err != nil {
		return nil, err
	}
	c := sorted(names)
	switch {
	case len(c.ggufs) > 0:
		return d.onlyGGUF(dir, &c)
	case c.adapter:
		return nil, d.adapter(dir)
	case c.index:
		s, err := d.indexed(dir + indexName)
		if err != nil {
			return nil, err
		}
		return d.checkpoint(path.Base(d.absolute(dir)), s)
	case len(c.tensors) > 0:
		s, err := d.onlyTensors(dir, c.tensors)
		if err != nil {
			return nil, err
		}
		return d.checkpoint(path.Base(d.absolute(dir)), s)
	case c.config:
		return d.json(dir + "config.json")
	case len(c.pickles) > 0:
		return nil, pickled(c.pickles[0])
	}
	return nil, &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: dir, Message: fmt.Sprintf("folder %.200q holds no GGUF or safetensors files and no config.json", dir), Hint: "give the folder of a model"}
}

// onlyGGUF reads the single GGUF model of a folder: a file, or a split set.
func (d *disk) onlyGGUF(dir string, c *contents) (*Resolved, error) {
	var models []string
	for _, n := range c.ggufs {
		prefix, no, _, ok := gguf.SplitName(n)
		if !ok || no == 1 || !slices.ContainsFunc(c.ggufs, func(o string) bool { p, i, _, ok := gguf.SplitName(o); return ok && p == prefix && i < no }) {
			models = append(models, n)
		}
	}
	if len(models) > 1 {
		return nil, severalModels(dir, models)
	}
	r, err := d.gguf(dir + models[0])
	if err == nil && len(c.projectors) > 0 {
		note(r, "projector_beside", "%s beside it is its projector: --mmproj adds it", c.projectors[0])
	}
	return r, err
}

// onlyTensors selects the safetensors files of a folder without an index: a single file, model.safetensors, or a
// numbered set. Mistral's duplicate of the weights is ignored.
func (d *disk) onlyTensors(dir string, names []string) (*shards, error) {
	if len(names) > 1 {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, "consolidated") })
	}
	if slices.Contains(names, "model.safetensors") {
		return &shards{dir: dir, names: []string{"model.safetensors"}}, nil
	}
	var models []string
	seen := map[string]bool{}
	for _, n := range names {
		set := n
		if hit := numbered.FindStringSubmatch(n); hit != nil {
			set = hit[1] + "-of-" + hit[3]
		}
		if !seen[set] {
			seen[set] = true
			models = append(models, n)
		}
	}
	switch {
	case len(models) > 1:
		return nil, severalModels(dir, models)
	case len(models) == 0:
		return &shards{dir: dir, names: []string{"consolidated.safetensors"}}, nil
	}
	if hit := numbered.FindStringSubmatch(models[0]); hit != nil {
		return d.numberedSet(dir, hit)
	}
	return &shards{dir: dir, names: models}, nil
}

func severalModels(dir string, models []string) error {
	return &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: dir, Message: fmt.Sprintf("folder %.200q holds %d models: %s", dir, len(models), listed(models)), Hint: "name the file that is meant"}
}

// adapter returns an error that says which base model an adapter is for.
func (d *disk) adapter(dir string) error {
	_, c, err := d.parse(dir, "adapter_config.json")
	if err != nil {
		return err
	}
	return adapterError(path.Base(d.absolute(dir)), c.Str("base_model_name_or_path"))
}
