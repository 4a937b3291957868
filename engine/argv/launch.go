package argv

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/plan"
)

// Launch is the content of a command line, as a plan.
type Launch struct {
	// Engine is its canonical name, with @version when an image's tag tells it.
	Engine string
	// Model as the command line refers to it; "" when it names none (ollama serve).
	Model string
	// Served is the name that the server answers to, which may say the model where a variable stands in its place.
	Served string
	Plan   plan.Plan
	// Quant is the quantisation method that the command line names, in the engine's word: what the
	// weights are stored in follows from it and from the model.
	Quant string
	// Cast is the format that weights which are not quantised are loaded in; "" for the checkpoint's own.
	Cast string
	// Blocks are those of the KV pool, whose size in tokens the plan or the engine says; 0 for as many as fit.
	Blocks plan.Int
	// FullContext: no length is given, so the engine takes the model's own.
	FullContext bool
	Devices     int64
	// Unknown are arguments that change memory in a way that memwall does not hold, or that it does not
	// know; Beside are known ones without bearing on memory. Both stand as in the command line.
	Unknown, Beside []string
}

// Dtype reads the --dtype of vLLM and SGLang: the 16-bit formats take the same room; float doubles weights
// and cache.
func Dtype(l *Launch, v string) error {
	switch strings.ToLower(v) {
	case "auto", "half", "float16", "bfloat16":
		l.Beside = append(l.Beside, "--dtype "+v)
	case "float", "float32":
		l.Plan.Weights = "f32"
		if l.Plan.KV == "" {
			l.Plan.KV = "f32"
		}
	default:
		return &Error{Value: v, Problem: "is not a format", Fix: "auto, half, bfloat16 or float"}
	}
	return nil
}

// Backend reads --device: the machine that is asked about says what the device is, but a processor has other rules.
func Backend(l *Launch, v string) {
	if strings.EqualFold(v, "cpu") {
		l.Unknown = append(l.Unknown, "--device cpu")
	} else {
		l.Beside = append(l.Beside, "--device "+Quote(Blotted(v)))
	}
}

// torchNames are what PyTorch calls formats that states are kept in.
var torchNames = map[string]string{"f32": "float32", "bf16": "bfloat16", "f16": "float16"}

// TorchName returns the name of a format for --mamba-ssm-cache-dtype and similar flags.
func TorchName(format string) string {
	if n := torchNames[format]; n != "" {
		return n
	}
	return format
}

// Torch reads a format by PyTorch's name; "" for auto.
func Torch(v string) (string, error) {
	for format, name := range torchNames {
		if strings.EqualFold(v, name) {
			return format, nil
		}
	}
	if strings.EqualFold(v, "auto") {
		return "", nil
	}
	return "", &Error{Value: v, Problem: "is not a format of states", Fix: "auto, float32, bfloat16 or float16"}
}

// Int reads a whole number.
func Int[N ~int64](v string) (N, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, &Error{Value: v, Problem: "is not a whole number", Fix: "a number such as 8192"}
	}
	return N(n), nil
}

// Count reads a whole number that is not negative.
func Count[N ~int64](v string) (N, error) {
	n, err := Int[N](v)
	if err == nil && n < 0 {
		return 0, &Error{Value: v, Problem: "is negative", Fix: "a number from 0"}
	}
	return n, err
}

// human are the suffixes of vLLM's and SGLang's long numbers: lower case counts in thousands, upper case
// in 1,024 (vllm/engine/arg_utils.py, human_readable_int).
var human = map[byte]int64{'k': 1e3, 'm': 1e6, 'g': 1e9, 't': 1e12, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}

// Human reads 32768, 32k (32,000), 32K (32,768), 25.6k.
func Human[N ~int64](v string) (N, error) {
	text := strings.TrimSpace(v)
	times := int64(0)
	if text != "" {
		times = human[text[len(text)-1]]
	}
	if times == 0 {
		return Count[N](text)
	}
	x, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if err != nil || !(x >= 0 && x*float64(times) < 1<<53) {
		return 0, &Error{Value: v, Problem: "is not a length", Fix: "a number such as 32768, 32k (32,000) or 32K (32,768)"}
	}
	if times < 1<<10 || times%10 == 0 {
		return N(x*float64(times) + 0.5), nil
	}
	return N(x * float64(times)), nil
}

// GiB reads a number of GiB, whole or not, as bytes.
func GiB[N ~int64](v string) (N, error) {
	const most = 1 << 20
	x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(x >= 0 && x <= most) {
		return 0, &Error{Value: v, Problem: "is not a number of GiB", Fix: "a number such as 10"}
	}
	return N(x * (1 << 30)), nil
}

// Segment reads what a server gives of its memory to Mooncake's store: bytes, or GiB as in 4gb
// (sglang/srt/mem_cache/storage/mooncake_store, _parse_global_segment_size); nothing where nothing is said.
func Segment(argument, v string) (int64, error) {
	if strings.TrimSpace(v) == "" {
		return 0, nil
	}
	number, gb := strings.CutSuffix(strings.ToLower(strings.TrimSpace(v)), "gb")
	x, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	const most = 1 << 50
	if gb && x <= most>>30 {
		x <<= 30
	}
	if err != nil || x < 0 || x > most || gb && x < 1<<30 && x > 0 {
		return 0, wrong(argument, v, "is not a size of a segment", "bytes, or GiB as in 4gb")
	}
	return x, nil
}

// Share reads a number above 0 and at most 1.
func Share(v string) (*float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(x > 0 && x <= 1) {
		return nil, &Error{Value: v, Problem: "is not a share", Fix: "a number above 0 and at most 1, such as 0.9"}
	}
	return &x, nil
}

// Bool reads true or false in the spellings that people use.
func Bool(v string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "on", "yes", "enabled":
		return true, nil
	case "0", "false", "off", "no", "disabled":
		return false, nil
	}
	return false, &Error{Value: v, Problem: "is neither on nor off", Fix: "1 or 0"}
}

// Serves records the first served model name, which does not affect memory.
func Serves(l *Launch, v string) error {
	if l.Served == "" && !Open(v) {
		l.Served, _, _ = strings.Cut(v, " ")
	}
	l.Beside = append(l.Beside, "--served-model-name "+Quote(Blotted(v)))
	return nil
}

// Into returns a setter from a field accessor and a value parser.
func Into[T, V any](read func(string) (V, error), field func(*T) *V) func(*T, string) error {
	return func(t *T, text string) error {
		v, err := read(text)
		if err == nil {
			*field(t) = v
		}
		return err
	}
}

// Text is a value as it stands.
func Text(v string) (string, error) { return v, nil }

// On returns a setter for a switch that means value; --switch=false means the opposite.
func On[T any](value bool, field func(*T) **bool) func(*T, string) error {
	return func(t *T, text string) error {
		v := value
		if text != "" {
			on, err := Bool(text)
			if err != nil {
				return err
			}
			v = on == value
		}
		*field(t) = &v
		return nil
	}
}

// ModelRef checks that a model's name is not a variable left unset by the text.
func ModelRef(v string) (string, error) {
	switch {
	case v == "":
		return "", &Error{Value: v, Problem: "is empty", Fix: "the name or path of a model"}
	case Open(v):
		return "", &Error{Value: v, Problem: "holds a variable that the text does not set", Fix: "put the model's name in its place"}
	}
	return v, nil
}

// EngineAt appends a version to an engine's name.
func EngineAt(name, version string) string {
	if version == "" {
		return name
	}
	return name + "@" + version
}
