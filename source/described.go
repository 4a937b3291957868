package source

import (
	"path"

	"github.com/memwall/memwall/format/arch"
)

// described reads a network description in YAML. It has no stored weights: they use the plan's format, or else the
// description's own.
func (d *disk) described(file string) (*Resolved, error) {
	name := path.Base(file)
	text, err := d.text(file)
	if err != nil {
		return nil, err
	}
	a, err := arch.Parse(text)
	if err != nil {
		return nil, inFile(name, err)
	}
	id := d.idOf(file)
	r := &Resolved{ID: id, Name: a.Name, Format: "description", Provenance: "described in " + name, Spec: a.Spec, Model: a.Spec.Model(id)}
	note(r, "described", "the network is as %s describes it: no file of weights bears it out", name)
	if a.Spec.Family == arch.Own {
		note(r, "described", "%s says of no architecture that it is like it: engines are asked as if they ran it", name)
	}
	return r, nil
}
