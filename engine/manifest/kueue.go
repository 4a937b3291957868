package manifest

import (
	"fmt"

	"github.com/memwall/memwall/unit"
)

// Queue makes pods wait in a Kueue queue until a quota admits them (kueue.x-k8s.io/v1beta1).
type Queue struct{}

// queue is the label by which an object names its queue.
func (p *page) queue(s *Service) {
	if s.Queue != nil {
		p.add(1, "labels: {kueue.x-k8s.io/queue-name: "+s.Name+"}")
	}
}

// quota is of what all replicas ask for, and no more: devices, and memory where a pod is limited in it.
func (p *page) quota(s *Service) {
	p.head("kueue.x-k8s.io/v1beta1", "ResourceFlavor", s.Name)
	p.add(0, "---")
	p.head("kueue.x-k8s.io/v1beta1", "ClusterQueue", s.Name)
	p.add(0, "spec:")
	p.add(1, "namespaceSelector: {}")
	p.add(1, "resourceGroups:")
	device := s.Vendor + ".com/gpu"
	covered, pods := device, int64(1)
	if s.GPUs > 0 {
		pods = s.all() / s.GPUs
	}
	if s.Memory > 0 {
		covered += ", memory"
	}
	p.add(2, "- coveredResources: ["+covered+"]")
	p.add(3, "flavors:")
	p.add(4, "- name: "+s.Name)
	p.add(5, "resources:")
	p.add(6, "- name: "+device)
	p.add(7, fmt.Sprintf("nominalQuota: %d", s.all()))
	if s.Memory > 0 {
		p.add(6, "- name: memory")
		p.add(7, fmt.Sprintf("nominalQuota: %dMi", pods*unit.CeilDiv(int64(s.Memory), int64(unit.MiB))))
	}
	p.add(0, "---")
	p.head("kueue.x-k8s.io/v1beta1", "LocalQueue", s.Name)
	p.add(0, "spec:")
	p.add(1, "clusterQueue: "+s.Name)
}
