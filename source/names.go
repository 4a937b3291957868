package source

import (
	_ "embed" // modules.txt.gz
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/packtext"
)

// Names of a model's tensors in hub files. A name such as
// "model.language_model.layers.3.mlp.experts.17.gate_proj.weight" consists of a prefix, a layer, a module within the
// layer and a parameter of the module. modules.txt says what each module is for, and where its spellings come from.

//go:embed modules.txt.gz
var modulesPack []byte

// slot is a tensor of a layer: its role, and whether it is the bias.
type slot struct {
	role dtype.Role
	bias bool
}

// form is what a module holds: one tensor, or several concatenated.
type form []slot

// modules maps each module to its possible forms.
type modules map[string][]form

// scope is a namespace of modules.
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

// sections are the names of scopes in modules.txt; modules specific to a family are in "layer of FAMILY".
var sections = [scopes]string{"layer", "ends", "prediction", "vision", "vision ends", "denoiser", "denoiser ends"}

// allModules returns the modules by section.
var allModules = sync.OnceValue(func() map[string]modules {
	all := map[string]modules{}
	var into []modules
	for line := range strings.Lines(packtext.Unpack(modulesPack)) {
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

// forms returns the forms of a family's module; nil if the module is unknown.
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

// firstComplete returns the first form all of whose tensors the layer has, or nil.
func firstComplete(choices []form, has func(slot) bool) form {
	for _, f := range choices {
		if !slices.ContainsFunc(f, func(x slot) bool { return !has(x) }) {
			return f
		}
	}
	return nil
}

// spellings returns the modules of a scope that may hold a role, sorted.
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
