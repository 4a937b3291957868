package llamacpp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// trial is a placement that --fit tries.
type trial struct {
	context int64   // of all slots together; 0: as the plan has it
	shares  []share // of the devices; nil: as the plan has it
	start   int     // the first device that holds layers in part
	// hostExperts: the routed experts of all layers lie on the host.
	hostExperts bool
}

// share is what one device holds: layers in a row, the output layer counted, of which the last ones are held in
// part.
type share struct {
	layers, part int
	keeps        fraction // of the first layer that is held in part; the others keep all but experts
	spill        int      // where the rest of that layer lies
}

func (s share) fullLayers() int { return s.layers - s.part }

// fraction is what stays of a layer that a device holds in part.
type fraction uint8

const (
	dense    fraction = iota // all but the routed experts
	attn                     // nothing of the feed-forward network
	withUp                   // attention and ffn_up
	withGate                 // all but ffn_down
)

// leaving are the expressions of the tensors that leave, after "blk.N." (common/fit.cpp, get_overflow_pattern).
var leaving = [...]string{
	dense: `ffn_(up|down|gate_up|gate)_(ch|)exps`, attn: `ffn_(gate|up|gate_up|down).*`, withUp: `ffn_(gate|gate_up|down).*`, withGate: `ffn_down.*`,
}

// leaves reports whether a tensor of a layer in part lies elsewhere.
func (f fraction) leaves(layer int, t *model.Tensor) bool {
	if f == dense {
		return expertMatrix(t.Role)
	}
	_, name, _ := strings.Cut(strings.TrimPrefix(t.GGUF(layer), "blk."), ".")
	for _, out := range [...][]string{attn: {"ffn_gate", "ffn_up", "ffn_down"}, withUp: {"ffn_gate", "ffn_down"}, withGate: {"ffn_down"}}[f] {
		if strings.HasPrefix(name, out) {
			return true
		}
	}
	return false
}

// cut is a layer held in part.
type cut struct {
	keeps fraction
	place int
}

func (t *trial) placed() bool { return t.shares != nil }

func (t *trial) clone() trial {
	out := *t
	out.shares = append([]share(nil), t.shares...)
	return out
}

func (t *trial) layers() (n int) {
	for _, s := range t.shares {
		n += s.layers
	}
	return n
}

func (t *trial) partial() (n int) {
	for _, s := range t.shares {
		n += s.part
	}
	return n
}

// cuts are the layers in part of a model with so many layers, by layer.
func (t *trial) cuts(layers int) map[int]cut {
	out := map[int]cut{}
	t.eachCut(layers, func(layer int, c cut) { out[layer] = c })
	return out
}

func (t *trial) eachCut(layers int, f func(layer int, c cut)) {
	at := layers + 1 - t.layers()
	for _, s := range t.shares {
		at += s.fullLayers()
		for i := range s.part {
			c := cut{keeps: dense, place: host}
			if i == 0 {
				c = cut{s.keeps, s.spill}
			}
			f(at+i, c)
		}
		at += s.part
	}
}

// write puts the trial into a plan, in the words of the command line.
func (t *trial) write(p *plan.Plan) {
	if t.context > 0 {
		p.ContextTotal, p.Context, p.PromptTokens, p.OutputTokens = plan.Int(t.context), 0, 0, 0
	}
	if t.hostExperts {
		all := plan.Int(-1)
		p.CPUMoE = &all
	}
	if !t.placed() {
		return
	}
	n := plan.Int(t.layers())
	p.GPULayers, p.TensorSplit = &n, ""
	if len(t.shares) > 1 {
		var each []string
		for _, s := range t.shares {
			each = append(each, fmt.Sprint(s.layers))
		}
		p.TensorSplit = strings.Join(each, ",")
	}
}

// overrides are the -ot of the layers in part, layers that lose the same to the same place in one expression;
// name gives the buffer of a place.
func (t *trial) overrides(layers int, name func(place int) string) string {
	var order []cut
	numbers := map[cut][]string{}
	t.eachCut(layers, func(layer int, c cut) {
		if numbers[c] == nil {
			order = append(order, c)
		}
		numbers[c] = append(numbers[c], strconv.Itoa(layer))
	})
	var out []string
	for _, c := range order {
		out = append(out, fmt.Sprintf(`blk\.(%s)\.%s=%s`, strings.Join(numbers[c], "|"), leaving[c.keeps], name(c.place)))
	}
	return strings.Join(out, ",")
}

// measured is what a trial takes of each device (or of the host, without devices): as a whole, and its weights.
type measured struct{ used, weights []int64 }

// measure sizes a trial as a dry run does: nothing is mapped, and compute buffers are those that it counts.
func (f *fitter) measure(t trial) (measured, error) {
	j, p := *f.job, *f.job.Plan
	j.Plan, j.Notes = &p, nil
	t.write(&p)
	p.Mmap, p.DryRun = new(bool), new(bool)
	*p.DryRun = true
	f.engine.slotContext(&j, f.rules)
	m, err := moverOf(&j, f.rules)
	if err != nil {
		return measured{}, err
	}
	if t.placed() {
		m.cuts = t.cuts(f.layers)
	}
	s, err := f.engine.sizer(&j, m, f.known, true)
	if err != nil {
		return measured{}, err
	}
	return s.dryRun(), nil
}

// dryParts are what a dry run counts; a draft model and a projector count too.
var dryParts = map[string]bool{"weights": true, "kv_cache": true, "state": true}

// dryRun is what llama.cpp's dry run counts on each device, or on the host.
func (s *sizer) dryRun() measured {
	load := s.job.Load()
	sh := s.set.shape(&s.rules, load)
	compute := s.graph.buffers(&sh).run
	var out measured
	for i, r := range s.Size(nil, load) {
		used, weights := int64(compute[i]), int64(0)
		for k := range r.Items {
			it := &r.Items[k]
			if it.Place != ledger.Device {
				continue
			}
			part, extra := strings.CutPrefix(it.ID, "draft.")
			switch {
			case it.ID == "weights":
				weights += int64(it.Bytes)
				used += int64(it.Bytes)
			case dryParts[it.ID], extra && (dryParts[part] || part == "compute"), strings.HasPrefix(it.ID, "mmproj."), strings.HasPrefix(it.ID, "mtp."), it.ID == "output":
				used += int64(it.Bytes)
			}
		}
		out.used, out.weights = append(out.used, used), append(out.weights, weights)
	}
	return out
}
