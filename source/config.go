package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/dropin"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// configuration is a config.json with any separate quantization file.
type configuration struct {
	name   string // of the file
	config *family.Config
	text   []byte         // of the file; reading may fill in fields of config
	beside *family.Config // separate quantization file
	named  string         // its name
	// families returns the drop-in families, as on disk.
	families func() ([]*dropin.Family, error)
}

// quantisationFiles may accompany a config.json without quantization settings: modelopt's, AutoGPTQ's and AutoAWQ's.
var quantisationFiles = []string{"hf_quant_config.json", "quantize_config.json", "quant_config.json"}

// configuration reads the config.json of a folder; nil if there is none.
func (d *disk) configuration(dir string) (*configuration, error) {
	if there, err := d.exists(dir + "config.json"); !there || err != nil {
		return nil, err
	}
	return d.readConfiguration(dir, "config.json")
}

func (d *disk) readConfiguration(dir, name string) (*configuration, error) {
	text, config, err := d.parse(dir, name)
	if err != nil {
		return nil, err
	}
	c := &configuration{name: name, config: config, text: text, families: d.families}
	for _, beside := range quantisationFiles {
		there, err := d.exists(dir + beside)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		_, q, err := d.parse(dir, beside)
		if err != nil {
			return nil, err
		}
		if inner := q.Sub("quantization"); inner != nil {
			q = inner
		}
		c.beside, c.named = q, beside
		break
	}
	return c, nil
}

func (d *disk) parse(dir, name string) ([]byte, *family.Config, error) {
	data, err := d.text(dir + name)
	if err != nil {
		return nil, nil, err
	}
	c, err := family.ParseConfig(data)
	if err != nil {
		return nil, nil, inFile(name, err)
	}
	return data, c, nil
}

// Config returns the model described by the text of a config.json.
func Config(id string, data []byte) (*Resolved, error) {
	config, err := family.ParseConfig(data)
	if err != nil {
		return nil, inFile("config.json", err)
	}
	return (&configuration{name: "config.json", config: config}).resolve(id)
}

// resolve returns the model that the config describes, stored as the config says.
func (c *configuration) resolve(id string) (*Resolved, error) {
	r := &Resolved{ID: id, Format: "config"}
	spec, err := c.spec(r)
	if unknown, ok := errors.AsType[*family.UnknownError](err); ok {
		return nil, &memwall.Error{Code: memwall.Unsupported, Field: "architectures", Value: unknown.Arch, Message: c.name + ": " + unknown.Error() + c.foreign(), Hint: "give the folder with its GGUF or safetensors files for exact weights"}
	}
	if err != nil {
		return nil, err
	}
	r.Provenance = fmt.Sprintf("%s (%s)", c.name, spec.Arch)
	r.Spec, r.Model = spec, spec.Model(id)
	if r.Derived != "" {
		note(r, "architecture_unknown", "%s: %s", c.name, r.Derived)
	}
	if err := c.store(r); err != nil {
		return nil, err
	}
	return r, nil
}

// foreign notes that an unknown architecture is described by code only, which is not executed.
func (c *configuration) foreign() string {
	for _, d := range c.config.Doubts() {
		if d.Code == "remote_code" {
			return "; it " + d.Text
		}
	}
	return ""
}

// spec reads the network. The caller distinguishes unknown architectures from invalid configs.
func (c *configuration) spec(r *Resolved) (*family.Spec, error) {
	doubts := c.config.Doubts() // before the reader fills in defaults
	spec, err := family.FromConfig(c.config)
	var unknown *family.UnknownError
	if errors.As(err, &unknown) {
		s, like, bad := c.droppedIn()
		if bad != nil {
			return nil, bad
		}
		if s != nil {
			spec, err = s, nil
			note(r, "described", "%s: no model family reads %s, and %s reads it as %s", c.name, unknown.Arch, like.File, like.Like)
		}
	}
	if errors.As(err, &unknown) {
		if s, how, bad := family.Generic(c.config); bad == nil {
			spec, r.Derived, err = s, how, nil
		}
	}
	if s, how, bad := family.Partly(c.config, err); err != nil && bad == nil {
		spec, r.Derived, err = s, how, nil
	}
	switch {
	case errors.As(err, &unknown):
		return nil, unknown
	case err != nil:
		return nil, inFile(c.name, err)
	}
	for _, d := range doubts {
		note(r, d.Code, "%s: %s", c.name, d.Text)
	}
	r.Cache, r.Method = c.cache()
	if f := spec.Native; f == nil || f.Float == nil || f.BlockBytes < 2 {
		spec.Native = dtype.BF16
		note(r, "dtype_assumed", "%s names no 16- or 32-bit dtype: bf16 is assumed for what is not quantised", c.name)
	}
	return spec, nil
}

// store determines how the checkpoint stores its weights.
func (c *configuration) store(r *Resolved) error {
	q, err := c.quantisation(r.Spec.Native)
	if err != nil || q == nil {
		return err
	}
	recipe, err := q.recipe(r.Model)
	if err != nil {
		return inFile(c.name, err)
	}
	r.Recipe = recipe.Name
	if dtype.FindRecipe(recipe.Name) != recipe {
		r.Scheme = recipe
	}
	return nil
}

// quantisation reads it from config.json, or from the accompanying file.
func (c *configuration) quantisation(native *dtype.Format) (*quantisation, error) {
	q, err := readQuantisation(c.config, native)
	if err != nil {
		return nil, inFile(c.name, err)
	}
	if q != nil || c.beside == nil {
		return q, nil
	}
	if q, err = readMethod(c.beside, native); err == nil {
		err = c.beside.Err()
	}
	if err != nil {
		return nil, inFile(c.named, err)
	}
	return q, nil
}

// storage returns what files are stored in: the recipe, the single format of all matrices, or "".
func (c *configuration) storage(r *Resolved, tensors []fileTensor) string {
	if r.Recipe != "" {
		return r.Recipe
	}
	var only *dtype.Format
	for i := range tensors {
		f := tensors[i].format
		if f == nil || only != nil && f != only {
			return "as in the file"
		}
		only = f
	}
	if only == nil {
		return "as in the file"
	}
	return only.Name
}

// unknownModel returns a model with one part and no layers.
func unknownModel(id, arch string) *model.Model {
	return &model.Model{ID: id, Arch: arch, Family: arch, Parts: []model.Part{{Name: partDecoder}}}
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
