package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Containers of Kubernetes, in: of whatever object holds them.

// walk is where in a document one stands.
type walk struct {
	*file
	pod    *yaml.Node // the nearest block with containers or volumes
	object *yaml.Node
	nodes  int64 // of a group of pods that run one server
	ray    int64 // devices of a cluster of Ray
}

// pods are the containers of an object: of a Pod, of a Deployment's template, of a runtime's, a graph's or a chart's.
func (f *file) pods(d *yaml.Node) []container {
	if (d.At("services") != nil || beheaded(d) != nil || alone(d) != nil) && d.At("kind") == nil {
		return nil // of a compose file
	}
	w := &walk{file: f, object: d}
	return w.below(d, "", 0)
}

// maxDeep is how deep containers lie in what anybody wrote; aliases could take a walk further.
const maxDeep = 24

func (w walk) below(n *yaml.Node, key string, depth int) (out []container) {
	if n == nil || depth > maxDeep || key == "initContainers" {
		return nil
	}
	if n.At("containers") != nil || n.At("volumes") != nil {
		w.pod = n
	}
	for _, size := range []*yaml.Node{n.At("leaderWorkerTemplate", "size"), n.At("multinode", "nodeCount")} {
		if nodes := count(size.Value()); nodes > 0 {
			w.nodes = nodes
		}
	}
	if head := n.At("headGroupSpec"); head != nil {
		w.ray = clustered(head, n.At("workerGroupSpecs"))
	}
	if runs(n, key) {
		return []container{w.container(n)}
	}
	for _, v := range n.List {
		out = append(out, w.below(v, key, depth+1)...)
	}
	for _, k := range n.Keys {
		out = append(out, w.below(n.Of[k], k, depth+1)...)
	}
	return out
}

// runs tells a container: it has an image, and a command, arguments, variables or devices; or words that start with a flag.
func runs(n *yaml.Node, key string) bool {
	if n.Of == nil || key == "configMap" {
		return false
	}
	image := n.At("image")
	says := n.At("command") != nil || n.At("args") != nil || n.At("env") != nil
	switch {
	case image != nil && image.List == nil && (says || n.At("modelCommand") != nil):
		return true
	case n.At("args").Items() != nil && n.At("name") != nil && (n.At("command") != nil || argv.ServerOf(words(n.At("args"))) != ""):
		return true // also of a patch, whose image stands elsewhere
	}
	return key == "runner" && says
}

func (w walk) container(v *yaml.Node) container {
	c := container{entry: words(v.At("command")), args: words(v.At("args")), after: words(v.At("lifecycle", "postStart", "exec", "command"))}
	c.Image, c.Files = image(v.At("image")), w.mounted(v)
	c.Env = w.environment(v)
	c.Devices = limits(v.At("resources"))
	if c.Devices == 0 {
		c.Devices = w.claims(v)
	}
	if w.ray > 0 && c.Devices > 0 {
		c.Devices = w.ray
	}
	if w.nodes > 0 {
		c.Devices *= w.nodes
		c.Env = append(c.Env, argv.Variable{Name: "LWS_GROUP_SIZE", Value: fmt.Sprint(w.nodes)})
	}
	w.named(&c, v)
	return c
}

// clustered are the devices of a cluster of Ray: of its head, and of the replicas of its workers.
func clustered(head, workers *yaml.Node) (n int64) {
	for _, v := range head.At("template", "spec", "containers").Items() {
		n += limits(v.At("resources"))
	}
	for _, group := range workers.Items() {
		for _, v := range group.At("template", "spec", "containers").Items() {
			n += limits(v.At("resources")) * max(1, count(group.At("replicas").Value()))
		}
	}
	return n
}

// named fills in the model that an object names beside its containers, where a container's words leave it open.
func (w walk) named(c *container, v *yaml.Node) {
	model := ""
	for _, d := range append([]*yaml.Node{w.object}, w.docs...) {
		if model = modelOf(d); model != "" {
			break
		}
	}
	if model == "" {
		return
	}
	for _, name := range []string{"MODEL_PATH", "MODEL_NAME", "MODEL_ID"} {
		if _, set := c.Getenv(name); !set {
			c.Env = append(c.Env, argv.Variable{Name: name, Value: model})
		}
	}
	if v.At("modelCommand").Value() == "vllmServe" {
		c.entry, c.args = []string{"vllm", "serve", model}, append(c.args, parallelism(w.object.At("decode", "parallelism"))...)
	}
}

// modelOf is the model that an object is about.
func modelOf(d *yaml.Node) string {
	for _, path := range [][]string{{"modelArtifacts", "name"}, {"modelArtifacts", "uri"}, {"spec", "model", "uri"}, {"spec", "storage", "storageUri"}, {"spec", "model", "name"}, {"spec", "predictor", "model", "storageUri"}} {
		if ref := reference(d.At(path...).Value()); ref != "" {
			return ref
		}
	}
	return ""
}

// reference is what a URI of a model names on a hub; a claim or a bucket names a folder, whose path may say the model.
func reference(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	switch {
	case argv.Open(uri):
		return ""
	case !ok:
		return uri
	case scheme == "hf" || scheme == "huggingface":
		rest, _, _ = strings.Cut(strings.Trim(rest, `"/`), "@")
		rest, _, _ = strings.Cut(rest, ":")
		return rest
	case scheme == "pvc+hf":
		return "/" + strings.TrimPrefix(rest, "/")
	case scheme == "oci": // an image that holds a model, whose name says it (modelcar-NAME:TAG)
		rest, _, _ = strings.Cut(strings.Trim(rest, "/"), "@")
		folder, name := rest[:strings.LastIndexByte(rest, '/')+1], rest[strings.LastIndexByte(rest, '/')+1:]
		name, _, _ = strings.Cut(name, ":")
		return "/" + folder + strings.TrimPrefix(name, "modelcar-")
	case scheme == "pvc" || scheme == "s3" || scheme == "gs":
		return "/" + strings.Trim(rest, "/")
	}
	return ""
}

// image is a name, or a block of a repository and a tag.
func image(n *yaml.Node) string {
	if n == nil || n.Of == nil {
		return n.Value()
	}
	name := strings.TrimPrefix(n.At("registry").Value()+"/"+n.At("repository").Value(), "/")
	return strings.TrimSuffix(name+":"+n.At("tag").Value(), ":")
}

// environment is what a container is given, values of configuration maps of the same text included.
func (w walk) environment(v *yaml.Node) (out []argv.Variable) {
	for _, from := range v.At("envFrom").Items() {
		data := configMap(w.docs, from.At("configMapRef", "name").Value())
		for _, k := range slices.Sorted(maps.Keys(data)) {
			out = append(out, argv.Variable{Name: k, Value: data[k].Value()})
		}
	}
	env := v.At("env")
	for _, e := range env.Items() {
		value := e.At("value")
		if ref := e.At("valueFrom", "configMapKeyRef"); ref != nil {
			value = configMap(w.docs, ref.At("name").Value())[ref.At("key").Value()]
		}
		if value != nil {
			out = append(out, argv.Variable{Name: e.At("name").Value(), Value: argv.Expand(value.Value(), out)})
		}
	}
	if env != nil && env.Of != nil {
		out = append(out, variables(env)...)
	}
	return out
}

// deviceNames are what device plugins call their devices.
var deviceNames = []string{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "google.com/tpu", "gpu"}

// limits is how many devices a container may use.
func limits(resources *yaml.Node) (n int64) {
	for _, kind := range []string{"requests", "limits"} {
		for _, name := range deviceNames {
			if have := count(resources.At(kind, name).Value()); have > 0 {
				n = have
			}
		}
	}
	return n
}

// mounted are the files of configuration maps of the same text.
func (w walk) mounted(v *yaml.Node) map[string]string {
	out := map[string]string{}
	for _, m := range v.At("volumeMounts").Items() {
		for _, vol := range w.pod.At("volumes").Items() {
			if vol.At("name").Value() != m.At("name").Value() {
				continue
			}
			data := configMap(w.docs, vol.At("configMap", "name").Value())
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
