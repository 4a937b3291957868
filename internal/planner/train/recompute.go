package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/unit"
)

// recomputesOf returns the recomputation settings to try, least memory first. Whole blocks cost up to a third of a step, so
// frameworks that can get what lies between them and none: half of the blocks, and modules.
func (s *space) recomputesOf(r *api.Request) []string {
	list := s.among["recompute"]
	switch f := frameworkOf(r); {
	case list != nil:
		return list
	case r.Recompute != "":
		return []string{r.Recompute}
	case f == nil || !f.RecomputesModules():
		return []string{"full", "selective", "none"}
	}
	out := []string{"full"}
	if n := unit.CeilDiv(s.network.layers, max(1, r.PP)*max(1, r.VPP)); n > 1 {
		out = append(out, fmt.Sprintf("block:%d", unit.CeilDiv(n, 2)))
	}
	small := s.pointwise()
	return append(out, byModule(append(small, s.largest())), byModule(small), "selective", "none")
}

// pointwise returns the modules that take next to no computing.
func (s *space) pointwise() []string {
	return slices.DeleteFunc([]string{"layernorm", "moe_act"}, func(name string) bool { return !slices.Contains(s.network.modules, name) })
}

// largest returns the module that frees most for its computing: the expanded latents, the experts, or the MLP of a dense model.
func (s *space) largest() string {
	for _, name := range []string{"mla_up_proj", "moe"} {
		if slices.Contains(s.network.modules, name) {
			return name
		}
	}
	return "mlp"
}

func byModule(names []string) string { return "selective:" + strings.Join(names, "+") }

// needsMore reports whether recomputation setting w is certain to keep everything that another keeps.
func needsMore(w, than string) bool {
	if than == "full" || w == "none" {
		return true
	}
	names, listed := strings.CutPrefix(w, "selective:")
	others, both := strings.CutPrefix(than, "selective:")
	more := strings.Split(others, "+")
	return listed && both && !slices.ContainsFunc(strings.Split(names, "+"), func(name string) bool { return !slices.Contains(more, name) })
}
