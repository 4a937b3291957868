package docs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/cli"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/quant/quanttest"
	"github.com/memwall/memwall/source"
)

// Pages about weights show what is said of a small network of made-up numbers: demo, demo.gguf and files beside them, which
// lie in a folder of the test and nowhere else.

const demoConfig = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":256,"intermediate_size":512,"num_attention_heads":4,"num_key_value_heads":1,
"num_hidden_layers":4,"vocab_size":512,"max_position_embeddings":4096,"torch_dtype":"bfloat16","rms_norm_eps":1e-5}`

var demoFolder = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "memwall-demo")
	if err != nil {
		panic(err) // no page can be checked
	}
	net := quanttest.Llama(4, 256)
	for name, data := range map[string][]byte{
		"demo/model.safetensors": quanttest.Safetensors(net), "demo/config.json": []byte(demoConfig), "demo.gguf": quanttest.GGUF(net),
		"inputs.safetensors": quanttest.Safetensors(quanttest.Inputs(4, 256)),
		"cache.safetensors":  quanttest.Safetensors(quanttest.Cache(4, 2, 256, 64)),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			panic(err)
		}
	}
	return dir
})

// demo is where a file of the demonstration lies; other names are as they are.
func demo(name string) string {
	if file := filepath.Join(demoFolder(), name); name != "" && strings.Contains(name, "demo") || strings.HasSuffix(name, ".safetensors") ||
		strings.HasSuffix(name, "own.json") {
		return file
	}
	return name
}

// demoModels finds demo as well.
type demoModels struct{ memwall.ModelSource }

// Model resolves a reference.
func (d demoModels) Model(ref string) (*memwall.Resolved, error) {
	if ref == "demo" || ref == "demo.gguf" {
		ref = demo(ref)
	}
	return d.ModelSource.Model(ref)
}

// demonstrated adds to a run what reads and writes these files.
func demonstrated(c cli.Config) cli.Config {
	c.Models = demoModels{c.Models}
	c.Weights = func(name string) (*quant.Model, io.Closer, error) { return source.OpenWeights(demo(name)) }
	c.Statistics = func(importance, activations string) (*quant.Statistics, io.Closer, error) {
		return source.OpenStatistics(importance, demo(activations))
	}
	c.OpenFile = func(name string) (io.ReadCloser, error) { return os.Open(demo(name)) }
	c.CreateFile = func(name string) (cli.File, error) {
		f, err := os.Create(demo("demo-" + filepath.Base(name)))
		if filepath.Base(name) == "own.json" {
			f, err = os.Create(demo(name))
		}
		return kept{f}, err
	}
	return c
}

// kept is a file that is written as it comes.
type kept struct{ *os.File }

// Commit closes it.
func (k kept) Commit() error { return k.Close() }

// Abandon closes it.
func (k kept) Abandon() { _ = k.Close() } // of a test
