package quantize

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
)

// improvable are the formats that --method finds the codes of; one that was named and is not is an error.
func (o *Options) improvable(formats []*quant.Format) ([]*quant.Format, error) {
	m := quant.Method(o.Method)
	switch {
	case m != quant.Nearest && m != quant.GPTQ && m != quant.AWQ:
		return nil, bad("method", o.Method, fmt.Sprintf("--method %q is neither gptq nor awq", o.Method), "--method gptq")
	case m == quant.GPTQ && o.Inputs == "":
		return nil, bad("method", o.Method, "gptq is found from inputs one by one", "--activations FILE")
	case m == quant.AWQ && o.Inputs == "" && o.Imatrix == "":
		return nil, bad("method", o.Method, "awq is found from how large inputs are", "--imatrix FILE, or --activations FILE")
	}
	not := func(x *quant.Format) bool { return !m.Improves(x) }
	if i := slices.IndexFunc(formats, not); i >= 0 && o.Formats != "" && o.Formats != "all" {
		return nil, bad("formats", formats[i].Name,
			fmt.Sprintf("--method %s is not for %s: its values are not evenly spaced, or it has a method of its own", m, formats[i].Name),
			"q4_0 to q8_0, q2_k to q6_k, int4 and int8")
	}
	return slices.DeleteFunc(slices.Clone(formats), not), nil
}

// foldings is what became of AWQ's places.
type foldings struct {
	gained int
	left   []quant.Unfolded
}

// fold looks for the places of AWQ in the network, and for their factors: those of the narrowest format.
func (w *work) fold(m *quant.Model, stats *quant.Statistics) (out foldings, err error) {
	stats.Method = quant.Method(w.Method)
	stats.Identity += "method " + w.Method + "\n"
	if stats.Method != quant.AWQ {
		return out, nil
	}
	net, err := w.Models.Model(w.name)
	if err != nil {
		return out, err
	}
	if net.UnknownArch != "" || net.Model == nil || net.Spec == nil {
		return out, &memwall.Error{Code: memwall.Unsupported, Field: "method", Value: w.Method,
			Message: "awq divides in the layers before what it multiplies, and the network of " + w.name + " is not known",
			Hint:    "a GGUF file, or the folder with the model's config.json; or --method gptq"}
	}
	if why := quant.Unsure(net.Model, m); why != "" {
		return out, &memwall.Error{Code: memwall.Unsupported, Field: "method", Value: w.Method,
			Message: why, Hint: "a GGUF file of the model, whose norms are stored as they are used; or --method gptq"}
	}
	folds, left := quant.Folds(net.Model, m)
	of := w.q.formats[0]
	for _, x := range w.q.formats {
		if x.Scheme.Bits() < of.Scheme.Bits() {
			of = x
		}
	}
	stats.Identity += of.Name + "\n"
	out.left = left
	out.gained, err = stats.Scale(folds, of)
	return out, err
}
