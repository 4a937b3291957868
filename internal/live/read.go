package live

import (
	"bytes"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/observe"
)

// The pages by which an engine is known, and those that are asked for once it is.
var (
	signs = []string{"/v1/models", "/metrics", "/api/version"}
	more  = map[string][]string{
		"vllm":         {"/version"},
		"sglang":       {"/server_info", "/get_server_info"},
		"tensorrt-llm": {"/version", "/prometheus/metrics"},
		"llama-server": {"/props", "/slots"},
		"tgi":          {"/info"},
		"ollama":       {"/api/ps"},
	}
)

// readers by engine.
func readers() map[string]func(Pages) *startup.Log {
	return map[string]func(Pages) *startup.Log{"vllm": readVLLM, "sglang": readSGLang, "tensorrt-llm": readTensorRT,
		"llama-server": readLlamaServer, "tgi": readTGI, "ollama": readOllama}
}

// Engine is whose pages these are; "" when no engine is known by them.
func (p Pages) Engine() string {
	if page, err := observe.Read(p["/metrics"]); err == nil {
		if page.Engine == "llama.cpp" {
			return "llama-server"
		}
		return page.Engine
	}
	if bytes.Contains(p["/metrics"], []byte(`"kvCacheStats"`)) {
		return "tensorrt-llm"
	}
	if p.json("/api/version").text("version") != "" {
		return "ollama"
	}
	models := p.json("/v1/models").objects("data")
	if len(models) == 0 {
		return ""
	}
	owner := strings.ToLower(models[0].text("owned_by"))
	switch {
	case owner == "vllm", owner == "sglang":
		return owner
	case owner == "llamacpp" || models[0].object("meta") != nil:
		return "llama-server"
	case strings.HasPrefix(owner, "tensorrt"):
		return "tensorrt-llm"
	case owner != "" && owner == strings.ToLower(models[0].text("id")):
		return "tgi" // names the model as its own owner
	}
	return ""
}

// Read makes a log of the pages; nil when no engine is known by them.
func Read(p Pages) *startup.Log {
	read := readers()[p.Engine()]
	if read == nil {
		return nil
	}
	l := read(p)
	l.Teller, l.Servers, l.Signs = "server", 1, 1
	return l
}

// models names those of /v1/models, and gives the first.
func (p Pages) models(l *startup.Log) object {
	list := p.json("/v1/models").objects("data")
	if len(list) == 0 {
		return nil
	}
	l.Named(list[0].text("root"))
	l.Named(list[0].text("id"))
	return list[0]
}
