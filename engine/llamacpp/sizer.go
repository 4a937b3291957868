package llamacpp

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// sizer is what does not depend on the load.
type sizer struct {
	job     *engine.Job
	program Engine
	rules   rules
	set     settings
	k, v    *dtype.Format
	layout  *layout
	devices []held
	host    held
	loader  *loader
	buffers *modelBuffers
	graph   *graph
	known   *known        // of other plans for the model
	counted int           // numbers of classes, as known had them
	tensors *tensors      // of the decoder
	prompts bool          // compute buffers of prompts alone, which those of single tokens hardly ever exceed
	draft   *sizer        // of the draft model, nil for none
	shares  []float32     // cumulative, of the devices that cut tensors; nil where layers or rows are cut
	missing []ledger.Item // parts of the plan whose size is unknown
}

// rowSplit reports whether -sm row cuts matrices: a backend without such buffers ignores it (make_gpu_buft_list).
func (s *sizer) rowSplit() bool {
	return s.job.Plan.SplitMode == "row" && len(s.devices) > 1 && s.devices[0].backend.rowSplit
}

// held is what a device, or the host, keeps between tokens.
type held struct {
	backend *backend
	name    string // as llama.cpp prints it
	caches  []heldCache
}

// Sizer prepares placement, model buffers and graphs.
func (e Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	r := e.rules(j)
	m, err := moverOf(j, &r)
	if err != nil {
		return nil, err
	}
	s, err := e.sizer(j, m, knownOf(j), false)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sizer of a plan whose tensors a mover moves; for a search it may look at prompts alone.
func (e Engine) sizer(j *engine.Job, m *mover, k *known, prompts bool) (*sizer, error) {
	k.begin()
	s := &sizer{counted: k.counted, tensors: tensorsOf(j), prompts: prompts, known: k, job: j, program: e, rules: e.rules(j), k: cacheFormat(j.Plan.KV), v: cacheFormat(j.Plan.KVV)}
	s.set = e.settings(j, &s.rules)
	var err error
	if s.layout, err = layoutOf(j, &s.rules); err != nil {
		return nil, err
	}
	if cutsTensors(j) {
		if s.shares, err = splits(j, used(j)); err != nil {
			return nil, err
		}
	}
	s.place()
	ld := &loader{j: j, tensors: s.tensors, r: &s.rules, l: s.layout, m: m, mmap: s.set.mmap}
	for i := range s.devices {
		ld.backends = append(ld.backends, s.devices[i].backend)
	}
	if s.rowSplit() {
		if ld.rows, err = splits(j, len(s.devices)); err != nil {
			return nil, err
		}
		ld.tile = tileRows(j, len(s.devices))
	}
	if s.shares != nil {
		ld.rows, ld.tile, ld.whole = s.shares, 1, true
	}
	s.buffers, s.loader = ld.load(), ld
	s.graph = newGraph(s)
	if s.draft, err = s.drafter(); err != nil {
		return nil, err
	}
	s.missing = s.unsized()
	return s, nil
}

// place finds what every device and the host keep of the caches: they follow their layer, unless the plan
// keeps all of them on the host.
func (s *sizer) place() {
	at := s.layout.layer
	if !s.set.offloadKV {
		at = make([]int, len(at))
		for i := range at {
			at[i] = host
		}
	}
	rows := map[*backend][][]cacheRow{}
	caches := func(b *backend, place int) []heldCache {
		if s.shares != nil && place != host {
			return s.hold(at, s.caches(b, place), 0)
		}
		if rows[b] == nil {
			rows[b] = s.caches(b, host)
		}
		return s.hold(at, rows[b], place)
	}
	s.devices = make([]held, used(s.job))
	for i := range s.devices {
		b := backendAt(s.job, i)
		s.devices[i] = held{backend: b, name: b.device(i, &s.rules), caches: caches(b, i)}
	}
	s.host = held{backend: &cpu, name: "CPU", caches: caches(&cpu, host)}
}

// Size books a load: one rank for each device, with what lies on the host beside the first.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	sh := s.set.shape(&s.rules, l)
	sh.compute = s.graph.buffers(&sh)
	if len(s.devices) == 0 {
		out := []engine.Rank{s.hostOnly(b, &sh)}
		out[0].Prints = s.prints(out, l)
		s.addDraft(b, out, l)
		return out
	}
	out := make([]engine.Rank, len(s.devices))
	for i := range s.devices {
		out[i] = s.rank(b, i, &sh)
	}
	out[0].Host = s.hostItems(b, &sh)
	lines := s.prints(out, l)
	for i := range out {
		out[i].Prints = lines
	}
	s.addDraft(b, out, l)
	return out
}

func (s *sizer) rank(b *ledger.Book, i int, sh *shape) engine.Rank {
	d := &s.devices[i]
	r := engine.NewRank(b, s.job, &engine.Placed{Rank: shard.Rank{Index: deviceIndex(s.job, i), Count: 1}})
	basis := s.basis(i)
	r.Items = make([]ledger.Item, 0, 6)
	if n := s.buffers.device[i].num(b, "tensors as "+d.backend.name+" allocates them"); n.V > 0 {
		w := ledger.Known("weights", "weights", n, basis, ledger.Persistent, ledger.Device, "docs/formulas.md#llama-weights")
		if w = s.uncertain(w, i); s.shares != nil {
			w = s.tensorWeights(w)
		}
		r.Items = append(r.Items, w)
	}
	s.addCaches(b, &r.Items, d, sh, ledger.Device, basis)
	r.Items = append(r.Items, s.graph.item(b, s.graphOf(i), sh, ledger.Device), driverItem(b, d.backend, usedDevice(s.job, i)))
	r.Items = s.addAdapters(b, r.Items, i, ledger.Device)
	r.Items = s.addMTP(b, r.Items, i, ledger.Device, sh)
	if i == 0 {
		if on(s.job.Plan.MMProjOffload) {
			r.Items = s.addProjector(b, r.Items, ledger.Device)
		}
		r.Items = append(r.Items, s.missing...)
	}
	s.kvFigures(&r, d, sh)
	return r
}

// graphOf is the device whose graph the i-th runs: its own, or its part of the first's.
func (s *sizer) graphOf(i int) int {
	if s.shares != nil {
		return 0
	}
	return i
}

// basis of a device's buffers: exact where the backend's rounding was seen in rows and the split among
// devices does not hang on what is free when the model loads.
func (s *sizer) basis(i int) ledger.Basis {
	if s.devices[i].backend.unchecked || s.rowSplit() || s.shares != nil || s.byFreeMemory() {
		return ledger.Derived
	}
	return ledger.Exact
}

// byFreeMemory: unequal devices share by what is free on each.
func (s *sizer) byFreeMemory() bool {
	return len(s.devices) > 1 && s.job.Plan.TensorSplit == "" && unequal(s.job)
}

// uncertain gives weights the band of one layer more or less where devices share by free memory, and of
// the rounding elsewhere.
func (s *sizer) uncertain(w ledger.Item, i int) ledger.Item {
	slack := unit.Bytes(0)
	switch {
	case s.byFreeMemory():
		for _, p := range s.buffers.device[i] {
			slack = max(slack, p.bytes)
		}
	case w.Basis != ledger.Exact:
		slack = w.Bytes / 100
	}
	return w.Band(w.Bytes-slack, w.Bytes+slack)
}

// addCaches books what a place keeps between tokens.
func (s *sizer) addCaches(b *ledger.Book, items *[]ledger.Item, d *held, sh *shape, place ledger.Place, basis ledger.Basis) {
	sums := s.sums(b, d.caches, sh, d.backend.align)
	if sums.hasKV {
		it := kvItem("KV cache", sums.kv(b), place, basis)
		if sums.full.V > 0 && sums.window.V > 0 { // llama.cpp allocates and prints them apart
			it.Items = []ledger.Item{s.uncertainCache(kvItem("layers with all tokens", sums.full, place, basis), sums.layer), s.uncertainCache(kvItem("layers with a window", sums.window, place, basis), sums.layer)}
		}
		*items = append(*items, s.uncertainCache(it, sums.layer))
	}
	if sums.hasState {
		it := ledger.Known("state", "recurrent state", sums.state, basis, ledger.SemiPersistent, place, "docs/formulas.md#llama-state")
		*items = append(*items, s.uncertainCache(it, sums.stateLayer))
	}
}

func kvItem(name string, n ledger.Num, place ledger.Place, basis ledger.Basis) ledger.Item {
	return ledger.Known("kv_cache", name, n, basis, ledger.SemiPersistent, place, "docs/formulas.md#llama-kv")
}

// uncertainCache: one layer more or less, where devices share by free memory.
func (s *sizer) uncertainCache(it ledger.Item, layer unit.Bytes) ledger.Item {
	if it.Place != ledger.Device || len(s.devices) == 0 || !s.byFreeMemory() {
		return it
	}
	return it.Band(it.Bytes-layer, it.Bytes+layer)
}

func (s *sizer) kvFigures(r *engine.Rank, d *held, sh *shape) {
	r.KV = engine.KV{PerToken: perToken(d.caches), Tokens: -1, Preallocated: true}
	for i := range r.Items {
		switch r.Items[i].ID {
		case "kv_cache":
			r.KV.Tokens = sh.cells * sh.streams
			r.KV.Needed += r.Items[i].Bytes
		case "state":
			r.KV.Needed += r.Items[i].Bytes
		}
	}
	r.KV.Pool = r.KV.Needed
}

// unsized are parts of the plan that no rule here sizes: they make the verdict unknown, not smaller.
func (s *sizer) unsized() (out []ledger.Item) {
	add := func(id, name string) {
		out = append(out, ledger.Item{ID: id, Name: name, Unknown: true, Basis: ledger.Assumed, Life: ledger.Persistent, Place: ledger.Device, Source: "not sized"})
	}
	if s.job.Plan.MMProj != "" && s.job.Vision == nil && s.job.Projector == nil {
		add("mmproj.weights", "vision projector "+s.job.Plan.MMProj)
	}
	if s.job.Plan.DraftModel != "" && s.job.Draft == nil {
		add("draft.weights", "draft model "+s.job.Plan.DraftModel)
	}
	if m := s.job.Model; len(m.Decoder().Layers) == 0 || s.foreign() {
		add("kv_cache", "cache of an architecture that is not known")
	}
	return out
}

// foreign reports an architecture whose layers are unknown.
func (s *sizer) foreign() bool {
	known := false
	s.job.Model.Decoder().Each(func(k *model.Kind, _ int64) { known = known || len(k.Ops) > 0 })
	return !known
}

func (s *sizer) cellsOrigin(sh *shape, name string) string {
	if name == "window_cells" {
		return "window of each slot and ubatch, padded"
	}
	if sh.streams > 1 {
		return fmt.Sprintf("of one slot: %s in all, divided and padded", unit.Count(sh.asked))
	}
	return fmt.Sprintf("context of %s, padded", unit.Count(sh.asked))
}

const maxDevices = 16 // GGML_CUDA_MAX_DEVICES, ggml/include/ggml-cuda.h
