// Package manifest renders the command that runs an engine as a compose file and as Kubernetes manifests, and parses
// such files, whoever wrote them, into commands. It knows no engines or flags: a Service holds the words of a command
// and what a container needs in addition.
//
// yaml.go has the limits of a file, read.go the parser, compose.go and kubernetes.go the output.
package manifest

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/unit"
)

// Service is a server in a container.
type Service struct {
	Name  string
	Image string
	// Entry replaces what the image starts; nil keeps it.
	Entry, Args []string
	Env         []argv.Variable
	// Files lie beside the server, by their path.
	Files []File
	// Dir is where the server runs. Folder of the host (a claim, in Kubernetes) is mounted as Mount: models are there.
	Dir, Folder, Mount string
	// After runs in the container once it has started.
	After []string
	Port  int
	// GPUs of a vendor: "nvidia", "amd", or none.
	GPUs   int64
	Vendor string
	// Shared is the size of /dev/shm, Memory the most that the container may take; 0 leaves them open. Why says
	// what Memory is made of.
	Shared, Memory unit.Bytes
	Why            string
	// Replicas of the server, each with GPUs of its own; 0 for one. Notes stand above the file.
	Replicas int64
	Notes    []string
	// Scale changes how many there are; nil where their number is fixed. Router stands in front of replicas on one host.
	Scale  *Scale
	Router *Router
	// Group is of a server on several nodes, each with GPUs; Claims and Queue say how devices are asked for and who may have them.
	Group  *Group
	Claims *Claims
	Queue  *Queue
}

// Scale bounds the number of replicas, which is adjusted to keep the mean of a metric over them.
type Scale struct {
	Least, Most int64
	Metric      string
	Thousandths int64 // of the metric
	Notes       []string
}

// Router is a proxy: its image, where it listens, and its configuration as a file of its image.
type Router struct {
	Image  string
	Port   int
	Config File
}

// File is a file that the command names.
type File struct{ Path, Text string }

// place is a file's path in the container.
func (s *Service) place(f *File) string {
	if strings.HasPrefix(f.Path, "/") || s.Dir == "" {
		return f.Path
	}
	return s.Dir + "/" + f.Path
}

// key is a file's name as volumes and configurations call it.
func (f *File) key() string {
	base := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, base))
}

// Name converts a model's name to lower-case letters, digits and dashes, as both kinds of files require.
func Name(model string) string {
	model = model[strings.LastIndexAny(model, `/\`)+1:]
	var b strings.Builder
	for _, r := range strings.ToLower(model) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const most = 50 // Kubernetes takes 63, of which suffixes need some
	name := b.String()
	name = strings.Trim(name[:min(most, len(name))], "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "model-" + name
	}
	return strings.TrimSuffix(name, "-")
}

// page collects lines at levels of two spaces.
type page struct {
	lines []string
	deep  int // levels that are added
}

// add a line. It is not inlined, which would be 20 kB in the places that call it.
//
//go:noinline
func (p *page) add(level int, text string) {
	p.lines = append(p.lines, strings.Repeat("  ", p.deep+level)+text)
}

// notes are comments.
func (p *page) notes(lines []string) {
	for _, l := range lines {
		p.add(0, "# "+strings.Join(strings.Fields(l), " "))
	}
}

// list writes a key with a list of words below it.
func (p *page) list(level int, key string, words []string) {
	if len(words) == 0 {
		return
	}
	p.add(level, key+":")
	for _, w := range words {
		p.add(level+1, "- "+scalar(w))
	}
}

// block writes a text that keeps its lines.
func (p *page) block(level int, key, text string) {
	p.add(level, key+": |")
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		p.add(level+1, l)
	}
}

func (p *page) String() string { return strings.Join(p.lines, "\n") + "\n" }

// scalar quotes a word that YAML would read as anything but that text. Control characters, which no command
// needs, become spaces.
func scalar(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\ufeff' {
			return ' '
		}
		return r
	}, s)
	if plainWord(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// plainWord: letters, digits and marks that stand for nothing, and no number or word of YAML's own.
func plainWord(s string) bool {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=") != "" {
		return false
	}
	if c := s[0]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/') && !(strings.HasPrefix(s, "--") && len(s) > 2 && s != "---") {
		return false
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return false
	}
	return true
}
