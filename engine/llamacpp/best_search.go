package llamacpp

import (
	"math"
	"slices"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	seek "github.com/memwall/memwall/search"
)

// Layer sizes add up, but what else a device needs (compute buffers, the driver) depends on the whole placement. So the
// search alternates: the best placing for assumed extras, by dynamic programming over devices and layers; then its real
// ledger, which gives the extras. Once that settles, moves of single layers and experts are tried.

// slice is what one device holds: layers first to last, the first hosted of which leave their experts on the host.
type slice struct{ first, last, hosted int }

// placing is a slice of layers for each device, in order, up to the output layer.
type placing struct{ slices []slice }

func (at placing) clone() placing { return placing{slices.Clone(at.slices)} }

type search struct {
	engine Engine
	job    *engine.Job
	given  *plan.Plan
	rules  rules
	room   Room
	layers int // repeating layers
	share  float64
	mass   []mass // by device
	host   mass
	rates  []float64
	tried  map[string]verdict
	known  *known
	// prompts includes only the compute buffers of prompts in ledgers, which halves the time; the result is verified
	// with all of them.
	prompts bool
}

// verdict compares a placing's ledger with the room.
type verdict struct {
	fits   bool
	extras []int64 // by device: what its layers do not account for
}

func newSearch(e Engine, j *engine.Job, room Room) (*search, error) {
	p := *j.Plan
	p.GPULayers, p.TensorSplit, p.CPUMoE, p.OverrideTensor, p.Fit, p.SplitMode = nil, "", nil, "", "", ""
	if o := p.Offload; o != nil {
		k := *o
		k.Weights, k.Experts = "", ""
		p.Offload = &k
	}
	k := *j
	k.Plan, k.Notes = &p, nil
	e.Defaults(&k)
	if err := e.Check(&k); err != nil {
		return nil, err
	}
	s := &search{engine: e, job: &k, given: j.Plan, rules: e.rules(&k), room: room, layers: len(k.Model.Decoder().Layers), share: expertShare(k.Model), tried: map[string]verdict{}, known: knownOf(&k)}
	if len(room.Devices) == 0 || len(room.Devices) != used(&k) || s.layers == 0 {
		return nil, ErrNoRoom
	}
	r, err := e.Sizer(&k)
	if err != nil {
		return nil, err
	}
	base := r.(*sizer)
	byBackend := map[*backend]mass{}
	for i := range base.devices {
		b := base.devices[i].backend
		if _, ok := byBackend[b]; !ok {
			byBackend[b] = base.massOf(b)
		}
		s.mass, s.rates = append(s.mass, byBackend[b]), append(s.rates, rate(&k, i))
	}
	s.host = base.massOf(&cpu)
	return s, nil
}

// run returns the best placing, searching with prompts only first.
func (s *search) run() (placing, bool) {
	s.prompts = true
	at, ok := s.find()
	s.prompts, s.tried = false, map[string]verdict{}
	if ok && s.judge(at).fits {
		return at, true
	}
	return s.find()
}

// find returns the best placing: everything on the devices if possible, else part of it.
func (s *search) find() (placing, bool) {
	if at, ok := s.settle(true); ok {
		return at, true
	}
	at, ok := s.settle(false)
	if !ok {
		if at = s.nothing(); !s.judge(at).fits {
			return at, false
		}
	}
	return s.climb(at), true
}

// nothing places nothing on any device.
func (s *search) nothing() placing {
	at, end := placing{make([]slice, len(s.mass))}, s.end(s.layers)
	for i := range at.slices {
		at.slices[i] = slice{end, end, 0}
	}
	return at
}

const settleSteps = 8

// settle alternates between the best placing for assumed extras and the extras of that placing. Extras only grow while
// a placing does not fit, so it terminates.
func (s *search) settle(whole bool) (best placing, ok bool) {
	extras := make([]int64, len(s.mass))
	for range settleSteps {
		at, found := s.plan(extras, whole)
		if !found {
			return best, ok
		}
		v := s.judge(at)
		if v.fits {
			if !ok || s.better(at, best) {
				best, ok = at, true
			}
			if grown := s.grow(extras, v.extras, false); !grown {
				return best, ok
			}
			continue
		}
		if !s.grow(extras, v.extras, true) {
			return best, ok
		}
	}
	return best, ok
}

// grow updates extras from those observed, only upwards if larger is set (after a placing that did not fit). It reports
// a change.
func (s *search) grow(extras, seen []int64, larger bool) (changed bool) {
	for i, n := range seen {
		if n > extras[i] || !larger && n < extras[i] {
			extras[i], changed = n, true
		}
	}
	return changed
}

// judge sizes a placing.
func (s *search) judge(at placing) verdict {
	p := at.plan(s)
	key := p.TensorSplit + "/" + p.OverrideTensor + "/" + at.key()
	if v, ok := s.tried[key]; ok {
		return v
	}
	ranks := s.size(at)
	v := verdict{fits: ranks != nil, extras: make([]int64, len(s.mass))}
	for i := range ranks {
		n := ledger.At(ranks[i].Items, ledger.Device)
		x := at.slices[i]
		v.extras[i] = int64(n.High) - s.mass[i].layersBytes(x.first, x.last, x.hosted)
		v.fits = v.fits && !n.Unknown && n.High <= s.room.Devices[i]
	}
	v.fits = v.fits && (s.room.Host == 0 || hostUse(ranks) <= s.room.Host)
	s.tried[key] = v
	return v
}

func (at placing) key() string {
	var b []byte
	for _, x := range at.slices {
		b = append(b, byte(x.first), byte(x.first>>8), byte(x.last), byte(x.last>>8), byte(x.hosted), byte(x.hosted>>8))
	}
	return string(b)
}

// size returns the ledger of a placing; nil if there is none.
func (s *search) size(at placing) []engine.Rank {
	p := at.plan(s)
	j := *s.job
	j.Plan, j.Notes = &p, nil
	z, err := s.engine.sizer(&j, at.mover(), s.known, s.prompts)
	if err != nil {
		return nil
	}
	return z.Size(nil, j.Load())
}

// mover moves experts to the host, as the plan's settings do.
func (at placing) mover() *mover {
	m := &mover{}
	for _, x := range at.slices {
		for l := x.first; l < x.first+x.hosted; l++ {
			if m.cuts == nil {
				m.cuts = map[int]cut{}
			}
			m.cuts[l] = cut{keeps: dense, place: host}
		}
	}
	return m
}

// cost of a placing: what the host reads, then the devices' read time.
type cost struct {
	host int64
	time float64
}

func (c cost) less(o cost) bool {
	if c.host != o.host {
		return c.host < o.host
	}
	return c.time < o.time*(1-1e-12)
}

func (c cost) plus(o cost) cost { return cost{c.host + o.host, c.time + o.time} }

func (s *search) cost(at placing) (c cost) {
	c.host = s.hostRead(at)
	for i, x := range at.slices {
		c.time += s.mass[i].read(x.first, x.last, x.hosted, s.share) / s.rates[i]
	}
	return c
}

func (s *search) better(a, b placing) bool { return s.cost(a).less(s.cost(b)) }

// hostRead returns what the host reads per token: its layers, and experts of others.
func (s *search) hostRead(at placing) int64 {
	start := s.layers + 1
	if first, ok := at.firstHolder(); ok {
		start = first.first
	}
	n := s.headOnHost(start)
	for _, x := range at.slices {
		n += s.expertsRead(x.first, x.first+x.hosted)
	}
	return n + s.hostLayers(start)
}

// hostLayers returns what the host reads of the layers before start.
func (s *search) hostLayers(start int) int64 { return int64(s.host.read(0, start, 0, s.share)) }

func (s *search) expertsRead(first, last int) int64 {
	return int64(s.share * float64(s.host.experts[last]-s.host.experts[first]))
}

// headOnHost returns the output layer if on the host: before b7467 it is offloaded last.
func (s *search) headOnHost(start int) int64 {
	if !s.rules.headLast || start == 0 || start > s.layers {
		return 0
	}
	return s.host.dense[s.layers+1] - s.host.dense[s.layers]
}

// end returns the end of the layers on devices if they begin with start.
func (s *search) end(start int) int {
	if s.rules.headLast && start > 0 {
		return s.layers
	}
	return s.layers + 1
}

// hosted returns how many of a device's first layers must leave their experts on the host for the rest to fit; ok is
// false if that is not enough.
func (s *search) hosted(i, first, last int, room int64) (n int, ok bool) {
	m := &s.mass[i]
	if m.layersBytes(first, last, 0) <= room {
		return 0, true
	}
	if m.layersBytes(first, last, last-first) > room {
		return 0, false
	}
	few := seek.Largest(0, int64(last-first-1), 0, func(n int64) bool { return m.layersBytes(first, last, int(n)) > room })
	return int(few) + 1, true
}

// plan returns the best placing if devices need the given extras.
func (s *search) plan(extras []int64, whole bool) (best placing, ok bool) {
	t := s.table(extras, whole, s.layers+1)
	other := t
	if s.rules.headLast && !whole {
		other = s.table(extras, whole, s.layers)
	}
	least := cost{host: math.MaxInt64}
	for start := 0; start <= s.layers; start++ {
		if whole && start > 0 {
			break
		}
		from := t
		if start > 0 {
			from = other
		}
		c := from.cell(0, start).cost
		if c.host == math.MaxInt64 {
			continue
		}
		if c.host += s.hostLayers(start) + s.headOnHost(start); c.less(least) {
			least, best, ok = c, from.follow(start), true
		}
	}
	return best, ok
}

// cell is the best way for the devices from one on to hold the layers from one on.
type cell struct {
	cost cost
	next slice
}

type ways struct {
	end   int
	width int
	cells []cell // by device, then first layer
}

func (t *ways) cell(device, first int) *cell { return &t.cells[device*t.width+first] }

// table computes the cells of all devices, from the last to the first.
func (s *search) table(extras []int64, whole bool, end int) *ways {
	t := &ways{end: end, width: end + 1}
	t.cells = make([]cell, (len(s.mass)+1)*t.width)
	never := cost{host: math.MaxInt64}
	for first := range t.width {
		t.cell(len(s.mass), first).cost = never
	}
	t.cell(len(s.mass), end).cost = cost{}
	for d := len(s.mass) - 1; d >= 0; d-- {
		room := int64(s.room.Devices[d]) - extras[d]
		for first := range t.width {
			*t.cell(d, first) = s.cell(t, d, first, room, whole)
		}
	}
	return t
}

// cell tries all ends of a device's slice.
func (s *search) cell(t *ways, d, first int, room int64, whole bool) cell {
	best := cell{cost: cost{host: math.MaxInt64}}
	for last := first; last <= t.end; last++ {
		after := t.cell(d+1, last).cost
		if after.host == math.MaxInt64 {
			continue
		}
		n, ok := s.hosted(d, first, last, room)
		if last > first && !ok {
			break
		}
		if last == first {
			n = 0
		}
		if whole && n > 0 {
			break
		}
		c := after.plus(cost{s.expertsRead(first, first+n), s.mass[d].read(first, last, n, s.share) / s.rates[d]})
		if best.cost.host == math.MaxInt64 || c.less(best.cost) {
			best = cell{c, slice{first, last, n}}
		}
	}
	return best
}

// follow reads the slices off the table.
func (t *ways) follow(start int) (at placing) {
	for d := range len(t.cells)/t.width - 1 {
		x := t.cell(d, start).next
		at.slices = append(at.slices, x)
		start = x.last
	}
	return at
}

// climb makes single moves that fit and improve, until there are none.
func (s *search) climb(at placing) placing {
	for {
		better := false
		for _, n := range s.near(at) {
			if s.better(n, at) && s.judge(n).fits {
				at, better = n, true
				break
			}
		}
		if !better {
			return at
		}
	}
}

// near returns the placings that differ by one layer, or one layer's experts.
func (s *search) near(at placing) (out []placing) {
	for d := range at.slices {
		if at.slices[d].hosted > 0 {
			n := at.clone()
			n.slices[d].hosted--
			out = append(out, n)
		}
		if n, ok := s.longer(at, d); ok {
			out = append(out, n)
		}
	}
	return out
}

// longer gives a device one more layer: earlier devices pass theirs on, and the first takes one from the host.
func (s *search) longer(at placing, d int) (placing, bool) {
	n := at.clone()
	if first := n.slices[0].first; first == 0 || first == 1 && s.rules.headLast { // the output layer would move too
		return at, false
	}
	for i := range d + 1 {
		n.slices[i].first--
		if i < d {
			n.slices[i].last--
		}
		n.slices[i].hosted = min(n.slices[i].hosted, n.slices[i].last-n.slices[i].first)
	}
	return n, true
}
