package live

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// What Ollama publishes (api/types.go, ProcessModelResponse): in /api/ps the models that are loaded, the bytes of each and how many of them lie on
// devices. The model loaded first is taken.
func readOllama(p Pages) *startup.Log {
	l := &startup.Log{Engine: "ollama", Version: p.json("/api/version").text("version")}
	loaded := p.json("/api/ps").objects("models")
	if len(loaded) == 0 {
		l.Note("nothing_loaded", "no model is loaded: ask it something first, and compare within five minutes")
		return l
	}
	m := loaded[0]
	if len(loaded) > 1 {
		l.Note("several_models", "%d models are loaded: %s is compared", len(loaded), m.text("name"))
	}
	l.Named(m.text("model"))
	l.Named(strings.TrimSuffix(m.text("name"), ":latest"))
	l.Quant = m.object("details").text("quantization_level")
	if n, ok := m.whole("context_length", plan.MaxContext); ok {
		l.Plan.Context = plan.Int(n)
	}
	l.Plan.Sequences = 1
	for _, f := range []struct{ field, id string }{{"size", "held"}, {"size_vram", "held_device"}} {
		if n, ok := m.whole(f.field, 1e16); ok {
			add(l, f.id, f.field, "", "MiB", float64(n)/(1<<20), 2)
		}
	}
	return l
}

// ggufName is the name of a file without its folders, its end and its part: what a catalog may have.
func ggufName(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	path = strings.TrimSuffix(path, ".gguf")
	if i := strings.Index(path, "-00001-of-"); i > 0 {
		path = path[:i]
	}
	return path
}
