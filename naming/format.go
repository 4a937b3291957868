package naming

import (
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
)

//go:embed formats.tsv
var formatsText string

// row says what a combination of words in a name means. All of them must occur; the first matching row decides.
type row struct {
	words, orgs []string
	recipe      string // "" if no recipe describes the storage
	loose       string // alternative meaning
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

// marks holds all words of the rows, which indicate a format by themselves, and the words that do so only together with
// one of them.
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

// beside are words that indicate a format only next to another: "dynamic", "block", "128g".
var beside = map[string]bool{
	"dynamic": true, "static": true, "block": true, "tensor": true, "pertensor": true, "channel": true, "kv": true, "sym": true, "asym": true, "actorder": true, "quantized": true, "quantised": true, "quant": true,
	"i1": true, "imat": true, "imatrix": true, "ud": true, "dwq": true, "dq": true, "g32": true, "g64": true, "g128": true, "32g": true, "64g": true, "128g": true, "gs128": true, "marlin": true, "autoround": true, "qad": true,
	"quarot": true, "floatmtp": true, "mlc": true, "h6": true, "h8": true, "ct": true, "mtp": true, "float16": true,
}

// tokens splits a name into words, keeping formats whole: "llama-2-7b.Q4_K_M" becomes llama, 2, 7b and q4_k_m.
func tokens(s string) (out []string) {
	for _, w := range words(strings.ReplaceAll(s, "/", " ")) {
		for _, p := range atPoints(w) {
			out = append(out, atLines(p)...)
		}
	}
	return joined(out)
}

// atPoints splits at points that are not decimal points.
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

// atLines splits at underscores outside formats.
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

// mlxBits matches MLX and bits in one word: mlx4, and oQ3 of oMLX's mixtures.
var mlxBits = regexp.MustCompile(`^(?:mlx|oq)(\d)(?:bit)?$`)

// joined joins "4" and "bit", and "ud" with its mixture.
func joined(list []string) (out []string) {
	for i := 0; i < len(list); i++ {
		w := list[i]
		if i+1 < len(list) {
			switch next := list[i+1]; {
			case (len(w) == 1 || len(w) == 4 && w[1] == '.') && digit(w[0]) && (next == "bit" || next == "bits"):
				w, i = w+"bit", i+1
			case w == "4b" && (next == "128g" || next == "64g" || next == "32g"): // next to a group size, bits rather than a model size
				w = "4bit"
			case w == "ud" && inGGUF("ud-"+next) != "":
				w, i = "ud-"+next, i+1
			case (w == "q4f16" || w == "q4bf16") && (next == "0" || next == "1"):
				w, i = w+"_"+next, i+1
			case w == "auto" && next == "round":
				w, i = "autoround", i+1
			}
		}
		if m := mlxBits.FindStringSubmatch(w); m != nil {
			out = append(out, "mlx", m[1]+"bit")
			continue
		}
		out = append(out, strings.TrimSuffix(w, "imat"))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// inGGUF returns the GGUF recipe that a word names, or "".
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

// quantisers publish other vendors' models in their own quantizations. Programs that store models in folders prefix
// them: "turboderp_Qwen3-32B-exl3".
var quantisers = map[string]bool{
	"turboderp": true, "bartowski": true, "thebloke": true, "mradermacher": true, "unsloth": true, "lonestriker": true,
	"mlx-community": true, "lmstudio-community": true, "quantfactory": true, "maziyarpanahi": true, "ubergarm": true,
	"casperhansen": true, "cpatonn": true, "cyankiwi": true, "stelterlab": true, "ggml-org": true, "hugging-quants": true,
	"neuralmagic": true, "artusdev": true, "mikeroz": true, "panchovix": true, "dracones": true, "blockblockblock": true,
	"second-state": true, "dranger003": true, "exllamav2": true, "tensorblock": true, "devquasar": true, "intel": true, "amd": true,
}

// Quantises reports whether an organisation is known for quantizing other vendors' models.
func Quantises(org string) bool { return quantisers[strings.ToLower(org)] }

// cutFormat splits the words of a name into those of the model and those of its format.
func cutFormat(list []string) (base, format []string, found bool) {
	m := marks()
	for _, w := range list {
		found = found || m[w] || inGGUF(w) != "" || bitsPerWeight(w) != ""
	}
	for _, w := range list {
		_, known := m[w]
		again := len(format) > 0 && len(w) == 2 && w[0] == 'v' && digit(w[1]) // a revision: "NVFP4-v2"
		if found && (known || again || inGGUF(w) != "" || bitsPerWeight(w) != "") {
			format = append(format, w)
		} else {
			base = append(base, w)
		}
	}
	return base, format, found
}

// bitsPerWeight parses "4.0bpw" and "4_25bpw".
func bitsPerWeight(w string) string {
	n, ok := strings.CutSuffix(strings.ReplaceAll(w, "_", "."), "bpw")
	if !ok || n == "" || strings.Trim(n, "0123456789.") != "" {
		return ""
	}
	return n
}

// format interprets the format words as an organisation uses them.
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

// exl returns ExLlama's recipe with the stated bits, or the closest.
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

// nearestBits returns the recipe of a kind with the closest bits per weight, and the difference.
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
