package question

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/unit"
)

// Memo caches what the questions of a search share: resolved models, machines, networks with their weights, rents. It
// speeds up answers without changing them, and is not safe for concurrent use.
type Memo struct {
	Models     map[string]*api.Resolved
	projectors map[string]*engine.Projector
	Machines   map[MachineKey]MachineFound
	built      map[BuiltKey]BuiltModel
	rents      map[MachineKey]cost.Rate
	shared     *engine.Shared
	Lengths    map[string][]int64
	orders     map[orderKey]*quality.Order
	stored     map[storedKey]unit.Bytes
}

// MachineKey identifies a machine by how it was asked for.
type MachineKey struct {
	Name    string
	Devices int
}

// MachineFound is a machine with the notes on its name.
type MachineFound struct {
	Machine hardware.Machine
	notes   []hardware.Note
}

// BuiltKey is all that a network and its weights depend on.
type BuiltKey struct {
	Resolved *api.Resolved
	Weights  string
	gguf     bool
	cast     *dtype.Format
}

// orderKey identifies a model for its quality order.
type orderKey struct {
	id, native string
	parameters int64
}

// storedKey is a network in a recipe.
type storedKey struct {
	model  *model.Model
	recipe *dtype.Recipe
}

// BuiltModel is a network with its weights.
type BuiltModel struct {
	Model   *model.Model
	Weights *model.Weights
}

// NewMemo returns an empty cache.
func NewMemo() *Memo {
	return &Memo{map[string]*api.Resolved{}, map[string]*engine.Projector{}, map[MachineKey]MachineFound{}, map[BuiltKey]BuiltModel{},
		map[MachineKey]cost.Rate{}, engine.NewShared(), map[string][]int64{}, map[orderKey]*quality.Order{}, map[storedKey]unit.Bytes{}}
}

// Remembered returns the number of models, machines, networks and partial plans in the cache, about 6 KiB each on
// average; 0 without one.
func (a *Env) Remembered() int {
	m := a.Memo
	if m == nil {
		return 0
	}
	return len(m.Models) + len(m.Machines) + len(m.built) + len(m.rents) + len(m.Lengths) + len(m.orders) + len(m.stored) + m.shared.Len()
}

// Remembering returns the Env itself if it has a cache, else a copy with a new one.
func (a *Env) Remembering() *Env {
	if a.Memo != nil {
		return a
	}
	return &Env{Models: a.Models, Calibration: a.Calibration, Data: a.Data, Traces: a.Traces, Watch: a.Watch, Parallel: a.Parallel,
		Memo: NewMemo()}
}

// Silently returns the Env for questions of which nobody reads the notes.
func (a *Env) Silently() *Env {
	b := *a
	b.Silent = true
	return &b
}

// Resolve resolves a model reference.
func (a *Env) Resolve(ref string) (*api.Resolved, error) {
	if a.Memo == nil {
		return a.Source().Model(ref)
	}
	if r, ok := a.Memo.Models[ref]; ok {
		return r, nil
	}
	r, err := a.Source().Model(ref)
	if err == nil {
		a.Memo.Models[ref] = r
	}
	return r, err
}

// readProjector reads a projector.
func (a *Env) readProjector(source api.ProjectorSource, ref string) (*engine.Projector, error) {
	if a.Memo == nil {
		return source.Projector(ref)
	}
	if p, ok := a.Memo.projectors[ref]; ok {
		return p, nil
	}
	p, err := source.Projector(ref)
	if err == nil {
		a.Memo.projectors[ref] = p
	}
	return p, err
}

// Find parses the description of a machine.
func (a *Env) Find(name string, devices int) (hardware.Machine, []hardware.Note, error) {
	if a.Memo == nil {
		return hardware.Parse(name, devices)
	}
	key := MachineKey{name, devices}
	if f, ok := a.Memo.Machines[key]; ok {
		return f.Machine, f.notes, nil
	}
	m, notes, err := hardware.Parse(name, devices)
	if err == nil {
		a.Memo.Machines[key] = MachineFound{m, notes}
	}
	return m, notes, err
}

// Build builds a network and its weights, cached under same.
func (a *Env) Build(same BuiltKey, build func() BuiltModel) BuiltModel {
	if a.Memo == nil {
		return build()
	}
	b, ok := a.Memo.built[same]
	if !ok {
		b = build()
		a.Memo.built[same] = b
	}
	return b
}

// StoredBytes returns the size of a network in a recipe.
func (a *Env) StoredBytes(m *model.Model, r *dtype.Recipe) unit.Bytes {
	if a.Memo == nil {
		return m.Store(r).Bytes()
	}
	key := storedKey{m, r}
	n, ok := a.Memo.stored[key]
	if !ok {
		n = m.Store(r).Bytes()
		a.Memo.stored[key] = n
	}
	return n
}

// Order returns the quality order of formats for a question's model.
func (a *Env) Order(q *Question) *quality.Order {
	m := q.Judged()
	if a.Memo == nil {
		return quality.NewOrder(m)
	}
	key := orderKey{m.ID, m.Native, m.Parameters}
	o := a.Memo.orders[key]
	if o == nil {
		o = quality.NewOrder(m)
		a.Memo.orders[key] = o
	}
	return o
}

// shared returns the work shared among jobs; nil without a cache.
func (a *Env) shared() *engine.Shared {
	if a.Memo == nil {
		return nil
	}
	return a.Memo.shared
}

// RentOf returns the rent of a number of a machine's devices: of the named instance if it is for rent, else of any such
// devices. It is unknown if devices differ.
func (a *Env) RentOf(m *hardware.Machine, devices int) cost.Rate {
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

// PerHour returns the rent of a machine; nil if unknown.
func (a *Env) PerHour(m *hardware.Machine) *float64 {
	if r := a.RentOf(m, m.Devices()); r.PerHour.Known() {
		return Rounded(r.PerHour.Mid)
	}
	return nil
}

// rent returns the rent of devices.
func (a *Env) rent(device string, devices int) cost.Rate {
	if a.Memo == nil {
		return cost.Rent(device, devices)
	}
	key := MachineKey{device, devices}
	r, ok := a.Memo.rents[key]
	if !ok {
		r = cost.Rent(device, devices)
		a.Memo.rents[key] = r
	}
	return r
}
