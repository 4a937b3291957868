package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine/argv"
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
func composed(d *node) (out []container) {
	services := d.at("services")
	if services == nil {
		return nil
	}
	for _, name := range services.keys {
		s := services.of[name]
		if s.at("image") == nil && s.at("command") == nil {
			continue
		}
		c := container{entry: single(s.at("entrypoint").words()), args: single(s.at("command").words())}
		c.Image, c.Env = s.at("image").value(), variables(s.at("environment"))
		c.Files = composedFiles(d, s)
		for _, v := range s.at("deploy", "resources", "reservations", "devices").items() {
			c.Devices += devices(v)
		}
		for _, h := range s.at("post_start").items() {
			c.after = single(h.at("command").words())
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
func variables(n *node) (out []argv.Variable) {
	if n == nil {
		return nil
	}
	for _, k := range n.keys {
		out = append(out, argv.Variable{Name: k, Value: strings.ReplaceAll(n.of[k].value(), "$$", "$")})
	}
	for _, v := range n.list {
		if name, value, ok := strings.Cut(v.text, "="); ok {
			out = append(out, argv.Variable{Name: name, Value: strings.ReplaceAll(value, "$$", "$")})
		}
	}
	return out
}

func composedFiles(d, service *node) map[string]string {
	out := map[string]string{}
	for _, f := range service.at("configs").items() {
		if n := d.at("configs", f.at("source").value(), "content"); n != nil {
			out[f.at("target").value()] = strings.ReplaceAll(n.value(), "$$", "$")
		}
	}
	return within(service.at("working_dir").value(), out)
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
func devices(v *node) int64 {
	if ids := v.at("device_ids").items(); len(ids) > 0 {
		return int64(len(ids))
	}
	return count(v.at("count").value())
}

func count(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int64(n)
}

// pods are the containers of a Kubernetes object: of a Pod, of a Deployment's template, of a CronJob's.
func pods(d *node, docs []*node) (out []container) {
	if d.at("apiVersion") == nil || d.at("kind") == nil {
		return nil
	}
	spec := d.at("spec")
	for _, path := range [][]string{{"jobTemplate", "spec"}, {"predictor"}, {"leaderWorkerTemplate", "leaderTemplate", "spec"}, {"template", "spec"}} {
		if below := spec.at(path...); below != nil {
			spec = below
		}
	}
	for _, v := range spec.at("containers").items() {
		out = append(out, pod(spec, v, docs))
	}
	return out
}

func pod(spec, v *node, docs []*node) container {
	c := container{entry: v.at("command").words(), args: v.at("args").words(), after: v.at("lifecycle", "postStart", "exec", "command").words()}
	c.Image, c.Files = v.at("image").value(), mounted(spec, v, docs)
	for _, e := range v.at("env").items() {
		if value := e.at("value"); value != nil {
			c.Env = append(c.Env, argv.Variable{Name: e.at("name").value(), Value: value.value()})
		}
	}
	for _, kind := range []string{"limits", "requests"} {
		have := v.at("resources", kind)
		for _, name := range []string{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "habana.ai/gaudi", "google.com/tpu"} {
			if n := count(have.at(name).value()); n > 0 {
				c.Devices = n
			}
		}
	}
	return c
}

// mounted are the files of configuration maps of the same text.
func mounted(spec, v *node, docs []*node) map[string]string {
	out := map[string]string{}
	for _, m := range v.at("volumeMounts").items() {
		for _, vol := range spec.at("volumes").items() {
			if vol.at("name").value() != m.at("name").value() {
				continue
			}
			data := configMap(docs, vol.at("configMap", "name").value())
			path, sub := m.at("mountPath").value(), m.at("subPath").value()
			for _, key := range slices.Sorted(maps.Keys(data)) {
				switch {
				case sub == "":
					out[strings.TrimSuffix(path, "/")+"/"+key] = data[key].value()
				case sub == key:
					out[path] = data[key].value()
				}
			}
		}
	}
	return within(v.at("workingDir").value(), out)
}

func configMap(docs []*node, name string) map[string]*node {
	for _, d := range docs {
		if data := d.at("data"); name != "" && d.at("kind").value() == "ConfigMap" && d.at("metadata", "name").value() == name && data != nil {
			return data.of
		}
	}
	return nil
}
