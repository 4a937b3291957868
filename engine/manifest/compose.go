package manifest

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/unit"
)

// Compose writes a compose file (compose-spec: deploy.md, 05-services.md). Replicas are services of their own, because
// each has its own devices; the router alone is reached from outside.
func Compose(s *Service) string {
	p := &page{}
	p.notes(s.Notes)
	p.add(0, "services:")
	for i := range max(1, s.Replicas) {
		p.service(s, i)
	}
	p.router(s)
	p.contents(s)
	return p.String()
}

// Replica is the name of a replica where there are several.
func (s *Service) Replica(i int64) string {
	if s.Replicas <= 1 {
		return s.Name
	}
	return fmt.Sprintf("%s-%d", s.Name, i)
}

func (p *page) service(s *Service, i int64) {
	p.add(1, s.Replica(i)+":")
	p.add(2, "image: "+scalar(s.Image))
	p.list(2, "entrypoint", dollars(s.Entry))
	p.list(2, "command", dollars(s.Args))
	p.environment(2, s.environment(i))
	if s.Router == nil {
		p.list(2, "ports", []string{fmt.Sprintf("%d:%d", s.Port, s.Port)})
	}
	if s.Dir != "" {
		p.add(2, "working_dir: "+scalar(s.Dir))
	}
	if s.Mount != "" {
		p.list(2, "volumes", dollars([]string{s.Folder + ":" + s.Mount}))
	}
	if s.Shared > 0 {
		p.add(2, fmt.Sprintf("shm_size: %dm", s.Shared/unit.MiB))
	}
	p.configs(s)
	p.resources(s, i)
}

func (p *page) router(s *Service) {
	r := s.Router
	if r == nil {
		return
	}
	p.add(1, "router:")
	p.add(2, "image: "+scalar(r.Image))
	p.list(2, "ports", []string{fmt.Sprintf("%d:%d", r.Port, r.Port)})
	p.add(2, "depends_on:")
	for i := range max(1, s.Replicas) {
		p.add(3, "- "+s.Replica(i))
	}
	p.add(2, "configs:")
	p.add(3, "- source: "+r.Config.key())
	p.add(4, "target: "+scalar(r.Config.Path))
}

// dollars are doubled: compose would put variables in.
func dollars(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "$", "$$")
	}
	return out
}

// environment of a replica: AMD's devices are files that all containers see, and a variable says which are whose.
func (s *Service) environment(replica int64) []argv.Variable {
	if s.Vendor != amd || s.Replicas <= 1 {
		return s.Env
	}
	ids := strings.NewReplacer("'", "", " ", "").Replace(s.devices(replica))
	return append(s.Env[:len(s.Env):len(s.Env)], argv.Variable{Name: "HIP_VISIBLE_DEVICES", Value: ids})
}

func (p *page) environment(level int, all []argv.Variable) {
	if len(all) == 0 {
		return
	}
	p.add(level, "environment:")
	for _, v := range all {
		p.add(level+1, v.Name+": "+quoted(strings.ReplaceAll(v.Value, "$", "$$")))
	}
}

// quoted is a value that must stay a text.
func quoted(s string) string {
	if out := scalar(s); strings.HasPrefix(out, "'") {
		return out
	}
	return "'" + s + "'"
}

func (p *page) configs(s *Service) {
	if len(s.Files) > 0 {
		p.add(2, "configs:")
	}
	for i := range s.Files {
		p.add(3, "- source: "+s.Files[i].key())
		p.add(4, "target: "+scalar(s.place(&s.Files[i])))
	}
	if len(s.After) > 0 {
		p.add(2, "post_start:")
		p.list(3, "- command", dollars(s.After))
	}
}

func (p *page) resources(s *Service, replica int64) {
	if s.GPUs > 0 && s.Vendor == amd {
		p.list(2, "devices", []string{"/dev/kfd", "/dev/dri"})
	}
	if (s.GPUs == 0 || s.Vendor == amd) && s.Memory == 0 {
		return
	}
	p.add(2, "deploy:")
	p.add(3, "resources:")
	if s.GPUs > 0 && s.Vendor != amd {
		p.add(4, "reservations:")
		p.add(5, "devices:")
		p.add(6, "- driver: nvidia")
		if s.Replicas > 1 {
			p.add(7, "device_ids: ["+s.devices(replica)+"]")
		} else {
			p.add(7, fmt.Sprintf("count: %d", s.GPUs))
		}
		p.add(7, "capabilities: [gpu]")
	}
	if s.Memory > 0 {
		p.add(4, "limits:")
		p.add(5, fmt.Sprintf("memory: %dm # %s", unit.CeilDiv(int64(s.Memory), int64(unit.MiB)), s.Why))
	}
}

// devices of a replica, which follow those of the one before.
func (s *Service) devices(replica int64) string {
	var ids []string
	for i := range s.GPUs {
		ids = append(ids, fmt.Sprintf("'%d'", replica*s.GPUs+i))
	}
	return strings.Join(ids, ", ")
}

func (p *page) contents(s *Service) {
	files := s.Files
	if s.Router != nil {
		files = append(files[:len(files):len(files)], s.Router.Config)
	}
	if len(files) > 0 {
		p.add(0, "configs:")
	}
	for i := range files {
		p.add(1, files[i].key()+":")
		p.block(2, "content", strings.ReplaceAll(files[i].Text, "$", "$$"))
	}
}

// amd names the vendor whose devices are files.
const amd = "amd"
