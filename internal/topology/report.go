package topology

import (
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/unit"
)

// Report says which GPUs to take for tensor groups of each size, and, where a model is named, what its all-reduces cost.
type Report struct {
	Device string `json:"device"`
	GPUs   int    `json:"gpus"`
	Matrix Matrix `json:"matrix"`
	// Variable of the environment that chooses GPUs.
	Variable string   `json:"variable"`
	Model    string   `json:"model,omitempty"`
	Weights  string   `json:"weights,omitempty"`
	Engine   string   `json:"engine,omitempty"`
	Users    int64    `json:"users,omitempty"`
	Context  int64    `json:"context,omitempty"`
	Rows     []Row    `json:"rows"`
	Notes    []string `json:"notes,omitempty"`
}

// Row is a group that one may take.
type Row struct {
	TP    int   `json:"tp"`
	Group Group `json:"group"`
	// Also are further groups as good, of the GPUs that are left.
	Also []Group `json:"also,omitempty"`
	// Unless is set on the GPUs that a program takes unless it is told, where others are better.
	Unless bool           `json:"unless_told,omitempty"`
	Rate   *unit.ByteRate `json:"bytes_per_s_each_way"`
	Cost   *Cost          `json:"cost,omitempty"`
}

// Cost is what a model makes of a group.
type Cost struct {
	Verdict api.Verdict `json:"verdict"`
	// AllReduce is the time of the all-reduces of one decode step; Layer that of one layer, Share of the whole step.
	AllReduce *float64 `json:"all_reduce_ms"`
	Layer     *float64 `json:"all_reduce_us_per_layer"`
	Share     *float64 `json:"share_of_step"`
	Decode    *float64 `json:"decode_tokens_per_s"`
	Prefill   *float64 `json:"prefill_tokens_per_s"`
}

// sizes of groups: what tensor parallelism divides by.
var sizes = []int{2, 4, 8, 16}

// For reads a matrix and reports on it, of the device that a text names, whose count and links are the matrix's to say.
func For(text, device string, r *api.Request, ask func(*api.Request) (*api.Answer, error)) (*Report, error) {
	m, err := Read(text)
	if err != nil {
		return nil, err
	}
	machine, notes, err := hardware.Parse(device, 0)
	if err != nil {
		return nil, err
	}
	if len(machine.Groups) != 1 {
		return nil, &api.Error{Code: api.BadField, Field: "hardware", Value: device, Hint: "the GPU that the matrix is of",
			Message: device + " is not one kind of device"}
	}
	out, err := New(m, &machine.Groups[0].Device, r, ask)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		if n.Code != "link_assumed" && n.Code != "fabric_assumed" {
			out.note(n.Text)
		}
	}
	return out, nil
}

// New reports on a machine of one kind of device. ask answers a fit; it is not asked where the request names no model.
// The error is an *api.Error.
func New(m Matrix, d *hardware.Device, r *api.Request, ask func(*api.Request) (*api.Answer, error)) (*Report, error) {
	if err := m.Fits(d); err != nil {
		return nil, err
	}
	out := &Report{Device: d.Name, GPUs: len(m), Matrix: m, Variable: "CUDA_VISIBLE_DEVICES"}
	if d.Vendor == "AMD" {
		out.Variable = "HIP_VISIBLE_DEVICES"
	}
	for _, n := range sizes {
		if n > len(m) {
			break
		}
		if err := out.add(n, d); err != nil {
			return nil, err
		}
	}
	if r.Model == "" {
		return out, nil
	}
	err := out.price(d, r, ask)
	return out, err
}

// add the best group of a size, and the one that a program takes unless it is told.
func (o *Report) add(n int, d *hardware.Device) error {
	best, err := o.Matrix.Groups(n)
	if err != nil {
		return err
	}
	o.Rows = append(o.Rows, row(&best[0], best[1:], d))
	if first := o.Matrix.Group(o.Matrix.all()[:n]); compare(&first, &best[0]) > 0 {
		r := row(&first, nil, d)
		r.Unless = true
		o.Rows = append(o.Rows, r)
	}
	return nil
}

func row(g *Group, also []Group, d *hardware.Device) Row {
	r := Row{TP: len(g.GPUs), Group: *g, Also: also}
	if rate, known := g.EachWay(d); known {
		r.Rate = &rate
	}
	return r
}

// price each row, the largest first, and one GPU alone. What stands in the way of all of them is an error, of some a note.
func (o *Report) price(d *hardware.Device, r *api.Request, ask func(*api.Request) (*api.Answer, error)) error {
	o.Rows = slices.Insert(o.Rows, 0, Row{TP: 1, Group: Group{GPUs: []int{0}}})
	ask = alike(ask)
	for i := len(o.Rows) - 1; i >= 0; i-- {
		w := &o.Rows[i]
		words := d.ID
		if w.TP > 1 {
			words = w.Group.words(d)
		}
		if words == "" {
			continue
		}
		q := *r
		q.Ask, q.Hardware, q.TP = "fit", words, int64(w.TP)
		a, err := ask(&q)
		if err == nil {
			o.priced(a)
			w.Cost = cost(a)
			if a.Verdict == api.Fits && w.Cost.Decode == nil {
				return &api.Error{Code: api.Unsupported, Field: "model", Value: r.Model, Hint: "a model that decodes, such as llama-3.1-8b",
					Message: r.Model + " has no speed of tokens here, so nobody knows what its all-reduces cost"}
			}
		} else if o.note(api.AsError(err).Message); i == 0 && o.Model == "" {
			return err
		}
	}
	return nil
}

// alike asks with the engine and the formats that the first answer took, so that answers compare.
func alike(ask func(*api.Request) (*api.Answer, error)) func(*api.Request) (*api.Answer, error) {
	var first *api.Answer
	return func(r *api.Request) (*api.Answer, error) {
		if first != nil {
			r.Engine, r.Weights, r.KV = first.Plan.Engine, first.Plan.Weights, first.Plan.KV
		}
		a, err := ask(r)
		if first == nil && err == nil {
			first = a
		}
		return a, err
	}
}

func (o *Report) note(text string) {
	if !slices.Contains(o.Notes, text) {
		o.Notes = append(o.Notes, text)
	}
}

// priced says what was asked for.
func (o *Report) priced(a *api.Answer) {
	o.Model, o.Weights, o.Engine, o.Context = a.Model.ID, a.Plan.Weights, a.Plan.Engine, int64(a.Plan.Context)
	o.Users = int64(a.Plan.Sequences)
	if a.Model.Name != "" {
		o.Model = a.Model.Name
	}
}

func cost(a *api.Answer) *Cost {
	c := &Cost{Verdict: a.Verdict}
	s := a.Speed
	if s == nil {
		return c
	}
	c.Decode, c.Prefill = s.Decode, s.Prefill
	for _, p := range s.Parts {
		if p.Name != "all_reduce" {
			continue
		}
		ms := p.MS
		layer := 1000 * ms / float64(max(1, a.Model.Layers))
		c.AllReduce, c.Layer = &ms, &layer
		if s.TPOT != nil && *s.TPOT > 0 {
			share := ms / *s.TPOT
			c.Share = &share
		}
	}
	return c
}
