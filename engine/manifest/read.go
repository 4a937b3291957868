package manifest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// heads are keys at the margin that only such files have.
var heads = regexp.MustCompile(`(?m)^(docker_server|services|kind|servingEngineSpec|modelArtifacts|serveConfigV2|llm_configs|ms|applications):`)

// cut is a line of a container of such a file, whose head was not pasted.
var cut = regexp.MustCompile(`(?m)^\s*(- )?image:\s*["']?[^\s#]*(vllm|sglang|tensorrt|llama\.cpp|llama-cpp|ollama|text-generation-inference|lmdeploy)`)

// jsonHeads are such keys in JSON, which kubectl and docker print too.
var jsonHeads = regexp.MustCompile(`^\s*\{[^\x00]*"(services|kind)"\s*:`)

// Is reports whether a text is such a file: a compose file has services, a manifest has a kind, the values of a chart and the
// settings of a launcher have keys of their own.
func Is(text string) bool {
	text = bare(text)
	return heads.MatchString(text) || jsonHeads.MatchString(text) || cut.MatchString(text) || isSwap(text) || isSettings(text) || isTabby(text) || isTask(text) || isValues(text) || plainReader(text) != nil
}

// plainReader reads a text that is not YAML; nil where it is none of those.
func plainReader(text string) func(string) ([]argv.Command, error) {
	switch {
	case len(text) > small.Bytes:
		return nil
	case IsDockerfile(text):
		return built
	case isUnit(text):
		return unitFile
	case isPresets(text):
		return routed
	}
	return nil
}

// bare is a file without the fences of Markdown around it, and without what stands in front of all of its lines.
func bare(text string) string { return dedented(argv.Unfenced(text, "\n---\n")) }

// dedented is a text without what stands in front of all of its lines.
func dedented(text string) string {
	first := strings.TrimLeft(text, "\r\n")
	indent := first[:len(first)-len(strings.TrimLeft(first, " \t"))]
	if indent == "" {
		return text
	}
	lines := strings.Split(first, "\n")
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, indent)
		if !ok && strings.TrimSpace(l) != "" {
			return text
		}
		lines[i] = rest
	}
	return strings.Join(lines, "\n")
}

// maxContainers of one file.
const maxContainers = 64

// Read returns the commands run by a file's containers, in order. Unreadable documents are skipped if others run something.
func Read(text string) ([]argv.Command, error) {
	text = bare(text)
	if read := plainReader(text); read != nil {
		return read(text)
	}
	docs, fault := documents(text)
	f := &file{docs: docs}
	for _, d := range docs {
		for _, read := range readers {
			f.found = append(f.found, read(f, d)...)
		}
		f.found = append(f.found, f.pods(d)...)
	}
	if len(f.found) > maxContainers {
		return nil, argv.Wrong("the file", "", fmt.Sprintf("has %d containers", len(f.found)), fmt.Sprintf("at most %d", maxContainers))
	}
	if fault != nil && len(f.found) == 0 {
		return nil, fault
	}
	var out []argv.Command
	for i := range f.found {
		cmds, err := f.found[i].commands()
		if err != nil {
			return nil, err
		}
		out = append(out, cmds...)
	}
	return out, nil
}

// file is one while it is read: what a part of it needs may stand in another document.
type file struct {
	docs  []*yaml.Node
	found []container
}

// readers of files that say an engine's settings in keys of their own, each of documents of its kind alone.
var readers = []func(*file, *yaml.Node) []container{composed, stacked, runtimeObject, modelService, inferenceService,
	llmService, rayService, trussed, swapped, settled, tabby, task, valued, profiled, kubeModel, workspace, microservice}

// container is one of a file.
type container struct {
	argv.Command
	entry, args, after []string
}

func (c *container) commands() ([]argv.Command, error) {
	entry, args := c.expanded(c.entry, len(c.entry) == 1), c.expanded(c.args, len(c.args) == 1 && len(c.entry) == 0)
	out, err := argv.Contained(c.Command, entry, args)
	if err != nil || len(c.after) == 0 {
		return out, err
	}
	hook, err := argv.Contained(argv.Command{Env: c.Env, Files: c.Files, Devices: c.Devices}, c.after[:1], c.after[1:])
	return append(out, hook...), err
}

// expanded puts the container's variables in; one may hold several words, and so may a word that is all of a command.
func (c *container) expanded(words []string, alone bool) (out []string) {
	for _, w := range words {
		value := argv.Expand(w, c.Env)
		if value != w && strings.HasPrefix(w, "$") && strings.Contains(value, " --") || alone && oneLine.MatchString(value) {
			out = append(out, argv.Words(value)...)
			continue
		}
		out = append(out, value)
	}
	return out
}

// oneLine is a command with its flags in one word, which a container would not find, and people paste.
var oneLine = regexp.MustCompile(`^[\w./-]+( [\w./-]+)* +--[a-z][^\n;|&]*$`)

// variables stand as a block of keys, or as NAME=value lines.
func variables(n *yaml.Node) (out []argv.Variable) {
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		out = append(out, argv.Variable{Name: k, Value: n.Of[k].Value()})
	}
	for _, v := range n.List {
		if name, value, ok := strings.Cut(v.Text, "="); ok {
			out = append(out, argv.Variable{Name: name, Value: value})
		}
	}
	return out
}

// within names files also as a command that runs in a folder does.
func within(dir string, files map[string]string) map[string]string {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if short, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
			files[short] = files[name]
		}
	}
	return files
}

func count(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int64(n)
}
