package quantize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/unit"
)

// Options are what is asked, as flags say it: formats and names in words, read by Run.
type Options struct {
	// Formats by name, separated by commas; "all": all that are known; "": those that people choose from.
	Formats string
	// Family is "gguf" or "hub": whose formats a mixture is of.
	Family string
	// By is "role", "layer" or "tensor", or "".
	By string
	// Budget is bytes for the weights; Fits is a device, whose room is the budget. Context tokens must fit there too.
	Budget, Fits string
	Context      int64
	// Imatrix and Inputs are files: an importance matrix, and activations.
	Imatrix, Inputs string
	Method          string
	// Floors are "role=format".
	Floors []string
	// Tokens is the dimension of keys and values that counts tokens.
	Tokens        int
	Curve, Spread bool
	// Write, Save and Recipe are names of files.
	Write, Save, Recipe string
	Force, Again        bool
}

// question is what the flags ask for.
type question struct {
	formats []*quant.Format
	family  quant.Family
	floors  []quant.Floor
	budget  unit.Bytes
	parts   func([]*quant.Measured, *quant.Format) []quant.Part
}

func (o *Options) read() (*question, error) {
	q := &question{}
	var err error
	if q.formats, err = formatsOf(o.Formats); err != nil {
		return nil, err
	}
	if q.formats, err = o.askable(q.formats); err != nil {
		return nil, err
	}
	if q.formats, err = o.improvable(q.formats); err != nil {
		return nil, err
	}
	for _, s := range o.Floors {
		role, name, _ := strings.Cut(s, "=")
		floor, ok := quant.FloorOf(role, name)
		if !ok {
			return nil, bad("floor", s, fmt.Sprintf("--floor %q is not a role and a format", s), "--floor attn_v=q6_k")
		}
		q.floors = append(q.floors, floor)
	}
	if o.Budget != "" {
		if q.budget, err = unit.ParseBytes(o.Budget); err != nil || q.budget <= 0 {
			return nil, bad("budget", o.Budget, fmt.Sprintf("--budget %q is not a number of bytes", o.Budget), "--budget 8GiB")
		}
	}
	if o.Fits != "" && o.Budget != "" {
		return nil, bad("fits", o.Fits, "--budget and --fits both say how much there is", "give one of them")
	}
	if o.Recipe != "" && o.Fits == "" && q.budget == 0 {
		return nil, bad("recipe", o.Recipe, "a recipe is of a mixture, and there is no --budget", "--budget 8GiB --family hub")
	}
	if o.Write != "" && o.Fits == "" && q.budget == 0 && len(q.formats) != 1 {
		return nil, bad("write", o.Write, "nothing says what to write: no --budget, and not exactly one format",
			"--formats q4_k --write "+o.Write)
	}
	return q, o.words(q)
}

func (o *Options) words(q *question) error {
	switch o.Family {
	case "gguf":
	case "hub":
		q.family = quant.Hub
	default:
		return bad("family", o.Family, fmt.Sprintf("--family %q is neither gguf nor hub", o.Family), "--family gguf")
	}
	switch o.By {
	case "", "tensor":
	case "role":
		q.parts = quant.ByRole
	case "layer":
		q.parts = quant.ByLayer
	default:
		return bad("per", o.By, fmt.Sprintf("--per %q is not role, layer or tensor", o.By), "--per role")
	}
	return nil
}

// usual formats are those that are measured unless others are named: of each size what people choose from.
const usual = "q8_0,q6_k,q5_k,q5_0,q4_k,q4_0,iq4_xs,q3_k,q2_k,fp8,int8,int4-g128,int4-zero-g128,nvfp4,mxfp4,nf4"

func formatsOf(names string) ([]*quant.Format, error) {
	if names == "all" {
		return quant.Formats(), nil
	}
	var out []*quant.Format
	for name := range strings.SplitSeq(cmp.Or(names, usual), ",") {
		f, near := quant.Find(name)
		if f == nil {
			hint := "--formats all"
			if len(near) > 0 {
				hint = "did you mean: " + strings.Join(near, ", ")
			}
			return nil, bad("formats", name, fmt.Sprintf("no format called %q can be tried", name), hint)
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

// askable drops formats that ask for more about inputs than the files tell; one that was named is an error.
func (o *Options) askable(formats []*quant.Format) ([]*quant.Format, error) {
	known := quant.Nothing
	switch {
	case o.Inputs != "":
		known = quant.OfEach
	case o.Imatrix != "":
		known = quant.OfColumns
	}
	beyond := func(x *quant.Format) bool { return x.Asks > known }
	if i := slices.IndexFunc(formats, beyond); i >= 0 && o.Formats != "all" {
		x := formats[i]
		return nil, bad("formats", x.Name, x.Name+" is found from the inputs of a matrix, and no file tells enough of them",
			"--activations FILE")
	}
	return slices.DeleteFunc(slices.Clone(formats), beyond), nil
}
