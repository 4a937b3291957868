package plain

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// start is how an engine is started: both directions follow from its options.
type start struct {
	// programs whose arguments these are, and the words that stand between them and their options or model.
	programs, verbs []string
	// others are verbs that start no engine.
	others []string
	// before stands at the start of a command; the model follows the option of it, or stands alone where that is "".
	before, model string
	options       []option
}

// option is a flag, or a group of them with one meaning.
type option struct {
	argv.Flag[launch]
	// by is the one program that has the option, where the engine has several.
	by string
	// say is the value that a plan asks for, "" for the engine's default; nil for options that a plan says nothing of.
	say func(*engine.Job, *rules) string
}

// launch is a command line on its way to a plan.
type launch struct {
	argv.Launch
	rules *rules
	files string // of KTransformers: the folder of GGUF files, whose name says a format
	alone bool   // the model stands behind a verb, without its option: vllm-mlx serve MODEL
}

// Programs of all engines.
func Programs() (out []string) {
	for i := range all {
		out = append(out, all[i].start.programs...)
	}
	return out
}

// FromArgs reads the arguments of the engines' servers; nil where a program of a common name (main.py) is none of theirs.
func FromArgs(c *argv.Command) (*argv.Launch, error) {
	r := started(c)
	if r == nil {
		return nil, nil
	}
	l := &launch{Launch: argv.Launch{Engine: argv.EngineAt(r.name, c.Tag()), Devices: c.Devices}, rules: r}
	cmd := *c
	for len(cmd.Args) > 0 && slices.Contains(r.start.verbs, cmd.Args[0]) {
		cmd.Args, l.alone = cmd.Args[1:], strings.HasSuffix(c.Program, "-mlx")
	}
	if len(cmd.Args) > 0 && slices.Contains(r.start.others, cmd.Args[0]) {
		return nil, nil
	}
	flags := make([]argv.Flag[launch], 0, len(r.start.options)+1)
	for i := range r.start.options {
		flags = append(flags, r.start.options[i].Flag)
	}
	flags = append(flags, argv.Flag[launch]{Names: "--host --port --api-key --log-level --trust-remote-code --revision"})
	beside, unknown, err := argv.Read(&cmd, argv.Syntax{Dashes: true, Positional: l.positional}, flags, l)
	if err != nil {
		return nil, err
	}
	l.Beside, l.Unknown = append(l.Beside, beside...), append(l.Unknown, unknown...)
	l.Plan.EngineArgs = append(append([]string(nil), l.Beside...), l.Unknown...)
	if r, err := catalog.Read(l.files); err == nil && r.Format != "" && l.files != "" {
		l.Model = l.files
	}
	l.byFormat()
	l.FullContext = l.Plan.Context == 0 && r.step == 0 // a cache that grows is of what comes
	return &l.Launch, nil
}

// byFormat: TabbyAPI takes the ExLlama that reads the model, where nobody says which.
func (l *launch) byFormat() {
	r, err := catalog.Read(l.Model)
	if l.Engine != "exllamav2" || err != nil {
		return
	}
	if strings.HasPrefix(r.Format, "exl3") || r.Format == "" {
		l.Engine = "exllamav3"
	}
}

// TakesAll reports whether an engine that is told nothing of devices takes all: it spreads layers over them, or is TGI
// (launcher/src/main.rs, find_num_shards).
func TakesAll(name string) bool {
	return slices.ContainsFunc(all, func(r rules) bool { return r.name == name && (r.layers || name == "tgi") })
}

// started is the engine that a command starts; of programs with one name, the one whose model's option is there.
func started(c *argv.Command) *rules {
	for i := range all {
		s := &all[i].start
		if !slices.Contains(s.programs, c.Program) {
			continue
		}
		if c.Program != "main.py" || slices.ContainsFunc(c.Args, func(a string) bool {
			flag, _, _ := strings.Cut(strings.ReplaceAll(a, "_", "-"), "=")
			return flag == strings.ReplaceAll(s.model, "_", "-")
		}) {
			return &all[i]
		}
	}
	return nil
}

func (l *launch) positional(word string) bool {
	if l.Model != "" || l.rules.start.model != "" && !l.alone {
		return false
	}
	l.Model = strings.TrimPrefix(strings.TrimPrefix(word, "HF://"), "hf://")
	return true
}

// Command starts the engine with what differs from its defaults. A format that the model's repository does not have is said by
// the name of a folder.
func (e Engine) Command(j *engine.Job) string {
	s := &e.start
	said := make([]string, len(s.options))
	program := s.before
	for i := range s.options {
		if o := &s.options[i]; o.say != nil {
			said[i] = o.say(j, e.rules)
		}
		if by := s.options[i].by; said[i] != "" && by != "" && by != s.before {
			program = by
		}
	}
	words := []string{program}
	if s.model != "" {
		words = append(words, s.model)
	}
	words = append(words, argv.Quote(e.folder(j)))
	var joint []string
	for i, v := range said {
		name, _, _ := strings.Cut(s.options[i].Names, " ")
		switch by := s.options[i].by; {
		case v == "" || by != "" && by != program:
		case !strings.HasPrefix(name, "-"):
			joint = append(joint, name+"="+v)
		default:
			words = append(words, name, argv.Quote(v))
		}
	}
	if len(joint) > 0 {
		words = append(words, "--overrides", argv.Quote(strings.Join(joint, ";")))
	}
	return strings.Join(append(words, j.Plan.EngineArgs...), " ")
}

// only is an option that one program of several has.
func only(by string, o option) option {
	o.by = by
	return o
}

// folder is the model as the command names it.
func (e Engine) folder(j *engine.Job) string {
	name := j.CheckpointName()
	if j.Keeps() {
		return name
	}
	if r, err := catalog.Read(name); err == nil && r.Format != "" {
		name = j.Model.ID // whose name says no other format
	}
	if j.Plan.Weights == "fp8" {
		return path.Base(name) + "-fp8-dynamic" // makers mean blocks by fp8 alone
	}
	return path.Base(name) + "-" + j.Plan.Weights
}

// countOption is an option of a number of the plan; what equals the default is not said.
func countOption(names, env string, field func(*plan.Plan) *plan.Int, usual func(*rules) int64) option {
	return option{
		Flag: argv.Flag[launch]{Names: names, Env: env, Set: argv.Into(argv.Count[plan.Int],
			func(l *launch) *plan.Int { return field(&l.Plan) })},
		say: func(j *engine.Job, r *rules) string {
			if n := int64(*field(j.Plan)); n != usual(r) && n > 0 {
				return strconv.FormatInt(n, 10)
			}
			return ""
		},
	}
}

func contextBy(names, env string) option {
	return countOption(names, env, func(p *plan.Plan) *plan.Int { return &p.Context }, func(*rules) int64 { return 0 })
}

func chunkBy(names, env string) option {
	return countOption(names, env, func(p *plan.Plan) *plan.Int { return &p.MaxBatchedTokens }, func(r *rules) int64 { return r.chunk })
}

func draftBy(names string) option {
	return countOption(names, "", func(p *plan.Plan) *plan.Int { return &p.DraftTokens }, func(*rules) int64 { return 0 })
}

// ranksBy is an option of a number of devices; one is not said.
func ranksBy(names, env string, field func(*plan.Plan) *int64) option {
	return option{
		Flag: argv.Flag[launch]{Names: names, Env: env, Set: argv.Into(argv.Count[int64],
			func(l *launch) *int64 { return field(&l.Plan) })},
		say: func(j *engine.Job, _ *rules) string {
			if n := *field(j.Plan); n > 1 {
				return strconv.FormatInt(n, 10)
			}
			return ""
		},
	}
}

// always says a number where the engine, told nothing, takes all devices.
func always(o option, field func(*plan.Plan) *int64) option {
	o.say = func(j *engine.Job, _ *rules) string {
		if j.Devices() < 2 {
			return ""
		}
		return strconv.FormatInt(max(1, *field(j.Plan)), 10)
	}
	return o
}

func shards(p *plan.Plan) *int64 { return &p.TP }

func stages(p *plan.Plan) *int64 { return &p.PP }

// shareBy is an option of the pool's share of what is free.
func shareBy(names string) option {
	return option{
		Flag: argv.Flag[launch]{Names: names, Set: argv.Into(argv.Share,
			func(l *launch) **float64 { return &l.Plan.FreeGPUMemoryFraction })},
		say: func(j *engine.Job, r *rules) string {
			if f := j.Plan.FreeGPUMemoryFraction; f != nil && *f != r.pool.share {
				return strconv.FormatFloat(*f, 'f', -1, 64)
			}
			return ""
		},
	}
}

// cacheBy is an option of the cache's format: words are the option's, by the first name of a format.
func cacheBy(names, env string, words map[string]string) option {
	return option{
		Flag: argv.Flag[launch]{Names: names, Env: env, Set: func(l *launch, v string) error {
			k, vv, pair := strings.Cut(v, ",") // ExLlamaV3's bits of keys and values
			if !pair {
				vv = k
			}
			var err error
			if l.Plan.KV, err = cacheNamed(words, k); err == nil {
				l.Plan.KVV, err = cacheNamed(words, vv)
			}
			return err
		}},
		say: func(j *engine.Job, r *rules) string {
			k, v := r.cache(j.Plan.KV), r.cache(j.Plan.KVV)
			if k == nil || v == nil || words[k.names[0]] == "" && k == v {
				return ""
			}
			if own := words[j.Plan.KV]; own != "" && k == v {
				return own
			}
			if k != v && bitsOf(k) != "" && bitsOf(v) != "" {
				return bitsOf(k) + "," + bitsOf(v)
			}
			return words[k.names[0]]
		},
	}
}

func bitsOf(f *kvFormat) string {
	bits, ok := strings.CutPrefix(f.names[0], "q")
	if !ok {
		return ""
	}
	return bits
}

func cacheNamed(words map[string]string, v string) (string, error) {
	for name, word := range words {
		if strings.EqualFold(word, v) || strings.EqualFold("q"+v, name) {
			return name, nil
		}
	}
	switch strings.ToLower(v) {
	case "auto", "fp16", "none", "0", "16":
		return "", nil
	}
	return "", &argv.Error{Value: v, Problem: "is not a format of this engine's cache", Fix: "leave it out for 16 bits"}
}

func modelBy(names, env string) option {
	return option{Flag: argv.Flag[launch]{Names: names, Env: env, Set: argv.Into(argv.ModelRef,
		func(l *launch) *string { return &l.Model })}}
}

func draftModelBy(names string) option {
	return option{
		Flag: argv.Flag[launch]{Names: names, Set: argv.Into(argv.ModelRef, func(l *launch) *string { return &l.Plan.DraftModel })},
		say: func(j *engine.Job, _ *rules) string {
			if j.Draft == nil {
				return ""
			}
			return j.Draft.CheckpointName()
		},
	}
}

// methodBy is an option that names how weights are stored; onLoad are words for what the engine itself makes of plain ones.
func methodBy(names, env string, onLoad map[string]string) option {
	return option{Flag: argv.Flag[launch]{Names: names, Env: env, Set: func(l *launch, v string) error {
		v = strings.ToLower(v)
		if recipe := onLoad[v]; recipe != "" {
			l.Plan.Weights = recipe
		} else if v != "none" && v != "hf" && v != "llama" {
			l.Quant = v
		}
		return nil
	}}}
}

func unread(kind argv.Kind, names string) option {
	return option{Flag: argv.Flag[launch]{Names: names, Kind: kind, Unread: true}}
}

func passedOn(kind argv.Kind, names string) option {
	return option{Flag: argv.Flag[launch]{Names: names, Kind: kind}}
}
