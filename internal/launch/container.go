package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/unit"
)

// container describes how an engine's image runs: its name by device vendor ("" for none), its tag before and after the
// version, what it starts and where it listens.
type container struct {
	Engine string
	images map[string]image
	// entry is the number of the command's words that replace the image's own program; the rest are arguments.
	entry  int
	Listen []string
	port   int
	// shared is the /dev/shm needed by multiple processes.
	shared unit.Bytes
}

// image is a name with the parts of its tag around the version.
type image struct{ name, before, after string }

// containers of the engines that serve (docs.vllm.ai: deployment/docker and k8s, docs.sglang.ai: get_started/install,
// nvidia.github.io/TensorRT-LLM: quick-start-guide, llama.cpp's and ollama's pages on docker).
var containers = []container{
	{Engine: "vllm", images: map[string]image{Nvidia: {"vllm/vllm-openai", "v", ""}, Amd: {"vllm/vllm-openai-rocm", "v", ""}}, entry: 2,
		Listen: []string{"--host", "0.0.0.0"}, port: 8000, shared: 2 * unit.GiB},
	{Engine: "sglang", images: map[string]image{Nvidia: {"lmsysorg/sglang", "v", ""}}, entry: 3, Listen: []string{"--host", "0.0.0.0"},
		port: 30000, shared: 32 * unit.GiB},
	{Engine: "tensorrt-llm", images: map[string]image{Nvidia: {"nvcr.io/nvidia/tensorrt-llm/release", "", ""}},
		Listen: []string{"--host", "0.0.0.0"}, port: 8000, shared: 2 * unit.GiB},
	{Engine: "llama-server", images: map[string]image{Nvidia: {llamaImage, "server-cuda-", ""}, Amd: {llamaImage, "server-rocm-", ""},
		"": {llamaImage, "server-", ""}}, Listen: []string{"--host", "0.0.0.0"}, port: 8080},
	{Engine: "ollama", images: map[string]image{Nvidia: {"ollama/ollama", "", ""}, Amd: {"ollama/ollama", "", "-rocm"},
		"": {"ollama/ollama", "", ""}}, port: 11434},
}

const (
	llamaImage  = "ghcr.io/ggml-org/llama.cpp"
	Nvidia, Amd = "nvidia", "amd"
)

// programMemory is what a server and its libraries take of the host beyond the ledger: assumed, and generous, since a
// container that reaches its limit is killed.
const programMemory = 4 * unit.GiB

// Service returns the command as a container runs it.
func Service(q *question.Question, a *api.Answer) (*manifest.Service, error) {
	c, err := Container(q)
	if err != nil {
		return nil, err
	}
	vendor, err := vendor(q, c)
	if err != nil {
		return nil, err
	}
	main, after, err := CommandWords(q)
	if err != nil {
		return nil, err
	}
	s := &manifest.Service{Name: manifest.Name(q.Job.Checkpoint.Name + "-" + c.Engine), Image: c.images[vendor].tagged(q), Env: main.Env,
		Port: c.port, Vendor: vendor}
	if q.Job.Machine != nil && vendor != "" {
		s.GPUs = q.Job.Devices()
		if !engine.ReadsGGUF(q.Engine) {
			s.GPUs = min(s.GPUs, q.Request.Ranks()) // llama.cpp takes all that it sees
		}
	}
	c.words(s, main)
	s.Mount = "/models"
	if engine.ReadsGGUF(q.Engine) {
		s.Folder, s.Dir = ".", s.Mount
	} else {
		s.Folder, s.Env = "~/.cache/huggingface", append(s.Env, argv.Variable{Name: "HF_HOME", Value: s.Mount})
	}
	for _, name := range slices.Sorted(maps.Keys(main.Files)) {
		s.Files = append(s.Files, manifest.File{Path: name, Text: main.Files[name]})
	}
	mountModel(q, s)
	if m := q.Job.Machine; m != nil && vendor != "" {
		if err := group(q, s); err != nil {
			return nil, err
		}
	}
	if len(after) > 0 {
		s.After = append([]string{after[0].Program}, after[0].Args...)
	}
	if s.GPUs > 1 {
		s.Shared = c.shared
	}
	if h := a.Host; h != nil && h.NeededHigh > 0 {
		s.Memory, s.Why = h.NeededHigh+programMemory+s.Shared,
			fmt.Sprintf("%s of the host's ledger and %s for the program itself, assumed", h.NeededHigh, programMemory)
	}
	return s, nil
}

// words splits the command into what replaces the image's program, and its arguments.
func (c *container) words(s *manifest.Service, main *argv.Command) {
	words := append(Program(main), main.Args...)
	if c.Engine == "ollama" || c.Engine == "llama-server" { // which the image starts
		words = main.Args
	}
	s.Entry, s.Args = words[:c.entry:c.entry], words[c.entry:len(words):len(words)]
	if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--host") }) {
		s.Args = append(s.Args, c.Listen...)
	}
	if c.entry == 0 {
		s.Entry = nil
	}
}

// Program returns the words that start a program; Python modules are started by python.
func Program(c *argv.Command) []string {
	if strings.Contains(c.Program, ".") {
		return []string{"python3", "-m", c.Program}
	}
	return []string{c.Program}
}

// Container returns how the engine's image runs; the error says why there is none.
func Container(q *question.Question) (*container, error) {
	name := q.Engine.Name()
	if name == "llama.cpp" {
		name = "llama-server" // as its command says
	}
	for i := range containers {
		if containers[i].Engine == name {
			return &containers[i], nil
		}
	}
	return nil, &api.Error{Code: api.Unsupported, Field: "emit", Value: q.Engine.Name(),
		Message: fmt.Sprintf("%s has no image of a server", q.Engine.Name()),
		Hint:    "--engine vllm, sglang, tensorrt-llm, llama-server or ollama"}
}

// composed returns a compose file, which cannot span several nodes.
func composed(q *question.Question, s *manifest.Service) (string, error) {
	if s.Group != nil {
		return "", &api.Error{Code: api.Unsupported, Field: "hardware", Value: q.Request.Hardware,
			Message: fmt.Sprintf("%d nodes are more than one container reaches", s.Group.Nodes), Hint: "one node, or --emit kubernetes"}
	}
	return manifest.Compose(s), nil
}

// vendor returns the vendor of the devices, for which the engine must have an image.
func vendor(q *question.Question, c *container) (string, error) {
	m := q.Job.Machine
	vendor := Nvidia
	switch d := q.Job.Device(0); {
	case d != nil:
		vendor = strings.ToLower(d.Vendor)
	case m != nil:
		vendor = ""
	}
	if _, ok := c.images[vendor]; !ok {
		return "", &api.Error{Code: api.Unsupported, Field: "hardware", Value: q.Request.Hardware,
			Message: fmt.Sprintf("no image of %s is known for %s", c.Engine, orCPU(q)), Hint: "--emit command"}
	}
	return vendor, nil
}

func orCPU(q *question.Question) string {
	if d := q.Job.Device(0); d != nil {
		return d.Name
	}
	return "processors"
}

// tagged returns the image of the plan's version.
func (i image) tagged(q *question.Question) string {
	v := engine.VersionName(q.Engine, q.Job.Version)
	if strings.Count(v, ".") == 1 { // 0.24 is released as 0.24.0
		v += ".0"
	}
	if i.name == llamaImage && !strings.HasPrefix(v, "b") {
		v = "v" + v
	}
	return i.name + ":" + i.before + v + i.after
}
