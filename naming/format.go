package naming

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
)

//go:embed formats.tsv
var formatsText string

// row says what words of a name together mean: all of them must stand in it. The first row that holds decides.
type row struct {
	words, orgs []string
	recipe      string // "" where no recipe describes the storage
	loose       string // what else it may be
}

var rows = sync.OnceValue(func() (out []row) {
	for line := range strings.Lines(formatsText) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) < 4 {
			continue
		}
		out = append(out, row{strings.Fields(cells[0]), strings.Fields(cells[1]), cells[2], cells[3]})
	}
	return out
})

// marks are all words of the rows: those say a format by themselves, and the others only beside one of them.
var marks = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, r := range rows() {
		for _, w := range r.words {
			m[w] = !beside[w]
		}
	}
	for w := range beside {
		m[w] = false
	}
	return m
})

// beside are words that tell of a format only where another word names one: "dynamic", "block", "128g".
var beside = map[string]bool{
	"dynamic": true, "static": true, "block": true, "tensor": true, "pertensor": true, "channel": true, "kv": true, "sym": true, "asym": true, "actorder": true, "quantized": true, "quantised": true, "quant": true,
	"i1": true, "imat": true, "imatrix": true, "ud": true, "dwq": true, "dq": true, "g32": true, "g64": true, "g128": true, "32g": true, "64g": true, "128g": true, "gs128": true, "marlin": true, "autoround": true, "qad": true,
	"quarot": true, "floatmtp": true, "mlc": true, "h6": true, "h8": true, "ct": true, "mtp": true, "float16": true,
}

// tokens are the words of a name, its formats in one piece: "llama-2-7b.Q4_K_M" is llama, 2, 7b and q4_k_m.
func tokens(s string) (out []string) {
	for _, w := range words(strings.ReplaceAll(s, "/", " ")) {
		for _, p := range atPoints(w) {
			out = append(out, atLines(p)...)
		}
	}
	return joined(out)
}

// atPoints splits where a point does not stand between the figures of a number.
func atPoints(w string) (out []string) {
	from := 0
	for i := range len(w) {
		if w[i] == '.' && !(i > 0 && i+1 < len(w) && digit(w[i-1]) && digit(w[i+1])) {
			out, from = append(out, w[from:i]), i+1
		}
	}
	return slices.DeleteFunc(append(out, w[from:]), func(s string) bool { return s == "" })
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// atLines splits at underscores, but not within a format.
func atLines(w string) (out []string) {
	for from := 0; ; {
		if rest := w[from:]; !strings.Contains(rest, "_") || inGGUF(rest) != "" {
			return append(out, rest)
		}
		i := strings.IndexByte(w[from:], '_')
		if i > 0 {
			out = append(out, w[from:from+i])
		}
		if from += i + 1; from == len(w) {
			return out
		}
	}
}

// joined puts "4" and "bit" together, and "ud" before its mixture.
func joined(list []string) (out []string) {
	for i := 0; i < len(list); i++ {
		w := list[i]
		if i+1 < len(list) {
			switch next := list[i+1]; {
			case (len(w) == 1 || len(w) == 4 && w[1] == '.') && digit(w[0]) && (next == "bit" || next == "bits"):
				w, i = w+"bit", i+1
			case w == "4b" && (next == "128g" || next == "64g" || next == "32g"): // beside a group a number of bits, and no size
				w = "4bit"
			case w == "ud" && inGGUF("ud-"+next) != "":
				w, i = "ud-"+next, i+1
			case (w == "q4f16" || w == "q4bf16") && (next == "0" || next == "1"):
				w, i = w+"_"+next, i+1
			case w == "auto" && next == "round":
				w, i = "autoround", i+1
			}
		}
		out = append(out, strings.TrimSuffix(w, "imat"))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// inGGUF is the recipe of a GGUF file that a word names; "" for others.
func inGGUF(w string) string {
	if w == "" || !strings.ContainsRune("qitum", rune(w[0])) {
		return ""
	}
	if r := dtype.FindRecipe(w); r != nil && r.Store == dtype.GGUF {
		return r.Name
	}
	return ""
}

// Publishes reports whether an organisation is known for formats of its own.
func Publishes(org string) bool {
	return slices.ContainsFunc(rows(), func(r row) bool { return slices.Contains(r.orgs, org) })
}

// quantisers publish other people's models in formats of their own making. Programs that keep models in folders put their
// names before a model's: "turboderp_Qwen3-32B-exl3".
var quantisers = map[string]bool{
	"turboderp": true, "bartowski": true, "thebloke": true, "mradermacher": true, "unsloth": true, "lonestriker": true,
	"mlx-community": true, "lmstudio-community": true, "quantfactory": true, "maziyarpanahi": true, "ubergarm": true,
	"casperhansen": true, "cpatonn": true, "cyankiwi": true, "stelterlab": true, "ggml-org": true, "hugging-quants": true,
	"neuralmagic": true, "artusdev": true, "mikeroz": true, "panchovix": true, "dracones": true, "blockblockblock": true,
	"second-state": true, "dranger003": true, "exllamav2": true, "tensorblock": true, "devquasar": true, "intel": true, "amd": true,
}

// Quantises reports whether an organisation is known for other people's models in formats of its own making.
func Quantises(org string) bool { return quantisers[strings.ToLower(org)] }

// cutFormat parts the words of a name into those of the model and those of its format.
func cutFormat(list []string) (base, format []string, found bool) {
	m := marks()
	for _, w := range list {
		found = found || m[w] || inGGUF(w) != "" || bitsPerWeight(w) != ""
	}
	for _, w := range list {
		_, known := m[w]
		again := len(format) > 0 && len(w) == 2 && w[0] == 'v' && digit(w[1]) // a second edition: "NVFP4-v2"
		if found && (known || again || inGGUF(w) != "" || bitsPerWeight(w) != "") {
			format = append(format, w)
		} else {
			base = append(base, w)
		}
	}
	return base, format, found
}

// bitsPerWeight reads "4.0bpw" and "4_25bpw".
func bitsPerWeight(w string) string {
	n, ok := strings.CutSuffix(strings.ReplaceAll(w, "_", "."), "bpw")
	if !ok || n == "" || strings.Trim(n, "0123456789.") != "" {
		return ""
	}
	return n
}

// format says what words of a format mean in an organisation's repositories.
func (n *Name) format(list []string) {
	has := func(w string) bool { return slices.Contains(list, w) }
	for _, w := range list {
		if r := inGGUF(w); r != "" && (n.GGUF || !marks()[w]) {
			n.Format, n.GGUF = r, true
			return
		}
	}
	for _, r := range rows() {
		if len(r.orgs) > 0 && !slices.Contains(r.orgs, n.Org) || slices.ContainsFunc(r.words, func(w string) bool { return !has(w) }) {
			continue
		}
		if r.recipe == "" {
			n.Lacks = r.words[0]
			return
		}
		n.Format, n.Loose = r.recipe, r.loose
		if kind, _, ok := strings.Cut(r.recipe, "-4.0bpw"); ok {
			n.Format, n.Loose = exl(kind, list)
		}
		if found := dtype.FindRecipe(r.recipe); found != nil {
			n.GGUF = n.GGUF || found.Store == dtype.GGUF
		}
		return
	}
}

// exl is the recipe of ExLlama with the bits that the name states, or the nearest to them.
func exl(kind string, list []string) (recipe, loose string) {
	for _, w := range list {
		said, err := strconv.ParseFloat(bitsPerWeight(w), 64)
		if err != nil {
			continue
		}
		near, off := nearestBits(kind, said)
		if off > 0 {
			loose = "the name says " + bitsPerWeight(w) + " bits per weight; of those that are known " + near + " is the nearest"
		}
		return near, loose
	}
	return kind + "-4.0bpw", "the name says " + kind + " and no bits per weight; 4 are usual"
}

// nearestBits is the recipe of a kind whose bits per weight are nearest, and by how much they are off.
func nearestBits(kind string, bits float64) (name string, off float64) {
	off = math.Inf(1)
	for _, r := range dtype.Recipes() {
		of, ok := strings.CutPrefix(r.Name, kind+"-")
		if x, err := strconv.ParseFloat(bitsPerWeight(of), 64); ok && err == nil && math.Abs(x-bits) < off {
			name, off = r.Name, math.Abs(x-bits)
		}
	}
	return name, off
}
