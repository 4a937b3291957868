package source

import (
	_ "embed" // modules.txt
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
)

// What files of the hub call the tensors of a model. A name such as
// "model.language_model.layers.3.mlp.experts.17.gate_proj.weight" is a prefix, a layer, a module inside the
// layer and a parameter of that module. modules.txt says what each module is for, and where its spellings are from.

//go:embed modules.txt
var modulesText string

// slot is a tensor of a layer: its role, and whether it is that role's bias.
type slot struct {
	role dtype.Role
	bias bool
}

// form is what a module holds: one tensor, or several one behind the other.
type form []slot

// modules says which forms a module may have.
type modules map[string][]form

// scope is where a module lies; each has its own names.
type scope uint8

const (
	inLayer scope = iota
	atEnds
	inPrediction
	inVision
	atVision
	inDenoiser
	atDenoiser
	scopes
)

// sections are the scopes by their names in modules.txt; a family's own modules of a layer are "layer of FAMILY".
var sections = [scopes]string{"layer", "ends", "prediction", "vision", "vision ends", "denoiser", "denoiser ends"}

// allModules are the modules of each section.
var allModules = sync.OnceValue(func() map[string]modules {
	all := map[string]modules{}
	var into []modules
	for line := range strings.Lines(modulesText) {
		line = strings.TrimSpace(line)
		if names, ok := strings.CutPrefix(line, "== "); ok {
			into = nil
			for name := range strings.SplitSeq(names, ", ") {
				if all[name] == nil {
					all[name] = modules{}
				}
				into = append(into, all[name])
			}
		} else if module, held, ok := strings.Cut(line, " "); ok && module != "//" {
			for _, m := range into {
				m[module] = append(m[module], formsOf(held)...)
			}
		}
	}
	return all
})

// forms of a module of a family; nil when the module is not known.
func forms(family string, s scope, module string) []form {
	if s == inLayer {
		if f := allModules()["layer of "+family][module]; f != nil {
			return f
		}
	}
	return allModules()[sections[s]][module]
}

func formsOf(held string) (out []form) {
	for choice := range strings.SplitSeq(held, "|") {
		var f form
		for name := range strings.SplitSeq(choice, "+") {
			f = append(f, slotOf(strings.TrimSpace(name)))
		}
		out = append(out, f)
	}
	return out
}

func slotOf(name string) slot {
	role, bias := strings.CutSuffix(name, ".bias")
	return slot{dtype.Role(role), bias}
}

// firstComplete is the first form whose tensors a layer all has; nil when the layer has none of them whole.
func firstComplete(choices []form, has func(slot) bool) form {
	for _, f := range choices {
		if !slices.ContainsFunc(f, func(x slot) bool { return !has(x) }) {
			return f
		}
	}
	return nil
}

// spellings are the modules of a scope that may hold a role, sorted.
func spellings(s scope, role dtype.Role) []string { return allSpellings()[s][role] }

var allSpellings = sync.OnceValue(func() (m [scopes]map[dtype.Role][]string) {
	for s := range scopes {
		m[s] = map[dtype.Role][]string{}
		for module, choices := range allModules()[sections[s]] {
			for _, x := range slices.Concat(choices...) {
				if !slices.Contains(m[s][x.role], module) {
					m[s][x.role] = append(m[s][x.role], module)
				}
			}
		}
		for _, list := range m[s] {
			slices.Sort(list)
		}
	}
	return m
})
