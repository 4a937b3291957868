package admit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// object is what is read of a pod, or of what makes pods.
type object struct {
	Kind     string   `json:"kind"`
	Metadata metadata `json:"metadata"`
	Spec     spec     `json:"spec"`
}

type metadata struct {
	Annotations map[string]string `json:"annotations"`
}

// spec of a pod, of a template of pods, or of a job, a schedule or a group of these.
type spec struct {
	podSpec
	Template    *template `json:"template"`
	JobTemplate *struct {
		Spec struct {
			Template *template `json:"template"`
		} `json:"spec"`
	} `json:"jobTemplate"`
	LeaderWorker *struct {
		Size   int64     `json:"size"`
		Leader *template `json:"leaderTemplate"`
		Worker *template `json:"workerTemplate"`
	} `json:"leaderWorkerTemplate"`
}

type template struct {
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Containers   []container       `json:"containers"`
	NodeSelector map[string]string `json:"nodeSelector"`
	Affinity     struct {
		Node struct {
			Required struct {
				Terms []struct {
					Expressions []expression `json:"matchExpressions"`
				} `json:"nodeSelectorTerms"`
			} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
		} `json:"nodeAffinity"`
	} `json:"affinity"`
	Claims []struct {
		Name     string `json:"name"`
		Claim    string `json:"resourceClaimName"`
		Template string `json:"resourceClaimTemplateName"`
	} `json:"resourceClaims"`
}

type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type container struct {
	Name    string     `json:"name"`
	Image   string     `json:"image"`
	Command []string   `json:"command"`
	Args    []string   `json:"args"`
	Env     []variable `json:"env"`
	Res     struct {
		Limits   map[string]json.RawMessage `json:"limits"`
		Requests map[string]json.RawMessage `json:"requests"`
		Claims   []struct {
			Name string `json:"name"`
		} `json:"claims"`
	} `json:"resources"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// pods of an object: its own, or those that it makes.
func (o *object) pods() (out []podSpec) {
	s := &o.Spec
	if len(s.Containers) > 0 {
		out = append(out, s.podSpec)
	}
	if s.Template != nil {
		out = append(out, s.Template.Spec)
	}
	if s.JobTemplate != nil && s.JobTemplate.Spec.Template != nil {
		out = append(out, s.JobTemplate.Spec.Template.Spec)
	}
	if g := s.LeaderWorker; g != nil {
		for _, t := range []*template{g.Leader, g.Worker} {
			if t != nil {
				out = append(out, t.Spec)
			}
		}
	}
	return out
}

// accelerators that a pod asks for: how many of a resource, and the profile of a part of a GPU ("" of whole ones).
type accelerators struct {
	count   int64
	profile string
}

// resources are names of devices that plugins give.
var resources = []string{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "gpu.intel.com/i915", "habana.ai/gaudi"}

func (c *container) accelerators() (out accelerators) {
	for _, list := range []map[string]json.RawMessage{c.Res.Requests, c.Res.Limits} {
		for name, value := range list {
			n, err := strconv.ParseInt(strings.Trim(string(value), `"`), 10, 32)
			if err != nil || n <= 0 {
				continue
			}
			profile, part := strings.CutPrefix(name, "nvidia.com/mig-")
			if part {
				out = accelerators{n, profile}
			} else if slices.Contains(resources, name) {
				out = accelerators{n, ""}
			}
		}
	}
	return out
}

// labels of nodes that name an accelerator or a machine, those that say most first: of NVIDIA's and AMD's discovery, Karpenter, GKE, and
// types of instances.
var labels = []string{"nvidia.com/gpu.product", "amd.com/gpu.product-name", "beta.amd.com/gpu.product-name",
	"karpenter.k8s.aws/instance-gpu-name", "cloud.google.com/gke-accelerator", "node.kubernetes.io/instance-type",
	"beta.kubernetes.io/instance-type"}

// products are the accelerators of the nodes that a pod may land on, as their labels name them; none where nothing is said.
func (p *podSpec) products() []string {
	for _, label := range labels {
		if v := p.NodeSelector[label]; v != "" {
			return []string{v}
		}
	}
	for _, label := range labels {
		var all []string
		for _, term := range p.Affinity.Node.Required.Terms {
			for _, e := range term.Expressions {
				if e.Key == label && e.Operator == "In" {
					all = append(all, e.Values...)
				}
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// claimed are the devices that claims of a container stand for, by the names that the webhook was told.
func (p *podSpec) claimed(c *container, known map[string]string) (out []string) {
	for _, used := range c.Res.Claims {
		for _, x := range p.Claims {
			if x.Name != used.Name {
				continue
			}
			for _, name := range []string{x.Template, x.Claim} {
				if hw := known[name]; hw != "" {
					out = append(out, hw)
				}
			}
		}
	}
	return out
}

// spelt is a label's value as people write hardware: it has hyphens for spaces, and says of a node whether its GPUs are shared.
func spelt(label, profile string) string {
	name := strings.TrimSuffix(label, "-SHARED")
	if !strings.Contains(name, ".") || strings.Contains(name, "-MIG-") {
		name = strings.NewReplacer("-", " ", "_", " ").Replace(name)
	}
	if profile != "" && !strings.Contains(strings.ToLower(name), profile) {
		name += " " + profile
	}
	return name
}

// harmless tells variables that say how an engine runs, and no secret.
func harmless(name string) bool {
	for _, part := range []string{"TOKEN", "KEY", "SECRET", "PASS", "CRED", "AUTH"} {
		if strings.Contains(strings.ToUpper(name), part) {
			return false
		}
	}
	return true
}

// manifest is the container alone, as the reader of manifests takes it: what a plan follows from, without what may be secret.
func (c *container) manifest() string {
	alone := container{Name: "server", Image: c.Image, Command: c.Command, Args: c.Args}
	for _, v := range c.Env {
		if v.Value != "" && harmless(v.Name) {
			alone.Env = append(alone.Env, v)
		}
	}
	limits := map[string]int64{}
	if a := c.accelerators(); a.count > 0 {
		limits["nvidia.com/gpu"] = a.count
	}
	text, err := json.Marshal(map[string]any{"name": alone.Name, "image": alone.Image, "command": alone.Command, "args": alone.Args,
		"env": alone.Env, "resources": map[string]any{"limits": limits}})
	if err != nil {
		return ""
	}
	return "kind: Pod\nspec:\n  containers:\n  - " + string(text) + "\n"
}
