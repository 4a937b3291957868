package memwall

import (
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// memo keeps what the questions of one search share: the models that references lead to, machines, networks with
// their weights, rents. An Asker with one gives the same answers sooner. It is not for several at once.
type memo struct {
	models     map[string]*Resolved
	projectors map[string]*engine.Projector
	machines   map[machineKey]machineFound
	built      map[builtKey]builtModel
	rents      map[machineKey]cost.Rate
	shared     *engine.Shared
	lengths    map[string][]int64
	orders     map[orderKey]*quality.Order
	stored     map[storedKey]unit.Bytes
}

type machineKey struct {
	name    string
	devices int
}

type machineFound struct {
	machine hardware.Machine
	notes   []hardware.Note
}

type builtKey struct {
	resolved *Resolved
	weights  string
	gguf     bool
	cast     *dtype.Format
}

// orderKey is what judged says of a model.
type orderKey struct {
	id, native string
	parameters int64
}

// storedKey is a network in a recipe.
type storedKey struct {
	model  *model.Model
	recipe *dtype.Recipe
}

type builtModel struct {
	model   *model.Model
	weights *model.Weights
}

func newMemo() *memo {
	return &memo{map[string]*Resolved{}, map[string]*engine.Projector{}, map[machineKey]machineFound{}, map[builtKey]builtModel{}, map[machineKey]cost.Rate{}, engine.NewShared(), map[string][]int64{}, map[orderKey]*quality.Order{}, map[storedKey]unit.Bytes{}}
}

// Remembering gives an asker that keeps what its questions share, and so answers the next sooner. It is not for several
// at once, and what it keeps grows with the models and machines that it is asked for: who asks without end takes a new
// one now and then.
func (a *Asker) Remembering() *Asker { return a.remembering() }

// Remembered is how many models, machines, networks and parts of plans the asker keeps, each of which takes some 6 KiB in
// the mean; 0 where it remembers nothing.
func (a *Asker) Remembered() int {
	m := a.memo
	if m == nil {
		return 0
	}
	return len(m.models) + len(m.machines) + len(m.built) + len(m.rents) + len(m.lengths) + len(m.orders) + len(m.stored) + m.shared.Len()
}

// remembering is the asker with a memory of its own.
func (a *Asker) remembering() *Asker {
	if a.memo != nil {
		return a
	}
	return &Asker{Models: a.Models, Calibration: a.Calibration, Data: a.Data, Traces: a.Traces, Watch: a.Watch, Parallel: a.Parallel, memo: newMemo()}
}

// resolve finds a model.
func (a *Asker) resolve(ref string) (*Resolved, error) {
	if a.memo == nil {
		return a.source().Model(ref)
	}
	if r, ok := a.memo.models[ref]; ok {
		return r, nil
	}
	r, err := a.source().Model(ref)
	if err == nil {
		a.memo.models[ref] = r
	}
	return r, err
}

// beside reads a projector.
func (a *Asker) beside(source ProjectorSource, ref string) (*engine.Projector, error) {
	if a.memo == nil {
		return source.Projector(ref)
	}
	if p, ok := a.memo.projectors[ref]; ok {
		return p, nil
	}
	p, err := source.Projector(ref)
	if err == nil {
		a.memo.projectors[ref] = p
	}
	return p, err
}

// find reads the name of a machine.
func (a *Asker) find(name string, devices int) (hardware.Machine, []hardware.Note, error) {
	if a.memo == nil {
		return hardware.Parse(name, devices)
	}
	key := machineKey{name, devices}
	if f, ok := a.memo.machines[key]; ok {
		return f.machine, f.notes, nil
	}
	m, notes, err := hardware.Parse(name, devices)
	if err == nil {
		a.memo.machines[key] = machineFound{m, notes}
	}
	return m, notes, err
}

// build makes a network and its weights; same is what a memory knows them by.
func (a *Asker) build(same builtKey, build func() builtModel) builtModel {
	if a.memo == nil {
		return build()
	}
	b, ok := a.memo.built[same]
	if !ok {
		b = build()
		a.memo.built[same] = b
	}
	return b
}

// stored is what a network takes in a recipe.
func (a *Asker) stored(m *model.Model, r *dtype.Recipe) unit.Bytes {
	if a.memo == nil {
		return m.Store(r).Bytes()
	}
	key := storedKey{m, r}
	n, ok := a.memo.stored[key]
	if !ok {
		n = m.Store(r).Bytes()
		a.memo.stored[key] = n
	}
	return n
}

// order of the formats of a question's model, by what they cost in quality.
func (a *Asker) order(q *question) *quality.Order {
	m := q.judged()
	if a.memo == nil {
		return quality.NewOrder(m)
	}
	key := orderKey{m.ID, m.Native, m.Parameters}
	o := a.memo.orders[key]
	if o == nil {
		o = quality.NewOrder(m)
		a.memo.orders[key] = o
	}
	return o
}

// shared is what jobs have in common; nil without a memory.
func (a *Asker) shared() *engine.Shared {
	if a.memo == nil {
		return nil
	}
	return a.memo.shared
}

// rentOf so many devices of a machine's kind: as the instance that was named, where somebody rents that, else from
// whoever rents such devices. Unknown where devices are unlike.
func (a *Asker) rentOf(m *hardware.Machine, devices int) cost.Rate {
	if len(m.Groups) != 1 {
		return cost.Rate{}
	}
	if m.Node != "" {
		if r := a.rent(m.Node, devices); r.PerHour.Known() {
			return r
		}
	}
	return a.rent(m.Groups[0].Device.ID, devices)
}

// perHour is what a machine rents for; nil where that is not known.
func (a *Asker) perHour(m *hardware.Machine) *float64 {
	if r := a.rentOf(m, m.Devices()); r.PerHour.Known() {
		return rounded(r.PerHour.Mid)
	}
	return nil
}

// rent of devices.
func (a *Asker) rent(device string, devices int) cost.Rate {
	if a.memo == nil {
		return cost.Rent(device, devices)
	}
	key := machineKey{device, devices}
	r, ok := a.memo.rents[key]
	if !ok {
		r = cost.Rent(device, devices)
		a.memo.rents[key] = r
	}
	return r
}
