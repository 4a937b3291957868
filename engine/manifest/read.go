package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Is reports whether a text is such a file: a compose file has services, a manifest has a kind.
func Is(text string) bool {
	services, kind, version := false, false, false
	for line := range strings.Lines(text) {
		services = services || strings.HasPrefix(line, "services:")
		kind = kind || strings.HasPrefix(line, "kind:")
		version = version || strings.HasPrefix(line, "apiVersion:")
	}
	return services || kind && version
}

// maxContainers of one file.
const maxContainers = 64

// Read gives the commands that the containers of a file run, in its order.
func Read(text string) ([]argv.Command, error) {
	docs, err := decode(text)
	if err != nil {
		return nil, err
	}
	var found []container
	for _, d := range docs {
		found = append(found, composed(d)...)
		found = append(found, pods(d, docs)...)
	}
	if len(found) > maxContainers {
		return nil, argv.Wrong("the file", "", fmt.Sprintf("has %d containers", len(found)), fmt.Sprintf("at most %d", maxContainers))
	}
	var out []argv.Command
	for i := range found {
		cmds, err := found[i].commands()
		if err != nil {
			return nil, err
		}
		out = append(out, cmds...)
	}
	return out, nil
}

// container is one of a file.
type container struct {
	argv.Command
	entry, args, after []string
}

func (c *container) commands() ([]argv.Command, error) {
	out, err := argv.Contained(c.Command, c.entry, c.args)
	if err != nil || len(c.after) == 0 {
		return out, err
	}
	hook, err := argv.Contained(argv.Command{Env: c.Env, Files: c.Files, Devices: c.Devices}, c.after[:1], c.after[1:])
	return append(out, hook...), err
}

// composed are the services of a compose file.
func composed(d *yaml.Node) (out []container) {
	services := d.At("services")
	if services == nil {
		return nil
	}
	for _, name := range services.Keys {
		s := services.Of[name]
		if s.At("image") == nil && s.At("command") == nil {
			continue
		}
		c := container{entry: single(words(s.At("entrypoint"))), args: single(words(s.At("command")))}
		c.Image, c.Env = s.At("image").Value(), variables(s.At("environment"))
		c.Files = composedFiles(d, s)
		for _, v := range s.At("deploy", "resources", "reservations", "devices").Items() {
			c.Devices += devices(v)
		}
		for _, h := range s.At("post_start").Items() {
			c.after = single(words(h.At("command")))
		}
		out = append(out, c)
	}
	return out
}

// single takes the doubled dollars of compose back.
func single(words []string) []string {
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "$$", "$")
	}
	return words
}

// variables stand as a block of keys, or as NAME=value lines.
func variables(n *yaml.Node) (out []argv.Variable) {
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		out = append(out, argv.Variable{Name: k, Value: strings.ReplaceAll(n.Of[k].Value(), "$$", "$")})
	}
	for _, v := range n.List {
		if name, value, ok := strings.Cut(v.Text, "="); ok {
			out = append(out, argv.Variable{Name: name, Value: strings.ReplaceAll(value, "$$", "$")})
		}
	}
	return out
}

func composedFiles(d, service *yaml.Node) map[string]string {
	out := map[string]string{}
	for _, f := range service.At("configs").Items() {
		if n := d.At("configs", f.At("source").Value(), "content"); n != nil {
			out[f.At("target").Value()] = strings.ReplaceAll(n.Value(), "$$", "$")
		}
	}
	return within(service.At("working_dir").Value(), out)
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

// devices of one reservation: a count, or a list of ids; "all" says nothing.
func devices(v *yaml.Node) int64 {
	if ids := v.At("device_ids").Items(); len(ids) > 0 {
		return int64(len(ids))
	}
	return count(v.At("count").Value())
}

func count(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int64(n)
}

// pods are the containers of a Kubernetes object: of a Pod, of a Deployment's template, of a CronJob's.
func pods(d *yaml.Node, docs []*yaml.Node) (out []container) {
	if d.At("apiVersion") == nil || d.At("kind") == nil {
		return nil
	}
	spec := d.At("spec")
	for _, path := range [][]string{{"jobTemplate", "spec"}, {"predictor"}, {"leaderWorkerTemplate", "leaderTemplate", "spec"}, {"template", "spec"}} {
		if below := spec.At(path...); below != nil {
			spec = below
		}
	}
	for _, v := range spec.At("containers").Items() {
		out = append(out, pod(spec, v, docs))
	}
	return out
}

func pod(spec, v *yaml.Node, docs []*yaml.Node) container {
	c := container{entry: words(v.At("command")), args: words(v.At("args")), after: words(v.At("lifecycle", "postStart", "exec", "command"))}
	c.Image, c.Files = v.At("image").Value(), mounted(spec, v, docs)
	for _, e := range v.At("env").Items() {
		if value := e.At("value"); value != nil {
			c.Env = append(c.Env, argv.Variable{Name: e.At("name").Value(), Value: value.Value()})
		}
	}
	for _, kind := range []string{"limits", "requests"} {
		have := v.At("resources", kind)
		for _, name := range []string{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "habana.ai/gaudi", "google.com/tpu"} {
			if n := count(have.At(name).Value()); n > 0 {
				c.Devices = n
			}
		}
	}
	return c
}

// mounted are the files of configuration maps of the same text.
func mounted(spec, v *yaml.Node, docs []*yaml.Node) map[string]string {
	out := map[string]string{}
	for _, m := range v.At("volumeMounts").Items() {
		for _, vol := range spec.At("volumes").Items() {
			if vol.At("name").Value() != m.At("name").Value() {
				continue
			}
			data := configMap(docs, vol.At("configMap", "name").Value())
			path, sub := m.At("mountPath").Value(), m.At("subPath").Value()
			for _, key := range slices.Sorted(maps.Keys(data)) {
				switch {
				case sub == "":
					out[strings.TrimSuffix(path, "/")+"/"+key] = data[key].Value()
				case sub == key:
					out[path] = data[key].Value()
				}
			}
		}
	}
	return within(v.At("workingDir").Value(), out)
}

func configMap(docs []*yaml.Node, name string) map[string]*yaml.Node {
	for _, d := range docs {
		if data := d.At("data"); name != "" && d.At("kind").Value() == "ConfigMap" && d.At("metadata", "name").Value() == name && data != nil {
			return data.Of
		}
	}
	return nil
}
