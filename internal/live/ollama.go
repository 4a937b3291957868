package live

import (
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/plan"
)

// What Ollama publishes (api/types.go, ProcessModelResponse): in /api/ps the models that are loaded, the bytes of each and how many of them
// lie on
// devices; in /api/show keys of the file's header. The model loaded first is taken.
func readOllama(p Pages) *startup.Log {
	l := &startup.Log{Engine: "ollama", Version: p.json("/api/version").text("version")}
	all := p.json("/api/ps").objects("models")
	m := loaded(p)
	if m == nil {
		l.Note("nothing_loaded", "no model is loaded: ask it something first, and compare within five minutes")
		return l
	}
	if len(all) > 1 {
		l.Note("several_models", "%d models are loaded: %s is compared", len(all), m.text("name"))
	}
	l.Named(strings.TrimSuffix(m.text("model"), ":latest"))
	l.Named(strings.TrimSuffix(m.text("name"), ":latest"))
	l.Quant = m.object("details").text("quantization_level")
	if n, ok := m.integer("context_length", plan.MaxContext); ok {
		l.Plan.Context = plan.Int(n)
	}
	l.Plan.Sequences = 1
	shown(l, p.json("/api/show").object("model_info"))
	for _, f := range []struct{ field, id string }{{"size", "held"}, {"size_vram", "held_device"}} {
		if n, ok := m.integer(f.field, 1e16); ok {
			add(l, f.id, f.field, "", "MiB", float64(n)/(1<<20), 2)
		}
	}
	return l
}

// loaded is the model that is taken; nil when none is loaded.
func loaded(p Pages) object {
	all := p.json("/api/ps").objects("models")
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// shown keeps numbers and words of a header, without the tokenizer.
func shown(l *startup.Log, info object) {
	m := &startup.Metadata{}
	m.Set("general.architecture", info.text("general.architecture"))
	arch := m.Architecture()
	if arch == "" {
		return
	}
	for key := range info {
		if value := info.settings(key)[key]; strings.HasPrefix(key, arch+".") && len(key) < 256 && value != "" {
			m.Set(key, value)
		}
	}
	m.Tensors = func(name string) ([]int64, bool) {
		hidden, ok := m.Int(arch + ".embedding_length")
		rows, known := m.Int(arch + ".vocab_size")
		return []int64{hidden, rows}, ok && known && name == "token_embd.weight"
	}
	l.Metadata = m
	if n, ok := info.integer("general.parameter_count", 1e16); ok {
		add(l, "parameter_count", "parameter count", "", "parameters", float64(n), 0)
	}
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
