package ggml

import (
	"encoding/binary"
	"sync"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Library keeps compiled graphs by what they hang on, so that placements that differ only in how often layers
// repeat are compiled once, and the memory of graphs between compilations. The zero value is ready.
type Library struct {
	one      sync.Mutex
	held     map[edition]*Compiled
	graph    Graph
	schedule schedule
	nodes    []live
	planner  Planner
}

// edition is what a compiled graph hangs on; layers are the classes of those that were lowered.
type edition struct {
	m      *model.Model
	shape  Shape
	site   any
	layers string
}

// maxHeld bounds what a library keeps.
const maxHeld = 1024

// Compile lowers a model's decoder, schedules it on a site and compiles its lifetimes. A family whose graph
// nobody compared may build its layers in forms that the rules of others do not expect: its graph is then
// an error too.
func (lib *Library) Compile(m *model.Model, s Shape, site *Site) (*Compiled, error) {
	lib.one.Lock()
	defer lib.one.Unlock()
	return lib.compile(m, s, site)
}

// Peak replays a compiled graph, as Planner.Peak does.
func (lib *Library) Peak(l *Lifetimes, s Sizes) unit.Bytes {
	lib.one.Lock()
	defer lib.one.Unlock()
	return lib.planner.Peak(l, s)
}

// compiled is the graph of some layers of a stack.
func (lib *Library) compiled(m *model.Model, layers []int, classes []uint16, s Shape, site *Site) (*Compiled, error) {
	key := edition{m: m, shape: s, layers: spelled(layers, classes)}
	if site != nil {
		key.site = site.Key
	}
	if c := lib.held[key]; c != nil {
		return c, nil
	}
	g, err := lower(&lib.graph, m, layers, s, site)
	if err != nil {
		return nil, err
	}
	c := g.compileIn(lib, site)
	if site == nil || site.Key != nil {
		lib.keep(key, c)
	}
	return c, nil
}

func (lib *Library) keep(key edition, c *Compiled) {
	if lib.held == nil || len(lib.held) >= maxHeld {
		lib.held = map[edition]*Compiled{}
	}
	lib.held[key] = c
}

// spelled is the classes of layers, one behind the other.
func spelled(layers []int, classes []uint16) string {
	b := make([]byte, 0, 2*len(layers))
	for _, l := range layers {
		b = binary.LittleEndian.AppendUint16(b, classes[l])
	}
	return string(b)
}
