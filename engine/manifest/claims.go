package manifest

import (
	"fmt"

	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/unit"
)

// Claims request devices by resource claims instead of a plugin's resource (Dynamic Resource Allocation, resource.k8s.io/v1,
// Kubernetes 1.34): any device of the driver's class with at least the given memory.
type Claims struct {
	Memory unit.Bytes // of a device
}

// deviceNamed is the name of the claim in a pod, and of its request.
const deviceNamed = "gpu"

// classes of devices by vendor, which are the names of their drivers too (github.com/kubernetes-sigs/dra-driver-nvidia-gpu,
// github.com/ROCm/k8s-gpu-dra-driver).
func (s *Service) class() string { return "gpu." + s.Vendor + ".com" }

// claimed reports whether the pods claim their devices.
func (s *Service) claimed() bool { return s.Claims != nil && s.GPUs > 0 }

// claimTemplate is what each pod's claim is made from.
func (p *page) claimTemplate(s *Service) {
	p.head("resource.k8s.io/v1", "ResourceClaimTemplate", s.Name)
	p.add(0, "spec:")
	p.add(1, "spec:")
	p.add(2, "devices:")
	p.add(3, "requests:")
	p.add(4, "- name: "+deviceNamed)
	p.add(5, "exactly:")
	p.add(6, "deviceClassName: "+s.class())
	p.add(6, "allocationMode: ExactCount")
	p.add(6, fmt.Sprintf("count: %d", s.GPUs))
	if s.Claims.Memory > 0 {
		p.add(6, "selectors:")
		p.add(7, "- cel:")
		p.add(9, fmt.Sprintf(`expression: "device.capacity['%s'].memory.compareTo(quantity('%dMi')) >= 0"`, s.class(), s.Claims.Memory/unit.MiB))
	}
}

// claims of a container are the devices that the claims of its pod ask for, where their templates stand in the same text.
func (w walk) claims(v *yaml.Node) (n int64) {
	for _, used := range v.At("resources", "claims").Items() {
		for _, claim := range w.pod.At("resourceClaims").Items() {
			if claim.At("name").Value() != used.At("name").Value() {
				continue
			}
			for _, r := range w.template(claim).At("devices", "requests").Items() {
				exactly := r.At("exactly")
				if exactly == nil { // v1beta1
					exactly = r
				}
				n += max(1, count(exactly.At("count").Value()))
			}
		}
	}
	return n
}

// template of a claim, or the claim itself, among the documents.
func (w walk) template(claim *yaml.Node) *yaml.Node {
	for _, d := range w.docs {
		name := d.At("metadata", "name").Value()
		switch d.At("kind").Value() {
		case "ResourceClaimTemplate":
			if name == claim.At("resourceClaimTemplateName").Value() {
				return d.At("spec", "spec")
			}
		case "ResourceClaim":
			if name == claim.At("resourceClaimName").Value() {
				return d.At("spec")
			}
		}
	}
	return nil
}
