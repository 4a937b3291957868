package arch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/model/family"
)

const ends = "vocab: 100\nhidden: 64\nlayers:\n"

// TestFaults: what is wrong is named by line, key and value, with a fix.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, says, fix string }{
		{"nothing", "", "0 documents, not one", "one network"},
		{"two documents", "vocab: 1\n---\nvocab: 2\n", "2 documents", "one network"},
		{"a list", "- 1\n", "line 1: is not a block of keys", "key: value"},
		{"a word", "llama\n", "line 1: is not a block of keys", "key: value"},
		{"broken", "vocab: 1\nhidden: [64\n", "line 2: is not YAML: ", "two spaces"},
		{"a key twice", "vocab: 1\nhidden: 64\nvocab: 2\n", `line 3: is not YAML: mapping key "vocab" already defined`, "two spaces"},
		{"an anchor", "vocab: &a 1\nhidden: *a\n", "line 1: holds an anchor", "write it out"},
		{"an alias", "vocab: 1\nhidden: *a\n", "line 2: holds an alias", "write it out"},
		{"a merge", "vocab: 1\n<<: {hidden: 2}\n", "line 2: holds a merge key", "write it out"},
		{"a tag", "vocab: !!int 1\n", "line 1: holds a tag", "write it out"},
		{"no width", "vocab: 100\nlayers:\n - ffn: {inner: 4}\n", "hidden is missing", "add hidden:"},
		{"a misspelt width", "vocab: 100\nhiden: 64\nlayers:\n - ffn: {inner: 4}\n", "line 2: hiden is not a key of a description here",
			"did you mean hidden?"},
		{"a misspelt key", ends + " - ffn: {inner: 4, gatd: true}\n", "line 4: layers[0].ffn.gatd is not a key", "did you mean gated?"},
		{"an unknown key", "zzzzzzzz: 1\n" + ends + " - ffn: {inner: 4}\n", "line 1: zzzzzzzz is not a key", "the keys here are name, kind"},
		{"a key that is not text", ends + " - ffn: {inner: 4, \"\\e[2J\": 1}\n", `layers[0].ffn.\x1b[2J is not a key`, "the keys here"},
		{"a word for a number", "vocab: many\nhidden: 64\nlayers: []\n", `line 1: vocab = "many" is not a whole number`, "32k"},
		{"a fraction", "vocab: 1.5\nhidden: 64\nlayers: []\n", `line 1: vocab = "1.5" is not a whole number`, "32k"},
		{"infinity", "vocab: .inf\nhidden: 64\nlayers: []\n", `line 1: vocab = ".inf" is not a whole number`, "32k"},
		{"below nothing", "vocab: -5\nhidden: 64\nlayers: []\n", "line 1: vocab = -5 is out of range", "0 to"},
		{"beyond 64 bits", "vocab: 99999999999999999999\nhidden: 64\nlayers: []\n", "line 1: vocab = ", ""},
		{"a billion rows of words", "vocab: 2e9\nhidden: 64\nlayers: []\n", "vocab = 2,000,000,000 is out of range", "1,073,741,824"},
		{"nothing behind a key", "vocab:\nhidden: 64\n", "line 1: vocab has no value", "leave the key out"},
		{"a number for a truth", "tied: 1\n" + ends + " - ffn: {inner: 4}\n", `line 1: tied = "1" is neither true nor false`, "true or false"},
		{"a format that is none", "dtype: q4_k\n" + ends + " - ffn: {inner: 4}\n", `line 1: dtype = "q4_k" is not a format of 16 or 32 bits`, "bf16"},
		{"a family that is none", "like: lama\n" + ends + " - ffn: {inner: 4}\n", `line 1: like = "lama" is not an architecture`, "llama"},
		{"a kind that is none", "kind: decodr\n" + ends + " - ffn: {inner: 4}\n", `line 1: kind = "decodr" is none of decoder, encoder`, "did you mean decoder?"},
		{"layers that are no list", "vocab: 1\nhidden: 64\nlayers: {a: 1}\n", "line 3: layers = a block of keys is not a list",
			"lines that begin with -"},
		{"no layers", "vocab: 1\nhidden: 64\nlayers: []\n", "line 3: layers = a list of 0 is not a list", "lines that begin with -"},
		{"nothing to size", "name: x\n", "layers is missing: there is nothing to size", "towers"},
		{"an empty layer", ends + " - count: 3\n", "line 4: layers[0].attention is missing, and so are", "at least one"},
		{"a billion layers", ends + " - count: 1_000_000_000\n   ffn: {inner: 4}\n",
			"line 4: layers[0].count = 1,000,000,000 makes more than 4,096 layers", "4,096 in all"},
		{"many times many", ends + " - repeat: 100\n   layers:\n    - count: 41\n      ffn: {inner: 4}\n",
			"line 4: layers[0].repeat = 100 makes more than 4,096 layers", "4,096 in all"},
		{"layers beside many", ends + " - count: 4096\n   ffn: {inner: 4}\n - ffn: {inner: 8}\n", "layers[1].count = 1 makes more",
			"4,096 in all"},
		{"a pattern of patterns", ends + " - repeat: 2\n   layers:\n    - repeat: 2\n      layers: []\n",
			"layers[0].layers[0].attention is missing", "at least one"},
		{"heads that do not divide", ends + " - attention: {heads: 4, kv_heads: 3}\n",
			"line 4: layers[0].attention.kv_heads = 3 does not divide the 4 heads", "divisor"},
		{"heads of no width", ends + " - attention: {heads: 5}\n", "line 4: layers[0].attention.heads = 5 does not divide the width 64",
			"head_dim"},
		{"heads without end", ends + " - attention: {heads: 0}\n", "heads = 0 is out of range", "1 or more"},
		{"more turns than numbers", ends + " - attention: {heads: 4, rope_dim: 32}\n", "rope_dim = 32 is more than the 16 numbers",
			"head_dim"},
		{"a latent without turns", ends + " - attention: {heads: 4, latent: 8}\n", "attention.rope_dim is missing", "add rope_dim:"},
		{"a window of latents", ends + " - attention: {heads: 4, latent: 8, rope_dim: 2, nope_dim: 2, window: 4}\n",
			"attention.window is not a key", "the keys here"},
		{"a state of no style", ends + " - state: {inner: 8}\n", "line 4: layers[0].state.style is missing", "mamba1"},
		{"state heads that do not divide", ends + " - state: {style: mamba2, inner: 8, heads: 3, state: 4}\n",
			"state.heads = 3 does not divide the inner width 8", "divisor"},
		{"groups that do not divide", ends + " - state: {style: mamba2, inner: 8, heads: 4, state: 4, groups: 3}\n",
			"state.groups = 3 does not divide the 4 heads", "divisor"},
		{"a gate that is not there", ends + " - ffn: {inner: 4, gated: false, fused: true}\n", "ffn.fused = true joins gate and up",
			"gated: true"},
		{"more experts used than there are", ends + " - experts: {count: 4, used: 5, inner: 8}\n",
			"experts.used = 5 is more than the 4 experts", "as many"},
		{"a gate of no shared expert", ends + " - experts: {count: 4, used: 2, inner: 8, shared_gate: true}\n",
			"shared_gate = true weighs a shared expert", "shared:"},
		{"two branches in one", ends + " - {norms: single, attention: {heads: 4}, ffn: {inner: 4}}\n",
			"norms = single is of layers with one branch", "two layers"},
		{"one branch for two", ends + " - {norms: parallel, ffn: {inner: 4}}\n", "norms = parallel is of layers with two branches",
			"single"},
		{"a tower of nothing", "towers:\n - {width: 8}\n", "line 2: towers[0].layers is missing", "at least one"},
		{"towers of one name", "towers:\n - {width: 8, before: [{vector: 8}]}\n - {width: 8, before: [{vector: 8}]}\n", `line 3: towers[1].name = "vision" is the name of another tower`, "audio"},
		{"a tower of no known name", "towers:\n - {name: decoder, width: 8, before: [{vector: 8}]}\n", `towers[0].name = "decoder" is none of vision, audio, tables`, "one of"},
		{"a map of one size", "towers:\n - {width: 8, before: [{map: 8}]}\n", `towers[0].before[0].map = "8" is not two sizes`, "[in, out]"},
		{"a table of three", "towers:\n - {width: 8, before: [{table: [8, 8, 8]}]}\n",
			"towers[0].before[0].table = a list of 3 is not two sizes", "[rows, width]"},
		{"a table of none", "towers:\n - {width: 8, before: [{table: [0, 8]}]}\n", "towers[0].before[0].table[0] = 0 is out of range",
			"1 or more"},
		{"a weight of no kind", "towers:\n - {width: 8, before: [{mapp: [1, 2]}]}\n", "towers[0].before[0].mapp is not a key",
			"did you mean map?"},
		{"two kinds of weight", "towers:\n - {width: 8, before: [{map: [1, 2], table: [1, 2]}]}\n", "towers[0].before[0].table is not a key",
			"bias"},
	} {
		_, err := Parse([]byte(c.text))
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Fix, c.fix) {
			t.Errorf("%s: %v\n  fix %q\n  want %q, %q", c.name, err, fixOf(e), c.says, c.fix)
		}
	}
}

func fixOf(e *fault.Error) string {
	if e == nil {
		return ""
	}
	return e.Fix
}

// hostile texts are long, deep or wide; each ends in an error.
var hostile = map[string]string{
	"too long":         strings.Repeat("#", MaxBytes+1),
	"brackets":         strings.Repeat("[", MaxBytes),
	"braces":           strings.Repeat("{", MaxBytes),
	"entries":          strings.Repeat("- ", MaxBytes/2),
	"keys in a line":   strings.Repeat("a: ", MaxBytes/3),
	"questions":        strings.Repeat("? ", MaxBytes/2),
	"indents":          stairs(350),
	"entries downward": ladder(250),
	"a quote":          `"` + strings.Repeat("x", MaxBytes-1),
	"lines":            strings.Repeat("x\n", MaxBytes/2),
	"keys":             strings.Repeat("a: x\n", MaxBytes/5),
	"texts":            "a: >\n" + strings.Repeat(" x\n", MaxBytes/4),
	"layers":           "vocab: 1\nhidden: 2\nlayers: [" + strings.Repeat("{a: 1},", MaxBytes/8) + "]",
	"counts":           ends + strings.Repeat(" - {count: 4096, ffn: {inner: 1}}\n", 1500),
	"bombs":            "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
	"no text":          strings.Repeat("\x00", MaxBytes),
	"no letters":       strings.Repeat("\xff\xfe", MaxBytes/2),
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func ladder(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "-\n")
	}
	return b.String()
}

// TestHostile: no text takes long or much memory.
func TestHostile(t *testing.T) {
	for name, text := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Parse([]byte(text))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 || took > 2*time.Second {
			t.Errorf("%s: %d MB in %s", name, n>>20, took)
		}
	}
}

// TestKinds: more different layers than a part can hold are refused, in towers too.
func TestKinds(t *testing.T) {
	var layers strings.Builder
	for i := range 251 {
		fmt.Fprintf(&layers, " - ffn: {inner: %d}\n", i+1)
	}
	for _, text := range []string{ends + layers.String(),
		"towers:\n- width: 8\n  layers:\n" + strings.ReplaceAll(layers.String(), " - ", "  - ")} {
		var e *family.FieldError
		if _, err := Parse([]byte(text)); !errors.As(err, &e) || !strings.Contains(e.Value, "251 different") {
			t.Errorf("%v", err)
		}
	}
}

// TestSpec: every key ends where it belongs.
func TestSpec(t *testing.T) {
	d, err := Parse([]byte(`
name: Test
like: qwen3
vocab: 0x10
hidden: 64
context: 4k
tied: true
dtype: f16
state_dtype: f32
norm: layernorm_weight
out_norm: rms
embed_norm: layernorm
head_bias: true
head_cap: true
positions: 7
segments: 2
rope_factors: 8
after: [{vector: 3}]
layers:
  - repeat: 2
    layers:
      - {count: 2, norms: sandwich, norm: rms, attention: {heads: 4, kv_heads: 2, value_dim: 8, window: 5, rope_dim: 4, qk_norm: full_width, out_bias: true, cap: true}, ffn: {inner: 9, bias: true, activation: relu2}}
      - {state: {style: linear_attention, inner: 32, heads: 4}, ffn: {inner: 9}, experts: {count: 8, used: 2, inner: 5, router: sigmoid, choice_bias: true, latent: 6}}
towers:
  - {name: audio, width: 8, tokens: 9, layers: [{attention: {heads: 2}, ffn: {inner: 4}}], after: [{map: [8, 16]}, {map: [16, 64], bias: true}, {norm: rms, width: 64}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	one := family.Layer{Norm: family.RMS, Place: family.Sandwich, FFN: family.MLP{Inner: 9, Gated: true, Bias: true, Act: family.ReLU2},
		Attn: family.Attention{Heads: 4, KVHeads: 2, DimK: 16, DimV: 8, Window: 5, QKNorm: family.FullWidth, BiasOut: true, Cap: true}}
	two := family.Layer{Norm: family.LayerNorm, SSM: family.SSM{Style: family.Lightning, Inner: 32, Heads: 4},
		FFN: family.MLP{Inner: 9, Gated: true},
		MoE: family.MoE{Experts: 8, Used: 2, Inner: 5, Gated: true, Sigmoid: true, ChoiceBias: true, Norm: true, Latent: 6, WithFFN: true}}
	tower := family.Layer{Norm: family.LayerNormBias, FFN: family.MLP{Inner: 4, Gated: true},
		Attn: family.Attention{Heads: 2, KVHeads: 2, DimK: 4, DimV: 4, NoRope: true, Bidirectional: true}}
	want := &family.Spec{Arch: "qwen3", Family: "qwen3", Vocab: 16, Hidden: 64, Context: 4096, Tied: true, Native: dtype.F16,
		OutNorm: family.RMS, EmbedNorm: family.LayerNormBias,
		HeadBias: true, HeadCap: true, Positions: 7, Segments: 2, Tables: []family.Table{{Role: dtype.RopeFreqs, Rows: 8}},
		After:  []family.Weight{{Role: dtype.VisionMask, Use: family.MixesIn, In: 1, Out: 3}},
		Layers: []family.Layer{one, one, two, one, one, two},
		Beside: []*family.Tower{{Name: "audio", Width: 8, Tokens: 9, Layers: []family.Layer{tower}, After: []family.Weight{
			{Role: dtype.ProjectorIn, In: 8, Out: 16}, {Role: dtype.ProjectorOut, In: 16, Out: 64, Bias: true},
			{Role: dtype.VisionPostNorm, Use: family.Norms, Norm: family.RMS, Out: 64}}}}}
	want.Source.State, want.Source.Rotary = dtype.F32, d.Spec.Source.Rotary
	if diff := cmp.Diff(want, d.Spec, cmp.Comparer(func(a, b *dtype.Format) bool { return a == b })); diff != "" || d.Name != "Test" {
		t.Error(diff)
	}
	if r := d.Spec.Source.Rotary; len(r) != 1 || r[0].Positions != 4096 || r[0].Dim != 4 {
		t.Errorf("rotary %+v", r)
	}
}

// TestHybrid: the example's parameters, counted by hand.
func TestHybrid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "examples", "hybrid.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	const h, inner, heads, state = 2560, 5120, 80, 128
	const ffn = 3*h*6912 + 2*h // and both norms
	const channels = inner + 2*state
	const scan = h*(inner+channels+heads) + 5*channels + 3*heads + inner + inner*h
	const attention = 2*h*h + 2*h*4*128
	if got, want := d.Spec.Model("x").Params(), int64(24*(scan+ffn)+8*(attention+ffn)+2*65536*h+h); got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
}

// FuzzParse: any text ends in an error or in a network that can be built and counted.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "examples", "*.yaml"))
	if err != nil || len(files) < 5 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range hostile {
		f.Add([]byte(text[:min(len(text), 500)])) // longer ones leave the fuzzer to shorten them
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x00\x1b") || len(err.Error()) > 2000 {
				t.Errorf("the error harms a terminal: %q", err)
			}
			return
		}
		for _, s := range []*family.Spec{d.Spec, d.Spec.Converted()} {
			if n := s.Model("m").Params(); n <= 0 {
				t.Errorf("%d parameters", n)
			}
		}
	})
}
