package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/internal/launch"
)

// script is a program of the shell that starts the workers of a host, and says how requests reach them.
func (d *deployment) script() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "#!/bin/sh\n# %s\n", d.title())
	for _, note := range d.remarks() {
		fmt.Fprintf(b, "# %s\n", strings.Join(strings.Fields(note), " "))
	}
	b.WriteString(d.namedFiles())
	switch {
	case len(d.workers) == 1:
		fmt.Fprintf(b, "\n%s\n", d.line(&d.workers[0]))
		return b.String()
	case d.hosts == 1:
		fmt.Fprintf(b, "\n%s", d.part(0))
	default:
		b.WriteString(d.parts())
	}
	b.WriteString(d.routerNotes())
	b.WriteString("wait\n")
	return b.String()
}

// remarks on what the script does not do.
func (d *deployment) remarks() (out []string) {
	if d.unwritten != "" {
		out = append(out, "No compose.yaml and no kubernetes.yaml: "+d.unwritten+".")
	}
	if d.spans > 1 {
		out = append(out, fmt.Sprintf("A replica takes %d hosts: the command starts on the first of them, and how the others join it "+
			"stands in the engine's guide to several nodes.", d.spans))
	}
	for _, u := range launch.Unsaid(d.q) {
		out = append(out, u.Field+" is not in the commands: "+u.Why)
	}
	if d.hosts > 1 {
		out = append(out, "Give it the name of the host that it runs on, such as host-1.")
	}
	if _, after, err := launch.CommandWords(d.q); err == nil && len(after) > 0 {
		out = append(out, "Once they serve, at each: "+after[0].Program+" "+shellLine(after[0].Args))
	}
	return out
}

// namedFiles are the files that the command names.
func (d *deployment) namedFiles() string {
	b := &strings.Builder{}
	main, _, err := launch.CommandWords(d.q)
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(main.Files)) {
		fmt.Fprintf(b, "\ncat > %s <<'EOF'\n%s\nEOF\n", argv.Quote(name), strings.TrimRight(main.Files[name], "\n"))
	}
	return b.String()
}

// part are the commands of a host.
func (d *deployment) part(host int64) string {
	b := &strings.Builder{}
	for i := range d.workers {
		if w := &d.workers[i]; w.host == host {
			fmt.Fprintf(b, "%s &\n", d.line(w))
		}
	}
	return b.String()
}

// parts are the commands of all hosts: those that do the same stand together, the most of them last.
func (d *deployment) parts() string {
	hosts := map[string][]string{}
	for h := range d.hosts {
		if text := d.part(h); text != "" {
			hosts[text] = append(hosts[text], hostName(h))
		}
	}
	texts := slices.SortedFunc(maps.Keys(hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(hosts[a]), len(hosts[b])), cmp.Compare(hosts[b][0], hosts[a][0]))
	})
	b := &strings.Builder{}
	b.WriteString("\ncase \"${1:-}\" in\n")
	for i, text := range texts {
		names := strings.Join(hosts[text], "|")
		if i == len(texts)-1 && d.spans == 0 {
			names = "host-*"
		}
		fmt.Fprintf(b, "%s)\n%s;;\n", names, text)
	}
	b.WriteString("*) echo \"usage: $0 host-1\" >&2; exit 2 ;;\nesac\n")
	return b.String()
}

func hostName(h int64) string { return fmt.Sprintf("host-%d", h+1) }

// line is the command of a worker.
func (d *deployment) line(w *worker) string {
	main, _, err := launch.CommandWords(w.q)
	if err != nil {
		return w.q.Engine.Command(w.q.Job)
	}
	words := append(launch.Program(main), main.Args...)
	env := main.Env
	if len(d.workers) > 1 {
		env, words = append(d.visibleDevices(w), env...), append(words, d.listenAddress(w)...)
	}
	if w.q.Prompter != nil || w.prompts {
		own, more := d.cacheTransferArgs(w)
		env, words = append(env, own...), append(words, more...)
	}
	out := ""
	for _, v := range env {
		value := argv.Quote(v.Value)
		if v.Value == ownName {
			value = v.Value
		}
		out += v.Name + "=" + value + " "
	}
	return out + shellLine(words)
}

func shellLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = argv.Quote(w)
	}
	return strings.Join(out, " ")
}

// visibleDevices are the variables that show a worker its devices, and Ollama where to listen.
func (d *deployment) visibleDevices(w *worker) (out []argv.Variable) {
	name := ""
	if dev := d.q.Job.Device(0); dev != nil {
		name = map[string]string{launch.Nvidia: "CUDA_VISIBLE_DEVICES", launch.Amd: "HIP_VISIBLE_DEVICES"}[strings.ToLower(dev.Vendor)]
	}
	if name != "" && d.spans == 0 {
		var ids []string
		for i := range w.devices {
			ids = append(ids, fmt.Sprint(w.first+i))
		}
		out = append(out, argv.Variable{Name: name, Value: strings.Join(ids, ",")})
	}
	if d.q.Engine.Name() == "ollama" {
		out = append(out, argv.Variable{Name: "OLLAMA_HOST", Value: fmt.Sprintf("%s:%d", d.interfaces(), w.port)})
	}
	return out
}

// listenAddress says where a server of the engine listens.
func (d *deployment) listenAddress(w *worker) []string {
	if c, err := launch.Container(d.q); err != nil || len(c.Listen) == 0 {
		return nil
	}
	return []string{"--host", d.interfaces(), "--port", fmt.Sprint(w.port)}
}

// interfaces that servers listen at: their own host's alone where the router is there too.
func (d *deployment) interfaces() string {
	if d.hosts == 1 {
		return "127.0.0.1"
	}
	return "0.0.0.0"
}

// address of a worker as the router reaches it.
func (d *deployment) address(w *worker) string {
	host := "127.0.0.1"
	if d.hosts > 1 {
		host = hostName(w.host)
	}
	return fmt.Sprintf("%s:%d", host, w.port)
}

func (d *deployment) addresses() (out []string) {
	for i := range d.workers {
		out = append(out, d.address(&d.workers[i]))
	}
	return out
}
