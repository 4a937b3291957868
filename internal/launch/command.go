package launch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/called"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/engine/plain"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/tensorrt"
	"github.com/memwall/memwall/engine/transformers"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/spell"
)

// commandReaders read the command lines of engines, by the program that starts them.
var commandReaders = []struct {
	programs []string
	read     func(*argv.Command) (*argv.Launch, error)
}{
	{vllm.Programs(), vllm.FromArgs},
	{sglang.Programs(), sglang.FromArgs},
	{llamacpp.Programs(), llamacpp.FromArgs},
	{tensorrt.Programs(), tensorrt.FromArgs},
	{plain.Programs(), plain.FromArgs},
	{called.Programs(), called.FromArgs},
	{evaluates(), fromHarness},
}

// FromCommand parses what users paste to run a model into a fit request: a command line ("vllm serve …", "docker run …
// llama-server …"), a compose file or Kubernetes manifest, a Modelfile, or Python code that calls transformers. The
// second result lists, verbatim, options that are unknown or that affect memory but have no request field. Such text
// rarely names the hardware; the caller must add it.
func FromCommand(text string) (*api.Request, []string, error) {
	text = argv.Settled(text)
	l, err := readLaunch(text)
	if err == nil && sentenced(l) {
		l, err = nil, noCommand(nil)
	}
	if err != nil || l.Model == "" && servedAs(l.Served) == "" {
		if other := rest(text); err != nil || other != nil && other.Model != "" {
			l = other
		}
	}
	if l == nil {
		return nil, nil, commandError(err)
	}
	if l.Devices == 0 {
		l.Devices = allotted(text)
	}
	if servedAs(l.Model) == "" && servedAs(l.Served) == "" {
		elsewhere(l, text)
	}
	r := requestOf(l)
	return r, l.Unknown, nil
}

// plainWord is one of a sentence.
var plainWord = regexp.MustCompile(`^[A-Za-z]+[.,;:]?$`)

// sentenced: what was read as a command is a sentence that names a program, as "the vllm serve set up had the same".
func sentenced(l *argv.Launch) bool {
	const most = 4
	n := 0
	for _, w := range l.Unknown {
		if plainWord.MatchString(w) {
			n++
		}
	}
	return n >= most && plainWord.MatchString(l.Model) && servedAs(l.Model) == ""
}

// rest handles text that is not a command, or contains one: settings in a log, fragments of files, and commands within
// a line.
func rest(text string) *argv.Launch {
	if len(text) > argv.MaxText {
		return nil
	}
	if l, log := within(text), logged(text); l != nil && l.Model != "" && (log == nil || len(l.Unknown) <= len(log.Unknown)) {
		return l
	}
	for _, t := range append([]string{text}, undone(text[:min(len(text), mostPart)])...) {
		if l, err := readLaunch(t); t != text && err == nil && l.Model+servedAs(l.Served) != "" {
			return l
		}
		for _, read := range []func(string) *argv.Launch{logged, fragment, within, scraps} {
			if l := read(t); l != nil {
				return l
			}
		}
	}
	return nil
}

func logged(text string) *argv.Launch {
	if l, err := loggedLaunch(text); err == nil {
		return l
	}
	return nil
}

func readLaunch(text string) (*argv.Launch, error) {
	switch {
	case llamacpp.IsModelfile(text) && !manifest.IsDockerfile(text):
		return llamacpp.FromModelfile(text)
	case transformers.IsCall(text) && !callsServer(text):
		return transformers.FromPython(text)
	}
	calls := callsServer(text)
	if calls && statement.MatchString(text) {
		return fromCall(text)
	}
	l, err := readCommands(text)
	if calls && (l == nil || err != nil) {
		return fromCall(text)
	}
	return l, err
}

// readCommands parses commands and files of commands.
func readCommands(text string) (*argv.Launch, error) {
	parse := argv.Parse
	if manifest.Is(text) {
		parse = manifest.Read
	}
	cmds, err := parse(text)
	if l, fault := documentLaunch(text); err != nil && (l != nil || fault != nil) {
		return l, fault
	}
	if err != nil {
		return nil, err
	}
	versioned(cmds, text)
	if l, err := firstLaunch(cmds); l != nil || err != nil {
		return l, err
	}
	if l, err := documentLaunch(text); l != nil || err != nil {
		return l, err
	}
	for i := range cmds {
		if l, err := firstLaunch(cmds[i].Inside(starts)); l != nil || err != nil {
			return l, err
		}
	}
	if l, err := firstLaunch(literals(text)); l != nil || err != nil {
		return l, err
	}
	if l := imageLaunch(cmds); l != nil {
		return l, nil
	}
	if l := scriptLaunch(text); l != nil {
		return l, nil
	}
	if all := comment.ReplaceAllString(text, ""); len(cmds) == 0 && all != text { // after root's prompt, or commented out
		if l, err := readCommands(all); err == nil {
			return l, nil
		}
	}
	return nil, noCommand(cmds)
}

// comment matches a comment or root's prompt.
var comment = regexp.MustCompile(`(?m)^[ \t]*#+[ \t]*`)

// documentLaunch parses files of commands that a script writes: cat > compose.yaml <<EOF.
func documentLaunch(text string) (*argv.Launch, error) {
	for _, d := range argv.Documents(text) {
		if !manifest.Is(d) {
			continue
		}
		cmds, err := manifest.Read(d)
		if err != nil {
			return nil, err
		}
		if l, err := firstLaunch(cmds); l != nil || err != nil {
			return l, err
		}
	}
	return nil, nil
}

// capture matches a command whose output a script captures: OUTPUT=$(python -m sglang.bench_one_batch …).
var capture = regexp.MustCompile(`(?m)^[ \t]*(\w+=)?"?\$\(`)

// scriptLaunch parses scripts that a script writes, and commands whose output it captures.
func scriptLaunch(text string) *argv.Launch {
	for _, t := range append(argv.Documents(text), capture.ReplaceAllString(text, "")) {
		if cmds, err := argv.Parse(t); err == nil {
			for i := range cmds {
				cmds = append(cmds, cmds[i].Inside(starts)...)
			}
			if l, err := firstLaunch(cmds); l != nil && err == nil {
				return l
			}
		}
	}
	return nil
}

// imageLaunch returns the server of an engine's image that starts its own program, with the model in a variable.
func imageLaunch(cmds []argv.Command) *argv.Launch {
	for _, c := range cmds {
		own, err := argv.Contained(argv.Command{Image: c.Image, Env: c.Env, Devices: c.Devices}, nil, nil)
		if l, fault := firstLaunch(own); err == nil && fault == nil && l != nil && l.Model == "" && servedAs(l.Served) != "" {
			l.Unknown = append(l.Unknown, argv.Line(append([]string{c.Program}, c.Args...)))
			return l
		}
	}
	return nil
}

// firstLaunch parses the first command of a server; nil if there is none.
func firstLaunch(cmds []argv.Command) (*argv.Launch, error) {
	for i := range cmds {
		read := reader(&cmds[i])
		if read == nil {
			continue
		}
		if cmds[i].Program == "ollama" {
			cmds[i] = llamacpp.Joined(cmds)
		}
		l, err := read(&cmds[i])
		if l != nil && l.Model == "" && l.Served == "" {
			byVariable(l, &cmds[i])
		}
		if l != nil && err == nil && cmds[i].Program != "ollama" { // whose lines are of one server
			others(l, cmds[i+1:])
		}
		return l, err
	}
	return nil, nil
}

// others lists the servers of other models that a text starts beside the first, which alone is answered.
func others(l *argv.Launch, cmds []argv.Command) {
	const most = 3
	seen := map[string]bool{l.Model: true, l.Plan.DraftModel: true, "": true}
	for i := range cmds {
		read := reader(&cmds[i])
		if read == nil || !starts(&cmds[i]) || len(seen) > most+2 {
			continue
		}
		c := cmds[i] // which a reader may change
		if other, err := read(&c); err == nil && other != nil && !seen[other.Model] {
			seen[other.Model] = true
			l.Unknown = append(l.Unknown, "the server of "+argv.Quote(argv.Blotted(other.Model))+", which the text starts too,")
		}
	}
}

// modelVariables are common names of variables that hold the model.
var modelVariables = []string{"MODEL_NAME", "MODEL_ID", "MODEL", "HF_MODEL_ID", "MODEL_PATH", "VLLM_MODEL", "MODEL_REPO"}

// byVariable takes the model from a variable of the text if the command names none, and says so.
func byVariable(l *argv.Launch, c *argv.Command) {
	for _, name := range modelVariables {
		if value, _ := c.Getenv(name); servedAs(value) != "" {
			l.Served, l.Unknown = value, append(l.Unknown, argv.ShownAs(name, value))
			return
		}
	}
}

// reader returns the parser for a command's program; nil if it starts no server.
func reader(c *argv.Command) func(*argv.Command) (*argv.Launch, error) {
	program := c.Program
	switch {
	case len(program) > 1 && program[0] == '-': // flags alone, which may tell their server
		all := append([]string{program}, c.Args...)
		if own := argv.ServerOf(all); own != "" {
			program, c.Program, c.Args = own, own, all
		}
	case strings.HasPrefix(program, "$"): // in a variable, as "$LLAMA_BIN"
		if own := argv.ServerOf(c.Args); own != "" && len(c.Inside(starts)) == 0 {
			program, c.Program = own, own
		}
	}
	if len(c.Args) > 1 && c.Args[0] == "runner" && strings.HasPrefix(program, "ollama") { // as Ollama logs it
		program, c.Program, c.Args = "llama-server", "llama-server", c.Args[1:]
	}
	if inner := unified(c); inner != "" {
		program, c.Program = inner, inner
	}
	if strings.HasSuffix(strings.ToLower(program), ".llamafile") { // which holds its model
		program = "llamafile"
	}
	if strings.HasPrefix(program, "llama-") && argv.ServerOf(c.Args) == "llama-server" && !slices.Contains(llamacpp.Programs(), program) {
		program, c.Program = "llama-server", "llama-server" // of a fork, or by another name
	}
	ways := []string{program, builtFor.ReplaceAllString(program, ""), ownBuild.FindString(program), vendored.FindString(program)}
	for _, name := range ways {
		for _, r := range commandReaders {
			if slices.Contains(r.programs, name) {
				if name != program {
					c.Program = name
				}
				return r.read
			}
		}
	}
	return nil
}

// verbs of llama.cpp's one program, by the program that each stands for (app/llama.cpp).
var verbs = map[string]string{"serve": "llama-server", "server": "llama-server", "cli": "llama-cli", "run": "llama-cli",
	"bench":      "llama-bench",
	"completion": "llama-completion", "batched-bench": "llama-batched-bench", "perplexity": "llama-perplexity"}

// unified is the program behind a verb: llama serve, or Lemonade's, which starts a llama-server with arguments of its own; "" for
// others. It drops the verb.
func unified(c *argv.Command) string {
	if len(c.Args) < 2 {
		return ""
	}
	verb := verbs[c.Args[0]]
	switch {
	case c.Program == "llama" && verb != "":
		c.Args = c.Args[1:]
		return verb
	case strings.HasPrefix(c.Program, "lemonade") && (c.Args[0] == "load" || c.Args[0] == "run" || c.Args[0] == "serve"):
		c.Args = lemonade(c.Args[1:])
		return "llama-server"
	}
	return ""
}

// lemonade are its arguments as llama-server's: the model stands alone, and --llamacpp-args are passed on as they are.
func lemonade(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		name, value, attached := strings.Cut(args[i], "=")
		if !attached && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case !strings.HasPrefix(name, "-"):
			out = append(out, "-m", name)
			continue
		case name == "--llamacpp-args":
			out = append(out, argv.Words(value)...)
		case name == "--ctx-size", name == "--llamacpp" && value == "vulkan":
			out = append(out, map[string][]string{"--ctx-size": {name, value}, "--llamacpp": {"--device", "Vulkan0"}}[name]...)
		}
		if !attached {
			i++
		}
	}
	return out
}

// builtFor is what the file of a program says of its build: koboldcpp-linux-x64-cuda1210, llama-server-vulkan.
var builtFor = regexp.MustCompile(`(?i)([-_](linux|windows|win|macos|mac|ubuntu|x64|x86(_64)?|amd64|arm64|cu(da)?[\d.]*|rocm[\d.]*|hip|vulkan|sycl|metal|cpu|nocuda|oldcpu|oldpc|avx\d*|noavx2|v?\d+(\.\d+)*|b\d+))+$`)

// ownBuild is the name that somebody's own build of a server begins with: llama-server-new, llama-server.b9000.
var ownBuild = regexp.MustCompile(`^(ik-)?(llama-server|llama-cli|llama-bench|koboldcpp)\b`)

// vendored is the server that a vendor's package brings along: ipex_llm.vllm.entrypoints.openai.api_server.
var vendored = regexp.MustCompile(`vllm\.entrypoints\.(?:openai\.)?api_server$`)

// starts distinguishes a server among the words of another program from something that is built, copied or killed.
func starts(c *argv.Command) bool {
	switch {
	case reader(c) == nil || len(c.Args) == 0 || c.Program == "main" || c.Program == "server":
		return false
	case c.Program == "vllm" || c.Program == "sglang":
		return c.Args[0] == "serve"
	case c.Program == "ollama":
		return c.Args[0] == "run" || c.Args[0] == "serve"
	}
	return len(c.Args) > 1 || strings.HasPrefix(c.Args[0], "-")
}

// requestOf turns a launch into a request. The engine uses a model's whole length if none is given; the catalog knows
// it for its own models.
func requestOf(l *argv.Launch) *api.Request {
	r := &api.Request{Ask: "fit", Model: l.Model, Plan: l.Plan, Devices: l.Devices}
	if r.Model == "" {
		r.Model = servedAs(l.Served)
	}
	r.Plan.Engine = l.Engine
	oneDevice(&r.Plan)
	found, err := question.Catalog{}.Model(r.Model)
	if err == nil && found.Spec != nil && l.FullContext && found.Spec.Context > 0 {
		if r.KVUnified != nil && *r.KVUnified {
			r.ContextTotal = plan.Int(found.Spec.Context) // of all slots together
		} else {
			r.Context = plan.Int(found.Spec.Context)
		}
	}
	if err == nil && found.Spec != nil && r.EP > r.TP && r.DP > 1 && found.Spec.Model(found.ID).Traits.Experts == 0 {
		dense(l, r)
	}
	if err == nil && found.Spec != nil && r.EP > 1 && r.DP <= 1 && found.Spec.Model(found.ID).Traits.Experts == 0 {
		l.Unknown = append(l.Unknown, "--enable-expert-parallel, of a model without experts")
		r.EP = 0
	}
	quantised(r, l)
	if l.Blocks > 0 {
		blocks(r, l, found)
	}
	if err == nil {
		withFound(r, l, found)
	}
	if r.Weights == "" && (found == nil || found.Recipe == "") {
		r.Weights = l.Cast
	}
	return r
}

// dense drops attention groups for a model without experts. TensorRT-LLM's ranks then replicate its other layers
// (_torch/models/modeling_llama.py, overridden_tp_size); SGLang's shard them over all, which is not described.
func dense(l *argv.Launch, r *api.Request) {
	r.EP = 0
	if strings.HasPrefix(l.Engine, "tensorrt-llm") {
		return
	}
	l.Unknown = append(l.Unknown, "--enable-dp-attention")
	r.TP, r.DP = r.TP*r.DP, 1
}

// withFound settles what depends on the model. With draft-mtp an accompanying file holds its prediction layers, or a
// drafter without a cache, as with Gemma 4. Diffusion models are sized as diffusers runs them, whatever the server.
func withFound(r *api.Request, l *argv.Launch, found *api.Resolved) {
	switch {
	case r.DraftModel == "" || r.MTP == nil || !*r.MTP:
	case found.Spec != nil && len(found.Spec.MTP) > 0:
		r.DraftModel = ""
	default:
		r.MTP = nil
	}
	name, _, _ := strings.Cut(r.Engine, "@")
	if own := question.FormatEngine(found.Recipe); own == "ik_llama.cpp" && name == "llama-server" { // whose program has that name, too
		if r.KVUnified != nil { // of llama.cpp's four slots
			r.Sequences, r.KVUnified = 0, nil
		}
		r.Engine, r.Fit = own, ""
	}
	if question.Denoises(found) && (name == "vllm" || name == "sglang") {
		r.Engine = question.TransformersEngine
		l.Unknown = append(l.Unknown, map[string]string{"vllm": "--omni", "sglang": "sglang serve, of a diffusion model"}[name])
	}
}

// blocks converts a number of blocks to tokens: of the stated size, or of vLLM's own if the model does not change it.
func blocks(r *api.Request, l *argv.Launch, found *api.Resolved) {
	const usual = 16
	size := r.BlockSize
	if size == 0 && found != nil && found.Spec != nil && plainCache(found.Spec.Model(found.ID)) {
		size = usual
	}
	if r.KVPoolTokens = l.Blocks * size; size == 0 {
		l.Unknown = append(l.Unknown, fmt.Sprintf("--num-gpu-blocks-override %d, of blocks whose size the engine chooses,", l.Blocks))
	}
}

// plainCache reports whether every layer with a cache keeps keys and values per head.
func plainCache(m *model.Model) bool {
	return !m.Caches(func(c model.Cache) bool { return c.Class != model.FullKV })
}

// quantised determines the format from the method given to a server and the name of a repository, or of a folder if no
// file says it. A method that leaves the format open is listed as unread.
func quantised(r *api.Request, l *argv.Launch) {
	ref, hub := r.Model, question.IsHubName(r.Model)
	if ref == "" && r.Weights == "" && l.Quant != "" {
		ref, hub = l.Quant, true // which may say it alone
	}
	if r.Weights != "" || ref == "" || !hub && (l.Quant == "" || l.Quant == "gguf" || strings.HasSuffix(ref, ".gguf")) {
		return
	}
	if !hub {
		ref = argv.BaseName(strings.TrimRight(ref, `/\`))
	}
	recipe, known := question.StoredAs(l.Quant, ref)
	if r.Weights = recipe; !known {
		l.Unknown = append(l.Unknown, "--quantization "+argv.Quote(argv.Blotted(l.Quant)))
	}
}

// servedAs returns the model that a server's own name for it implies, if the text leaves the model open: a repository,
// or a catalog name. It is listed as unread.
func servedAs(name string) string {
	if question.IsHubName(name) && strings.Contains(name, "/") {
		return name
	}
	if r, err := (question.Catalog{}).Model(name); err == nil && !r.Assumed {
		return name
	}
	return ""
}

// oneDevice limits a server to one device unless it is configured to use several. llama.cpp and similar engines use all
// by default, as does transformers with device_map="auto".
func oneDevice(p *plan.Plan) {
	name, _, _ := strings.Cut(p.Engine, "@")
	if known := called.Find(name); known != nil {
		name = known.Engine
	}
	if strings.Contains(name, "llama") || plain.TakesAll(name) || name == question.TransformersEngine {
		return
	}
	for _, n := range []*int64{&p.TP, &p.PP, &p.DP} {
		*n = max(1, *n)
	}
}

func commandError(err error) error {
	var e *argv.Error
	if errors.As(err, &e) {
		return &api.Error{Code: api.BadField, Field: e.Argument, Value: e.Value, Message: e.Error(), Hint: e.Fix}
	}
	return err
}

func noCommand(cmds []argv.Command) error {
	e := &api.Error{Code: api.BadField, Field: "from", Message: "the text holds no command",
		Hint: "vllm serve …, python -m sglang.launch_server …, llama-server …, trtllm-serve …, one of them behind docker run or in a " +
			"compose file, a Modelfile, or from_pretrained(…) of transformers"}
	if len(cmds) == 0 {
		return e
	}
	e.Value = argv.Blotted(cmds[0].Program)
	e.Message = fmt.Sprintf("%q is not a program whose command line memwall reads", api.Shorten(e.Value))
	var names []string
	for _, r := range commandReaders {
		names = append(names, r.programs...)
	}
	if near := spell.Nearest(e.Value, names); len(near) > 0 && len(e.Value) > 2 { // ls is near to anything short
		e.Hint = "did you mean: " + strings.Join(near, ", ")
	}
	return e
}
