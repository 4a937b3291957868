package argv

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dockerSwitches are the flags of docker run and podman run that take no value.
const dockerSwitches = "-d --detach -i --interactive -t --tty --rm --init --privileged --read-only -P --publish-all --no-healthcheck --oom-kill-disable --sig-proxy -q --quiet --replace --tls-verify --no-hosts"

// container reads the arguments of docker run: flags, image, then the command inside.
func (c *Command) container(words []string, depth int) ([]Command, error) {
	entrypoint := ""
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-" {
		name, value, rest := dockerFlag(words)
		words = rest
		switch name {
		case "-e", "--env":
			if n, v, ok := assignment(value); ok {
				c.Env = append(c.Env, Variable{Name: n, Value: v})
			}
		case "--gpus", "--device":
			c.gpus(value)
		case "--entrypoint":
			entrypoint = value
		}
	}
	if len(words) == 0 {
		return nil, wrong("docker run", "", "names no image", "paste the whole command")
	}
	c.Image = words[0]
	var entry []string
	if entrypoint != "" {
		entry = strings.Fields(entrypoint)
	}
	return c.contained(entry, words[1:], depth)
}

// Contained returns the commands run by a container: an image, an entrypoint that replaces the image's own, and arguments.
func Contained(c Command, entrypoint, arguments []string) ([]Command, error) {
	return c.contained(entrypoint, arguments, 0)
}

func (c *Command) contained(entrypoint, inside []string, depth int) ([]Command, error) {
	if len(entrypoint) == 0 {
		if own := c.entrypoint(inside); own != "" {
			entrypoint = []string{own}
		}
	}
	if model := c.packaged(); model != "" && len(inside) == 0 {
		entrypoint = []string{"vllm.entrypoints.openai.api_server", "--model=" + model, fmt.Sprintf("--tensor-parallel-size=%d", max(1, c.Devices))}
	}
	if len(entrypoint) == 0 && len(inside) > 0 && strings.HasPrefix(inside[0], "-") {
		if own := ServerOf(inside); own != "" { // of an image of somebody's own
			entrypoint = []string{own}
		}
	}
	inside = append(entrypoint[:len(entrypoint):len(entrypoint)], inside...)
	if len(inside) == 0 {
		c.Program = c.Image
		return []Command{*c}, nil
	}
	out, err := c.unwrap(inside, depth+1)
	for i := range out { // also behind sh -c
		if out[i].Image == "" {
			out[i].Image = c.Image
		}
		if out[i].Devices == 0 {
			out[i].Devices = c.Devices
		}
	}
	return out, err
}

// dockerFlag takes one flag with its value off the words.
func dockerFlag(words []string) (name, value string, rest []string) {
	name, value, attached := strings.Cut(words[0], "=")
	rest = words[1:]
	if attached || has(dockerSwitches, name) {
		return name, value, rest
	}
	if !strings.HasPrefix(name, "--") && len(name) > 2 {
		if strings.Trim(name[1:], "ditPq") == "" {
			return name, "", rest
		}
		if !strings.ContainsAny(name[1:2], "ditPq") {
			return name[:2], words[0][2:], rest // -p8000:8000
		}
	}
	if len(rest) == 0 {
		return name, "", rest
	}
	return name, rest[0], rest[1:]
}

func skipDockerFlags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		_, _, words = dockerFlag(words)
	}
	return words
}

// gpus reads all, a number, or "device=0,1"; podman writes nvidia.com/gpu=0.
func (c *Command) gpus(value string) {
	value = strings.Trim(value, `"'`)
	if n, err := strconv.ParseUint(value, 10, 16); err == nil && n > 0 {
		c.Devices = int64(n)
		return
	}
	for _, part := range strings.Split(value, ";") {
		if list, ok := strings.CutPrefix(part, "device="); ok {
			c.Devices = countDevices(list)
		}
	}
}

// images are the entry points of images that people run with the server's own flags; the first whose part an image's name
// has. A bare word behind the image replaces its program, unless takes says that it is the program's.
var images = []struct {
	part, entry string
	takes       bool
}{
	{"vllm-openai", "vllm.entrypoints.openai.api_server", true},
	{"huggingfaceserver", "huggingfaceserver", false},
	{"text-generation-inference", "text-generation-launcher", false},
	{"llama.cpp:server", "llama-server", false},
	{"llama.cpp:light", "llama-cli", false},
	{"llama.cpp:full", "tools.sh", false},
	{"llama-server", "llama-server", false},
	{"ollama/ollama", "ollama", true},
	{"localai/localai", "local-ai", true},
	{"vllm", "vllm.entrypoints.openai.api_server", false},
	{"sglang", "sglang.launch_server", false},
	{"llama.cpp", "llama-server", false},
	{"llama-cpp", "llama-server", false},
}

// entrypoint is what the image runs, unless the arguments name a program themselves.
func (c *Command) entrypoint(inside []string) string {
	for _, im := range images {
		if !strings.Contains(strings.ToLower(c.Image), im.part) {
			continue
		}
		if len(inside) == 0 || strings.HasPrefix(inside[0], "-") || (im.takes || isPlace(inside)) && !isProgram(inside[0]) {
			return im.entry
		}
		return ""
	}
	return ""
}

// packaged is the model that an image of NVIDIA's NIM holds, nvcr.io/nim/PUBLISHER/MODEL: its profile picks an engine, a format and
// ranks by the devices that it finds.
func (c *Command) packaged() string {
	name, ok := strings.CutPrefix(c.Image, "nvcr.io/nim/")
	if name, _, _ = strings.Cut(name, ":"); !ok || strings.Count(name, "/") != 1 {
		return ""
	}
	if _, set := c.Getenv("NIM_MODEL_PROFILE"); !set {
		c.Env = append(c.Env, Variable{Name: "NIM_MODEL_PROFILE", Value: "auto"})
	}
	return name
}

// tells are flags that one server alone has, among those of an image that nobody knows.
var tells = []struct{ program, flags string }{
	{"vllm.entrypoints.openai.api_server", "--max-model-len --gpu-memory-utilization --max-num-seqs --tensor-parallel-size --max-num-batched-tokens"},
	{"sglang.launch_server", "--mem-fraction-static --tp-size --context-length --chunked-prefill-size"},
	{"text-generation-launcher", "--num-shard --max-input-tokens --max-total-tokens --model-id"},
	{"llama-server", "--ctx-size --n-gpu-layers -ngl --hf-repo -hf --gpu-layers --cache-type-k -ctk --tensor-split --n-cpu-moe"},
}

// ServerOf returns the program that takes the arguments, identified by most of its flags; "" if none identifies it.
func ServerOf(args []string) (program string) {
	most := 0
	for _, t := range tells {
		n := 0
		for _, a := range args {
			if name, _, _ := strings.Cut(a, "="); has(t.flags, name) {
				n++
			}
		}
		if n > most {
			program, most = t.program, n
		}
	}
	return program
}

// fork is the name of llama.cpp's fork in the path of a program or in an image.
var fork = regexp.MustCompile(`(?i)(^|[^a-z0-9])ik[-_]?llama`)

// OfFork reports whether the folder of a llama.cpp program or its image says that it is ik_llama.cpp's.
func (c *Command) OfFork() bool { return fork.MatchString(c.Folder) || fork.MatchString(c.Image) }

// bases are images that engines are installed in.
var bases = []string{"python", "ubuntu", "debian", "cuda", "pytorch", "alpine", "centos", "rockylinux", "fedora", "node", "golang", "miniconda3", "uv"}

// isPlace tells a model's folder in front of a server's flags.
func isPlace(words []string) bool {
	return strings.Contains(words[0], "/") && !strings.HasSuffix(words[0], ".sh") && len(words) > 1 && strings.HasPrefix(words[1], "--") &&
		ServerOf(words[1:]) != ""
}

// isProgram tells a program from a model's name.
func isProgram(s string) bool {
	b := BaseName(s)
	_, wraps := wrappers[b]
	return wraps || strings.HasPrefix(b, "python") || b == "sh" || b == "bash" || b == "vllm" || b == "ollama" || b == "local-ai"
}

// AllDevices is of every node that the program says it runs on: a container shows those of one, but for a group of pods,
// whose size Devices has in it.
func (c *Command) AllDevices() int64 {
	if _, group := c.Getenv("LWS_GROUP_SIZE"); group {
		return c.Devices
	}
	for i, a := range c.Args {
		name, v, ok := strings.Cut(a, "=")
		if !ok && i+1 < len(c.Args) {
			v = c.Args[i+1]
		}
		if n, err := strconv.ParseInt(v, 10, 16); name == "--nnodes" && err == nil && n > 1 {
			return c.Devices * n
		}
	}
	return c.Devices
}

// Tag is the version that the image's tag states: "0.9.2" of vllm/vllm-openai:v0.9.2, "0.4.6.post1" of
// v0.4.6.post1-cu124, "b5716" of server-cuda-b5716; "" for latest and the like.
func (c *Command) Tag() string {
	if c.Version != "" {
		return c.Version
	}
	i := strings.LastIndexByte(c.Image, ':')
	if i < 0 || strings.Contains(c.Image[i:], "/") || strings.HasPrefix(strings.TrimPrefix(c.Image, "docker.io/"), "lmcache/") {
		return "" // LMCache's images have versions of its own
	}
	base := BaseName(c.Image[:i])
	nvidia := strings.HasPrefix(c.Image, "nvcr.io/nim/") || strings.HasPrefix(c.Image, "nvcr.io/nvidia/") && !strings.Contains(c.Image, "/tensorrt-llm/")
	if slices.Contains(bases, base) || nvidia || strings.HasPrefix(base, "llm-d") {
		return "" // whose versions are their own: NVIDIA's of other engines are months, or Dynamo's
	}
	for _, part := range strings.FieldsFunc(c.Image[i+1:], func(r rune) bool { return r == '-' || r == '_' }) {
		v := strings.TrimPrefix(part, "v")
		if len(v) > 2 && isDigit(v[0]) && strings.Contains(v, ".") && !strings.HasPrefix(part, "cu") {
			return v
		}
		if len(part) > 3 && part[0] == 'b' && strings.Trim(part[1:], "0123456789") == "" {
			return part
		}
	}
	return ""
}
