package manifest

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Compose files, in.

// composed are the services of a compose file (compose-spec: 05-services.md, 12-interpolation.md).
func composed(_ *file, d *yaml.Node) (out []container) {
	services := d.At("services")
	if services == nil {
		services = beheaded(d)
	}
	if services == nil {
		services = alone(d)
	}
	if services == nil {
		return nil
	}
	for _, name := range services.Keys {
		s := services.Of[name]
		if s.At("image") == nil && s.At("command") == nil && s.At("build") == nil {
			continue
		}
		env := interpolated(variables(s.At("environment")))
		c := container{entry: single(words(s.At("entrypoint")), env), args: single(words(s.At("command")), env)}
		c.Image, c.Env = argv.Expand(s.At("image").Value(), nil), env
		c.Files = composedFiles(d, s)
		for _, v := range s.At("deploy", "resources", "reservations", "devices").Items() {
			c.Devices += devices(v)
		}
		for _, h := range s.At("post_start").Items() {
			c.after = single(words(h.At("command")), nil)
		}
		out = append(out, c)
	}
	return out
}

// beheaded are the services of a file that was pasted without its head: all that stands in it has an image and none is of
// Kubernetes, whose containers have lists.
func beheaded(d *yaml.Node) *yaml.Node {
	for _, k := range d.Keys {
		if s := d.Of[k]; s.At("image").Value() == "" || s.At("args") != nil {
			return nil
		}
	}
	if len(d.Keys) == 0 {
		return nil
	}
	return d
}

// alone is one service that was pasted without its name.
func alone(d *yaml.Node) *yaml.Node {
	if d.At("image").Value() == "" || d.At("environment") == nil && d.At("command") == nil || d.At("args") != nil || d.At("name") != nil {
		return nil
	}
	return &yaml.Node{Keys: []string{""}, Of: map[string]*yaml.Node{"": d}}
}

// interpolated are variables of a container with the defaults of those that compose puts in.
func interpolated(env []argv.Variable) []argv.Variable {
	for i := range env {
		env[i].Value = single([]string{env[i].Value}, nil)[0]
	}
	return env
}

// single puts defaults in and takes the doubled dollars of compose back. A variable that nothing but the container sets
// has the container's value.
func single(words []string, env []argv.Variable) []string {
	const doubled = "\x01"
	for i := range words {
		text := argv.Expand(strings.ReplaceAll(words[i], "$$", doubled), env)
		words[i] = strings.ReplaceAll(text, doubled, "$")
	}
	return words
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

// devices of one reservation: a count, or a list of ids, which people also write as one text; "all" says nothing.
func devices(v *yaml.Node) (n int64) {
	for _, id := range v.At("device_ids").Items() {
		n += int64(strings.Count(id.Value(), ",") + 1)
	}
	if n > 0 {
		return n
	}
	return count(argv.Expand(v.At("count").Value(), nil))
}
