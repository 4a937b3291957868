package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
)

// asked describes what a plan runs: model, formats, hardware, engine.
func asked(a *memwall.Answer) (out []string) {
	out = append(out, ModelName(a.Model))
	if a.Plan == nil {
		return out
	}
	out = append(out, formats(&a.Plan.Plan), machine(a))
	if e := engineText(a); e != "" {
		out = append(out, e)
	}
	return out
}

// ModelName returns the name of a model, else its id.
func ModelName(m *memwall.ModelInfo) string {
	switch {
	case m == nil:
		return "?"
	case m.Name != "":
		return m.Name
	}
	return m.ID
}

// formats returns the weight format, and the cache format unless 16-bit.
func formats(p *plan.Plan) string {
	s := p.Weights
	switch p.KV {
	case "", "auto", "bf16", "f16", "fp16", "float16", "bfloat16":
	default:
		s += ", KV " + p.KV
	}
	return s
}

// machine counts the devices by name, in the order of their first rank.
func machine(a *memwall.Answer) string {
	if a.Plan.Hardware == "" {
		return "no hardware given"
	}
	count := map[string]int64{}
	var names []string
	for _, d := range inOrder(a.Devices) {
		if count[d.Name] == 0 {
			names = append(names, d.Name)
		}
		count[d.Name] += d.Count
	}
	for i, n := range names {
		names[i] = term.Counted(count[n], n)
	}
	return strings.Join(names, " + ")
}

// inOrder sorts groups of ranks by their first rank; answers have the deciding one first.
func inOrder(groups []memwall.Device) []memwall.Device {
	out := slices.Clone(groups)
	stable.Sort(out, func(a, b memwall.Device) int { return cmp.Compare(firstRank(&a), firstRank(&b)) })
	return out
}

func firstRank(d *memwall.Device) int {
	first, _, _ := strings.Cut(d.Ranks, "-")
	n, _ := strconv.Atoi(first)
	return n
}

// mixed reports whether the groups are of different devices.
func mixed(a *memwall.Answer) bool {
	for i := range a.Devices {
		if a.Devices[i].Name != a.Devices[0].Name {
			return true
		}
	}
	return false
}

var engineNames = map[string]string{
	"vllm": "vLLM", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM", "ollama": "Ollama", "generic": "no engine",
	"mlx-lm": "MLX", "exllamav2": "ExLlamaV2", "exllamav3": "ExLlamaV3", "tgi": "TGI", "lmdeploy": "LMDeploy",
	"ktransformers": "KTransformers", "mlc": "MLC LLM",
}

// engineText returns the engine with its version and parallel layout.
func engineText(a *memwall.Answer) string {
	name, version, _ := strings.Cut(a.Plan.Engine, "@")
	s := engineWord(name)
	if version != "" && name != "generic" {
		s += " " + version
	}
	for _, g := range []struct {
		name string
		n    int64
	}{{"tp", a.Plan.TP}, {"pp", a.Plan.PP}, {"ep", a.Plan.EP}, {"cp", a.Plan.CP}, {"dp", a.Plan.DP}} {
		if g.n > 1 {
			s += fmt.Sprintf(", %s %d", g.name, g.n)
		}
	}
	if n := a.Plan.GPULayers; n != nil && *n >= 0 {
		s += fmt.Sprintf(", %d layers on GPU", *n)
	}
	return s
}

func engineWord(name string) string {
	if s, ok := engineNames[name]; ok {
		return s
	}
	return name
}

// HeadText returns the first lines of the screen.
func HeadText(a *memwall.Answer) []string {
	p := term.NewPage(term.Style{Width: 110})
	p.Title(a.Verdict, asked(a))
	writeHeadline(p, a)
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(p.String()), "\n") {
		out = append(out, strings.Replace(strings.TrimSpace(l), "   ", ": ", 1))
	}
	return out
}
