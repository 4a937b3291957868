package catalog

import (
	"fmt"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Network is an entry with its network built. All who ask share it, so nothing in it may be changed.
type Network struct {
	Entry  *Entry
	Model  *model.Model
	Drafts bool     // it proposes tokens for another model
	stored sync.Map // bytes by *dtype.Recipe
}

// networks build each entry of the catalog when it is first asked for, and keep it.
var networks = sync.OnceValue(func() map[string]func() (*Network, error) {
	out := map[string]func() (*Network, error){}
	for id, h := range byID() {
		out[id] = sync.OnceValues(h.network)
	}
	return out
})

func (h *header) network() (*Network, error) {
	e, err := parse(h.line)
	if err != nil {
		return nil, err
	}
	s, err := e.Spec()
	if err != nil {
		return nil, err
	}
	return &Network{Entry: e, Model: s.Model(e.ID), Drafts: s.Drafts()}, nil
}

// Built returns the network of the entry with an id, built once per process.
func Built(id string) (*Network, error) {
	build, ok := networks()[id]
	if !ok {
		return nil, fmt.Errorf("catalog: no entry %q", id)
	}
	return build()
}

// Released returns the year and month of the entry with an id; "" if there is none.
func Released(id string) string {
	if h := byID()[id]; h != nil {
		return h.released
	}
	return ""
}

// Stored is what the weights take in a recipe.
func (n *Network) Stored(r *dtype.Recipe) unit.Bytes {
	if b, ok := n.stored.Load(r); ok {
		return b.(unit.Bytes)
	}
	b := n.Model.Store(r).Bytes()
	n.stored.Store(r, b)
	return b
}
