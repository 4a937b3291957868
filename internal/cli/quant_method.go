package cli

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
)

// improvable are the formats that --method finds the codes of; one that was named and is not is an error.
func (f *quantFlags) improvable(formats []*quant.Format) ([]*quant.Format, error) {
	m := quant.Method(f.method)
	switch {
	case m != quant.Nearest && m != quant.GPTQ && m != quant.AWQ:
		return nil, usage("method", f.method, fmt.Sprintf("--method %q is neither gptq nor awq", f.method), "--method gptq")
	case m == quant.GPTQ && f.inputs == "":
		return nil, usage("method", f.method, "gptq is found from inputs one by one", "--activations FILE")
	case m == quant.AWQ && f.inputs == "" && f.imatrix == "":
		return nil, usage("method", f.method, "awq is found from how large inputs are", "--imatrix FILE, or --activations FILE")
	}
	not := func(x *quant.Format) bool { return !m.Improves(x) }
	if i := slices.IndexFunc(formats, not); i >= 0 && f.formats != "" && f.formats != "all" {
		return nil, usage("formats", formats[i].Name, fmt.Sprintf("--method %s is not for %s: its values are not evenly spaced, or it has a method of its own", m, formats[i].Name), "q4_0 to q8_0, q2_k to q6_k, int4 and int8")
	}
	return slices.DeleteFunc(slices.Clone(formats), not), nil
}

// foldings is what became of AWQ's places.
type foldings struct {
	gained int
	left   []quant.Unfolded
}

// fold looks for the places of AWQ in the network, and for their factors: those of the narrowest format.
func (a *app) fold(f *quantFlags, q *quantAsk, name string, m *quant.Model, stats *quant.Statistics) (out foldings, err error) {
	stats.Method = quant.Method(f.method)
	stats.Identity += "method " + f.method + "\n"
	if stats.Method != quant.AWQ {
		return out, nil
	}
	net, err := a.asker.Models.Model(name)
	if err != nil {
		return out, err
	}
	if net.UnknownArch != "" || net.Model == nil || net.Spec == nil {
		return out, &memwall.Error{Code: memwall.Unsupported, Field: "method", Value: f.method, Message: "awq divides in the layers before what it multiplies, and the network of " + name + " is not known", Hint: "a GGUF file, or the folder with the model's config.json; or --method gptq"}
	}
	if why := quant.Unsure(net.Model, m); why != "" {
		return out, &memwall.Error{Code: memwall.Unsupported, Field: "method", Value: f.method, Message: why, Hint: "a GGUF file of the model, whose norms are stored as they are used; or --method gptq"}
	}
	folds, left := quant.Folds(net.Model, m)
	of := q.formats[0]
	for _, x := range q.formats {
		if x.Scheme.Bits() < of.Scheme.Bits() {
			of = x
		}
	}
	stats.Identity += of.Name + "\n"
	out.left = left
	out.gained, err = stats.Scale(folds, of)
	return out, err
}
