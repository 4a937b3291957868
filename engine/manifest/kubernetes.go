package manifest

import (
	"fmt"

	"github.com/memwall/memwall/unit"
)

// Kubernetes writes a Deployment, or a LeaderWorkerSet where a server takes several nodes, with its Service, a ConfigMap where the command names files, and a
// HorizontalPodAutoscaler where the number of replicas is to change.
func Kubernetes(s *Service) string {
	p := &page{}
	p.notes(s.Notes)
	if s.Queue != nil && s.GPUs > 0 {
		p.quota(s)
		p.add(0, "---")
	}
	if s.claimed() {
		p.claimTemplate(s)
		p.add(0, "---")
	}
	if s.Group != nil {
		p.group(s)
	} else {
		p.deployment(s)
	}
	p.answers(s)
	p.scale(s)
	return p.String()
}

func (p *page) deployment(s *Service) {
	p.head("apps/v1", "Deployment", s.Name)
	p.queue(s)
	p.add(0, "spec:")
	if s.Scale == nil { // else each time the file is applied it would undo what was scaled
		p.add(1, fmt.Sprintf("replicas: %d", max(1, s.Replicas)))
	}
	p.add(1, "strategy: {type: Recreate}") // a second replica would ask for the same devices
	p.add(1, "selector:")
	p.add(2, "matchLabels: {app: "+s.Name+"}")
	p.add(1, "template:")
	p.add(2, "metadata:")
	p.add(3, "labels: {app: "+s.Name+"}")
	p.add(2, "spec:")
	p.pod(s)
}

// pod is what its specification holds.
func (p *page) pod(s *Service) {
	p.add(3, "containers:")
	p.container(s)
	p.volumes(s)
	if s.claimed() {
		p.add(3, "resourceClaims:")
		p.add(4, "- name: "+deviceNamed)
		p.add(5, "resourceClaimTemplateName: "+s.Name)
	}
}

// answers is the address of the server, and the files that its command names.
func (p *page) answers(s *Service) {
	p.add(0, "---")
	p.head("v1", "Service", s.Name)
	p.add(0, "spec:")
	p.add(1, "selector: "+s.answering())
	p.add(1, "ports:")
	p.add(2, fmt.Sprintf("- port: %d", s.Port))
	if len(s.Files) > 0 {
		p.add(0, "---")
		p.head("v1", "ConfigMap", s.Name)
		p.add(0, "data:")
		for i := range s.Files {
			p.block(1, s.Files[i].key(), s.Files[i].Text)
		}
	}
}

// scale keeps the mean of a metric over the replicas (kubernetes.io: horizontal-pod-autoscale-walkthrough).
func (p *page) scale(s *Service) {
	if s.Scale == nil {
		return
	}
	p.add(0, "---")
	p.notes(s.Scale.Notes)
	p.head("autoscaling/v2", "HorizontalPodAutoscaler", s.Name)
	p.add(0, "spec:")
	target := "apiVersion: apps/v1, kind: Deployment"
	if s.Group != nil {
		target = "apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet"
	}
	p.add(1, "scaleTargetRef: {"+target+", name: "+s.Name+"}")
	p.add(1, fmt.Sprintf("minReplicas: %d", s.Scale.Least))
	p.add(1, fmt.Sprintf("maxReplicas: %d", s.Scale.Most))
	p.add(1, "metrics:")
	p.add(2, "- type: Pods")
	p.add(3, "pods:")
	p.add(4, "metric: {name: "+s.Scale.Metric+"}")
	p.add(4, fmt.Sprintf("target: {type: AverageValue, averageValue: %dm}", s.Scale.Thousandths))
}

func (p *page) head(version, kind, name string) {
	p.add(0, "apiVersion: "+version)
	p.add(0, "kind: "+kind)
	p.add(0, "metadata:")
	p.add(1, "name: "+name)
}

func (p *page) container(s *Service) {
	p.add(4, "- name: "+s.Name)
	p.add(5, "image: "+scalar(s.Image))
	if s.Dir != "" {
		p.add(5, "workingDir: "+scalar(s.Dir))
	}
	p.list(5, "command", s.Entry)
	p.list(5, "args", s.Args)
	if len(s.Env) > 0 {
		p.add(5, "env:")
	}
	for _, v := range s.Env {
		p.add(6, "- name: "+v.Name)
		p.add(7, "value: "+quoted(v.Value))
	}
	p.add(5, "ports:")
	p.add(6, fmt.Sprintf("- containerPort: %d", s.Port))
	p.limits(s)
	if len(s.After) > 0 {
		p.add(5, "lifecycle:")
		p.add(6, "postStart:")
		p.add(7, "exec:")
		p.list(8, "command", s.After)
	}
	p.mounts(s)
}

// limits: devices are asked for by their vendor's plugin.
func (p *page) limits(s *Service) {
	if s.GPUs == 0 && s.Memory == 0 {
		return
	}
	p.add(5, "resources:")
	if s.claimed() {
		p.add(6, "claims: [{name: "+deviceNamed+"}]")
	}
	if s.Memory > 0 || !s.claimed() {
		p.add(6, "limits:")
	}
	if s.GPUs > 0 && !s.claimed() {
		p.add(7, fmt.Sprintf("%s.com/gpu: %d", s.Vendor, s.GPUs))
	}
	if s.Memory > 0 {
		p.add(7, fmt.Sprintf("memory: %dMi # %s", unit.CeilDiv(int64(s.Memory), int64(unit.MiB)), s.Why))
	}
}

func (p *page) mounts(s *Service) {
	if s.Shared == 0 && len(s.Files) == 0 && s.Mount == "" {
		return
	}
	p.add(5, "volumeMounts:")
	if s.Mount != "" {
		p.add(6, "- name: models")
		p.add(7, "mountPath: "+scalar(s.Mount))
	}
	if s.Shared > 0 {
		p.add(6, "- name: shm")
		p.add(7, "mountPath: /dev/shm")
	}
	for i := range s.Files {
		p.add(6, "- name: files")
		p.add(7, "mountPath: "+scalar(s.place(&s.Files[i])))
		p.add(7, "subPath: "+s.Files[i].key())
	}
}

func (p *page) volumes(s *Service) {
	if s.Shared == 0 && len(s.Files) == 0 && s.Mount == "" {
		return
	}
	p.add(3, "volumes:")
	if s.Mount != "" {
		p.add(4, "- name: models")
		p.add(5, "persistentVolumeClaim: {claimName: models}")
	}
	if s.Shared > 0 {
		p.add(4, "- name: shm")
		p.add(5, fmt.Sprintf("emptyDir: {medium: Memory, sizeLimit: %dMi}", s.Shared/unit.MiB))
	}
	if len(s.Files) > 0 {
		p.add(4, "- name: files")
		p.add(5, "configMap: {name: "+s.Name+"}")
	}
}
