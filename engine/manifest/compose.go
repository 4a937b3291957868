package manifest

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Compose writes a compose file (compose-spec: deploy.md, 05-services.md).
func Compose(s *Service) string {
	p := &page{}
	p.add(0, "services:")
	p.add(1, s.Name+":")
	p.add(2, "image: "+scalar(s.Image))
	p.list(2, "entrypoint", dollars(s.Entry))
	p.list(2, "command", dollars(s.Args))
	p.environment(2, s)
	p.list(2, "ports", []string{fmt.Sprintf("%d:%d", s.Port, s.Port)})
	if s.Dir != "" {
		p.add(2, "working_dir: "+scalar(s.Dir))
	}
	if s.Mount != "" {
		p.list(2, "volumes", []string{s.Folder + ":" + s.Mount})
	}
	if s.Shared > 0 {
		p.add(2, fmt.Sprintf("shm_size: %dm", s.Shared/unit.MiB))
	}
	p.configs(s)
	p.resources(s)
	p.contents(s)
	return p.String()
}

// dollars are doubled: compose would put variables in.
func dollars(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "$", "$$")
	}
	return out
}

func (p *page) environment(level int, s *Service) {
	if len(s.Env) == 0 {
		return
	}
	p.add(level, "environment:")
	for _, v := range s.Env {
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

func (p *page) resources(s *Service) {
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
		p.add(7, fmt.Sprintf("count: %d", s.GPUs))
		p.add(7, "capabilities: [gpu]")
	}
	if s.Memory > 0 {
		p.add(4, "limits:")
		p.add(5, fmt.Sprintf("memory: %dm # %s", unit.CeilDiv(int64(s.Memory), int64(unit.MiB)), s.Why))
	}
}

func (p *page) contents(s *Service) {
	if len(s.Files) > 0 {
		p.add(0, "configs:")
	}
	for i := range s.Files {
		p.add(1, s.Files[i].key()+":")
		p.block(2, "content", strings.ReplaceAll(s.Files[i].Text, "$", "$$"))
	}
}

// amd names the vendor whose devices are files.
const amd = "amd"
