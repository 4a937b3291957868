// Package study has what the programs that fit coefficients share: the networks that rows are of (networks.go), and
// how far off rows are (errors.go).
package study

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

// Networks of the catalog and their weights are built once: rows are many, and of few.
type Networks struct {
	models map[string]*model.Model
	stored map[string]*model.Weights
}

// NewNetworks has none yet.
func NewNetworks() *Networks {
	return &Networks{map[string]*model.Model{}, map[string]*model.Weights{}}
}

// Stored is a network of the catalog with its weights as a recipe stores them.
func (n *Networks) Stored(id, recipe string) (*model.Model, *model.Weights, error) {
	m, err := n.model(id)
	if err != nil {
		return nil, nil, err
	}
	key := id + "\t" + recipe
	if w := n.stored[key]; w != nil {
		return m, w, nil
	}
	r := dtype.FindRecipe(recipe)
	if r == nil {
		return nil, nil, fmt.Errorf("no recipe is called %q", recipe)
	}
	n.stored[key] = m.Store(r)
	return m, n.stored[key], nil
}

func (n *Networks) model(id string) (*model.Model, error) {
	if m := n.models[id]; m != nil {
		return m, nil
	}
	m, err := catalog.Model(id)
	if err != nil {
		return nil, err
	}
	n.models[id] = m
	return m, nil
}
