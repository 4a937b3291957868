package argv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/format/shell"
)

// Command is a command of a pasted text, without its wrappers.
type Command struct {
	// Program is the base name of what runs, without .exe; of "python -m x.y" it is "x.y".
	Program string
	Args    []string
	// Folder is where the program lies, "" where its name alone stands: it often says the build.
	Folder string
	Env    []Variable
	// Image is the container image, with its tag, when docker or podman runs the program.
	Image string
	// Files are those that the text writes before: cat > NAME <<EOF.
	Files map[string]string
	// Version is the server's, where its log tells it.
	Version string
	// Devices is how many the container or CUDA_VISIBLE_DEVICES shows; 0 when the text does not say.
	Devices int64
}

// Variable is an assignment in front of a command, or handed to its container.
type Variable = shell.Variable

// Getenv gives a variable that the text sets; the last one counts.
func (c *Command) Getenv(name string) (string, bool) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return c.Env[i].Value, true
		}
	}
	return "", false
}

// Parse splits a text into its commands: separated by lines, ;, &&, || or |. Assignments in front of a
// command, export lines before it, sudo, nohup, env, time, nice, numactl, uv run, docker run, sh -c and
// python -m are understood; so are files that the text itself writes from here-documents.
//
// Fences of Markdown and prompts are left out (tidy.go); variables, arrays, conditions, loops and functions are followed.
func Parse(text string) ([]Command, error) {
	if err := small(text); err != nil {
		return nil, err
	}
	return parse(Tidied(text), nil, map[string]string{}, 0)
}

func small(text string) error {
	if len(text) > MaxText {
		return wrong("the command line", "", fmt.Sprintf("has %d bytes", len(text)), fmt.Sprintf("paste one command of at most %d bytes", MaxText))
	}
	return nil
}

func parse(text string, env []Variable, files map[string]string, depth int) ([]Command, error) {
	script, err := follow(text, env)
	if err != nil {
		return nil, err
	}
	var out []Command
	for _, started := range script.Commands {
		if writes(&started, files) {
			continue
		}
		c := Command{Env: started.Env, Files: files}
		rest := c.assign(started.Words)
		if len(rest) == 0 {
			continue
		}
		more, err := c.unwrap(rest, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// follow reads a text within its bounds.
func follow(text string, env []Variable) (*shell.Script, error) {
	if err := small(text); err != nil {
		return nil, err
	}
	s := shell.Pasted(text, env)
	switch {
	case s.Quote != 0:
		problem := fmt.Sprintf("opens a %c at byte %d that nothing closes", s.Quote, s.QuoteAt)
		return nil, wrong("the command line", "", problem, "close the quote, or paste the whole line")
	case s.Cut:
		return nil, wrong("the command line", "", "makes more than is followed: its variables or loops have no end", "paste one command")
	}
	return s, sized(s)
}

// sized refuses more or longer words than a command has.
func sized(s *shell.Script) error {
	words := 0
	for _, c := range s.Commands {
		words += len(c.Words)
		for _, w := range c.Words {
			if len(w) > maxWord {
				return wrong("the command line", "", fmt.Sprintf("has a word of more than %d bytes in line %d", maxWord, c.Line), "paste one command")
			}
		}
	}
	if words > maxWords {
		return wrong("the command line", "", fmt.Sprintf("has more than %d words", maxWords), "paste one command")
	}
	return nil
}

// writes keeps the file that cat or tee writes from a here-document.
func writes(c *shell.Command, files map[string]string) bool {
	if c.Document == "" {
		return false
	}
	name := c.To
	switch n := len(c.Words); {
	case c.Words[0] == "tee" && n > 1, c.Words[0] == "sudo" && n > 2 && c.Words[1] == "tee":
		name = c.Words[n-1]
	case c.Words[0] != "cat":
		return false
	}
	if name != "" {
		files[name] = c.Document
	}
	return true
}

// assign takes NAME=value words off the front.
func (c *Command) assign(seg []string) []string {
	for len(seg) > 0 {
		name, value, ok := assignment(seg[0])
		if !ok {
			return seg
		}
		c.Env = append(c.Env, Variable{Name: name, Value: value})
		seg = seg[1:]
	}
	return nil
}

// wrappers are programs that run another, with those of their flags that take a value.
var wrappers = map[string]string{
	"sudo": "-u --user -g --group -C -p -h", "nohup": "", "time": "-f -o", "env": "-u --unset -C", "exec": "", "command": "", "setsid": "", "eval": "",
	"nice": "-n --adjustment", "trtllm-llmapi-launch": "", "ionice": "-c -n", "stdbuf": "-i -o -e", "taskset": "-c --cpu-list", "numactl": "-N -m -C -i", "timeout": "-s -k",
	"uv run": "--python -p --with --extra --group --project", "uvx": "--python --from --with", "poetry run": "", "pipenv run": "", "pixi run": "", "conda run": "-n --name -p --prefix",
}

var containers = map[string]bool{"docker": true, "podman": true, "nerdctl": true}

// unwrap finds the program behind wrappers.
func (c *Command) unwrap(words []string, depth int) ([]Command, error) {
	if depth > maxDepth {
		return nil, wrong("the command line", words[0], fmt.Sprintf("is wrapped more than %d times", maxDepth), "paste the inner command")
	}
	name := BaseName(words[0])
	if containers[name] && len(words) > 1 && words[1] == "container" {
		words = append([]string{words[0]}, words[2:]...)
	}
	switch {
	case containers[name] && len(words) > 1 && words[1] == "run":
		return c.container(words[2:], depth)
	case containers[name] && len(words) > 2 && words[1] == "exec":
		return c.inner(afterName(skipDockerFlags(words[2:])), depth)
	case name == "docker" && len(words) > 1 && words[1] == "model":
		c.Program, c.Args = "docker model", words[2:]
		return []Command{*c}, nil
	case (name == "sh" || name == "bash" || name == "zsh") && len(words) > 2:
		if i := shellText(words); i > 0 {
			return parse(handed(words[i], words[min(len(words), i+2):]), c.Env, c.Files, depth+1)
		}
	case name == "tools.sh" && len(words) > 1 && tools[words[1]] != "":
		return c.unwrap(append([]string{tools[words[1]]}, words[2:]...), depth+1)
	case name == "tools.sh" && len(words) > 1 && isFlag(words[1]): // as the light image takes them
		return c.unwrap(append([]string{"llama-cli"}, words[1:]...), depth+1)
	case strings.HasPrefix(name, "python") || name == "py":
		return c.python(words), nil
	}
	for n := 2; n >= 1; n-- {
		if len(words) <= n {
			continue
		}
		if values, ok := wrappers[strings.Join(append([]string{name}, words[1:n]...), " ")]; ok {
			return c.inner(skipValued(words[n:], values, name == "taskset" || name == "timeout"), depth)
		}
	}
	c.Program, c.Args = name, words[1:]
	c.Folder = words[0][:max(0, strings.LastIndexAny(words[0], `/\\`))]
	c.visible()
	return []Command{*c}, nil
}

// tools are what the script of llama.cpp's full image starts (.devops/tools.sh).
var tools = map[string]string{"--server": "llama-server", "-s": "llama-server", "--run": "llama-cli", "-r": "llama-cli", "--bench": "llama-bench", "-b": "llama-bench"}

func (c *Command) inner(words []string, depth int) ([]Command, error) {
	words = c.assign(words)
	if len(words) == 0 {
		return nil, nil
	}
	return c.unwrap(words, depth+1)
}

// afterName drops the name of the container that docker exec runs in.
func afterName(words []string) []string { return words[min(1, len(words)):] }

// handed is the text of sh -c with the arguments that stand behind it and its name: "$@" is all of them.
func handed(text string, args []string) string {
	if len(args) == 0 || !strings.Contains(text, "$@") {
		return text
	}
	all := Line(args)
	return strings.ReplaceAll(strings.ReplaceAll(text, `"$@"`, all), "$@", all)
}

// shellText is the index of the text of sh -c; 0 when there is none.
func shellText(words []string) int {
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || strings.HasPrefix(w, "--") || !strings.HasSuffix(w, "c") {
			continue
		}
		for j := i + 2; j < len(words); j++ { // bash -c -i TEXT
			if !isFlag(words[j]) {
				return j
			}
		}
	}
	return 0
}

// python reads "python -u -m module args" and "python path/script.py args".
func (c *Command) python(words []string) []Command {
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		if rest[0] == "-m" && len(rest) > 1 {
			c.Program, c.Args = rest[1], rest[2:]
			c.visible()
			return []Command{*c}
		}
		rest = rest[1:]
	}
	if len(rest) == 0 {
		c.Program = BaseName(words[0])
		return []Command{*c}
	}
	c.Program, c.Args = BaseName(rest[0]), rest[1:]
	c.visible()
	return []Command{*c}
}

// skipValued passes flags, and the values of those that take one. With leading, one bare word more is the
// wrapper's own (the mask of taskset, the time of timeout).
func skipValued(words []string, values string, leading bool) []string {
	listed := false
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag := words[0]
		words = words[1:]
		if has(values, flag) && len(words) > 0 {
			words = words[1:]
			listed = listed || flag == "-c" || flag == "--cpu-list"
		}
		if flag == "--" {
			break
		}
	}
	if leading && !listed && len(words) > 0 {
		words = words[1:]
	}
	return words
}

func has(list, name string) bool {
	return slices.Contains(strings.Fields(list), name)
}

// BaseName returns the last element of a Unix or Windows path, without .exe.
func BaseName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return strings.TrimSuffix(strings.TrimSuffix(path, ".exe"), ".EXE")
}

// visible counts the devices of CUDA_VISIBLE_DEVICES and its kin, of those that a container has.
func (c *Command) visible() {
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"} {
		if v, ok := c.Getenv(name); ok {
			if n := countDevices(v); n > 0 && (c.Devices == 0 || n < c.Devices) {
				c.Devices = n
			}
		}
	}
}

// countDevices of "0,1,2" or a list of UUIDs; 0 for "all", "none" and what it does not know.
func countDevices(list string) (n int64) {
	for _, part := range strings.Split(strings.TrimRight(list, ", "), ",") {
		part = strings.TrimSpace(part)
		_, err := strconv.ParseUint(part, 10, 16)
		if err != nil && !strings.HasPrefix(part, "GPU-") && !strings.HasPrefix(part, "MIG-") {
			return 0
		}
		n++
	}
	return n
}

// Words splits a text like a shell; a text that cannot be parsed is one word.
func Words(text string) []string {
	if len(text) > MaxText {
		return nil
	}
	if words, ok := shell.Words(text); ok {
		return words
	}
	return []string{text}
}

// assignment reads NAME=value.
func assignment(s string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(s, "=")
	return name, value, ok && shell.IsName(name)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
