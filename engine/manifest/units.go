package manifest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Files of sections with keys, in: units of systemd, and the models of llama-server's router.

var (
	unitStart   = regexp.MustCompile(`(?m)^[ \t]*ExecStart[ \t]*=`)
	unitLine    = regexp.MustCompile(`^\s*(ExecStart[ \t]*=|command[ \t]*=[ \t]*["']?\S*[/\\])`)
	supervised  = regexp.MustCompile(`(?m)^[ \t]*\[program:[^\]\n]+\][ \t]*$`)
	unitSection = regexp.MustCompile(`(?m)^[ \t]*\[(Service|Container|Unit)\][ \t]*$`)
	presets     = regexp.MustCompile(`(?m)^[ \t]*\[[^\]\n]+\][ \t]*\n([ \t]*([;#].*)?\n)*[ \t]*[A-Za-z][\w-]*[ \t]*=`)
	presetKey   = regexp.MustCompile(`(?m)^[ \t]*(model|hf|hf-repo|m|c|ctx-size|ngl|n-gpu-layers|gpu-layers|load-on-startup|mmproj|LLAMA_ARG_\w+)[ \t]*=`)
)

// isUnit tells a unit of systemd, its drop-in, or the line of it that starts the program; those of Podman's Quadlet have a
// container, and those of supervisord a program.
func isUnit(text string) bool {
	return unitLine.MatchString(text) || supervised.MatchString(text) || unitSection.MatchString(text) && (unitStart.MatchString(text) || strings.Contains(text, "Environment=") || strings.Contains(text, "Image="))
}

func isPresets(text string) bool {
	return presets.MatchString(text) && presetKey.MatchString(text) || isSection(text)
}

// sectionModel and sectionFlag are keys of such a section whose head was not pasted; a program's own assignments have other names.
var (
	sectionModel = regexp.MustCompile(`(?m)^[ \t]*(m|model|hf|hf-repo|hfr)[ \t]*=[ \t]*\S`)
	sectionFlag  = regexp.MustCompile(`(?m)^[ \t]*(ctx-size|n-gpu-layers|gpu-layers|flash-attn|cache-type-k|ubatch-size|n-cpu-moe|batch-size|mmproj)[ \t]+=`)
)

// isSection tells a section of presets without its head, or the settings of NixOS' services.llama-cpp, which are its keys.
func isSection(text string) bool {
	return sectionModel.MatchString(text) && sectionFlag.MatchString(text)
}

// entry is a key of a file of sections.
type entry struct{ section, key, value string }

// entries of such a file: a backslash continues a line, # and ; begin comments (systemd.syntax(7)).
func entries(text string) (out []entry) {
	section := ""
	var open strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if before, ok := strings.CutSuffix(line, `\`); ok {
			open.WriteString(strings.TrimSuffix(before, `\`) + " ") // twice, where a script writes the file
			continue
		}
		line = open.String() + line
		open.Reset()
		if name, ok := strings.CutPrefix(line, "["); ok && strings.HasSuffix(name, "]") {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok {
			out = append(out, entry{section, strings.TrimSpace(key), nix(strings.TrimSpace(value))})
		}
	}
	return out
}

// nix is a value as it stands in NixOS' settings, without the semicolon and the quotes.
func nix(value string) string {
	if bare, ok := strings.CutSuffix(value, ";"); ok {
		return strings.Trim(bare, `"`)
	}
	return value
}

// unitFile is the command that a unit of systemd starts (systemd.service(5)): a drop-in may have variables alone, which
// are Ollama's where they say so. A unit of Quadlet runs a container (podman-systemd.unit(5)).
func unitFile(text string) ([]argv.Command, error) {
	var c container
	start := ""
	for _, e := range entries(text) {
		switch e.key {
		case "Environment":
			c.Env = append(c.Env, assignments(e.value)...)
		case "ExecStart":
			start = strings.TrimLeft(e.value, "-@:+!")
		case "Exec", "command":
			start = e.value
		case "environment": // of supervisord
			c.Env = append(c.Env, assignments(strings.ReplaceAll(e.value, ",", " "))...)
		case "Image":
			c.Image = e.value
		}
	}
	if _, err := argv.Parse(start); err != nil {
		return nil, err // a quote that nothing closes
	}
	words := argv.Words(strings.ReplaceAll(start, "%", "%%"))
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "%%", "%")
	}
	switch {
	case c.Image != "":
		c.args = words
	case start == "" && len(c.Env) > 0:
		c.entry = []string{"ollama", "serve"}
	case start == "":
		return nil, nil
	default:
		c.entry = words
	}
	return c.commands()
}

// assignments are the words NAME=value of one line, each of which may stand in quotes as a whole.
func assignments(text string) (out []argv.Variable) {
	for _, w := range argv.Words(text) {
		if name, value, ok := strings.Cut(w, "="); ok {
			out = append(out, argv.Variable{Name: name, Value: value})
		}
	}
	return out
}

// routed are the models of llama-server's router (llama.cpp, tools/server/README.md, model presets): a section for each, whose
// name is a repository where no key names a model, with those of [*] for all.
func routed(text string) (out []argv.Command, err error) {
	var all, words []string
	var env []argv.Variable
	section, named := "", false
	flush := func() error {
		if section == "" || section == "*" {
			return nil
		}
		c := container{entry: []string{"llama-server"}, args: append(append([]string(nil), all...), words...)}
		if c.Env = env; !named {
			c.args = append(c.args, modelFlag(section), section)
		}
		more, err := c.commands()
		out = append(out, more...)
		return err
	}
	for _, e := range append(sections(text), entry{section: "\n"}) {
		if e.section != section {
			if err := flush(); err != nil {
				return nil, err
			}
			if section == "*" {
				all = words
			}
			section, words, env, named = e.section, nil, nil, false
		}
		if strings.HasPrefix(e.key, "LLAMA_ARG_") {
			env = append(env, argv.Variable{Name: e.key, Value: e.value})
		} else if section != "" && section != "\n" {
			words = append(words, preset(e)...)
		}
		named = named || namesModel[e.key]
	}
	return out, nil
}

// modelFlag: a section is called as a repository, or as somebody's own file is.
func modelFlag(section string) string {
	if strings.Contains(section, "/") {
		return "-hf"
	}
	return "-m"
}

// sections are the entries of presets; those of a section without its head are of one model.
func sections(text string) []entry {
	list := entries(text)
	if presets.MatchString(text) {
		return list
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return strings.Contains(e.key, ".") || aroundSettings[e.key] })
	for i := range list {
		list[i].section = "model"
	}
	return list
}

// aroundSettings are the keys of NixOS' services.llama-cpp beside its settings.
var aroundSettings = map[string]bool{"enable": true, "package": true, "settings": true, "openFirewall": true}

// namesModel are keys that say where a model lies.
var namesModel = map[string]bool{"model": true, "m": true, "hf": true, "hf-repo": true, "hfr": true, "model-url": true, "LLAMA_ARG_MODEL": true, "LLAMA_ARG_HF_REPO": true}

// preset is a key as a flag: those of one letter or short for several have one dash. Switches say true or false.
func preset(e entry) []string {
	switch {
	case e.key == "load-on-startup" || e.key == "stop-timeout" || e.key == "version":
		return nil
	case (e.key == "flash-attn" || e.key == "fa") && (e.value == "1" || e.value == "0"): // which take a word
		return []string{dashed(e.key), map[string]string{"1": "on", "0": "off"}[e.value]}
	case e.value == "true":
		return []string{dashed(e.key)}
	case e.value == "false":
		return []string{dashed("no-" + e.key)}
	}
	return []string{dashed(e.key), e.value}
}

// short flags of llama.cpp are those of at most five letters that no long one is (common/arg.cpp).
var longWords = map[string]bool{"model": true, "fit": true, "host": true, "port": true, "jinja": true, "alias": true, "temp": true, "top-k": true, "top-p": true, "min-p": true, "mmap": true, "mlock": true, "color": true, "poll": true, "prio": true, "seed": true, "rpc": true, "lora": true, "numa": true, "slots": true, "props": true, "draft": true}

func dashed(key string) string {
	const most = 5
	if len(key) <= most && !longWords[key] && !strings.Contains(key, "_") {
		return "-" + key
	}
	return "--" + key
}
