package hardware

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/unit"
)

// A query is a parsed name: the words that must match a device's name, and the stated properties that the device must
// have.
type query struct {
	words  []string
	memory []unit.Bytes // stated sizes: "80GB" is 80 GiB, as on the box
	kind   string       // "hbm3"
	watts  string       // "700w"
	cores  string       // "40core"
	cpu    bool         // the text says that only the CPU ran
	// computer is a named computer, which identifies the chip if nothing else does: "macstudio".
	computer string
	makers   []string // stated vendors
}

// Words that state the vendor of a device, or that it is a device. They distinguish no two devices.
var noise = map[string]bool{
	"geforce": true, "radeon": true, "instinct": true,
	"tesla": true, "google": true, "aws": true, "azure": true, "huawei": true, "habana": true, "gpu": true, "gpus": true,
	"graphics": true, "card": true, "edition": true, "generation": true, "accelerator": true, "blackwell": true,
	"system": true, "tm": true, "r": true, "vram": true, "runpod": true, "lambda": true, "vast": true, "gcp": true, "coreweave": true,
	"modded": true, "refitted": true,
	// Partition modes of a whole AMD device.
	"nps1": true, "spx": true,
}

// Vendors of devices in the catalog. A device of one vendor cannot match another's: an Intel N150 is not a Tenstorrent
// n150.
var makers = map[string]bool{"nvidia": true, "amd": true, "intel": true, "apple": true}

// Computers whose names precede or follow the name of their chip.
var computers = map[[2]string]bool{
	{"macbook", "pro"}: true, {"macbook", "air"}: true, {"mac", "studio"}: true, {"mac", "mini"}: true, {"mac", "pro"}: true,
	{"framework", "desktop"}: true, {"gmktec", "evo"}: true, {"beelink", "gtr9"}: true,
}

// read parses a name.
func read(text string) query {
	var q query
	words := split(text)
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		w, used := merge(words[i], next)
		i += used
		switch {
		case makers[w]:
			q.makers = append(q.makers, w)
		case w == "" || noise[w]:
		case computers[[2]string{w, next}] && !(i+2 < len(words) && words[i+2] == "x2"): // EVO-X2 stands for the whole name
			q.computer = w + next
			i++
		case w == "macbook", w == "imac":
			q.computer = w
		case w == "air" && chip(q.words): // "m2-air"
		default:
			q.take(w, words)
		}
	}
	if i := slices.Index(q.words, "super"); i >= 0 && i+1 < len(q.words) && q.words[i+1] == "ti" { // sold as Ti Super
		q.words[i], q.words[i+1] = "ti", "super"
	}
	if len(q.words) > 1 && q.words[0] == "laptop" { // in front of what it is
		q.words = append(q.words[1:], "laptop")
	}
	return q
}

// chip reports whether the last word is the name of an Apple chip.
func chip(words []string) bool {
	if len(words) == 0 {
		return false
	}
	w := words[len(words)-1]
	return len(w) > 1 && w[0] == 'm' && number(w[1:])
}

// split returns the words of a text in lower case: runs of letters, digits, and points between digits. A rate such as
// "256 GB/s" is a word of its own.
func split(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), "b/s", "bps")
	return strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.')
	})
}

// merge joins a number to the unit that follows it ("80 GB", "40-core") and returns how many additional words it
// consumed. Rates are dropped.
func merge(w, next string) (string, int) {
	w = strings.Trim(w, ".")
	if number(w) {
		switch next {
		case "gb", "gib", "g", "core", "cores":
			return w + next, 1
		case "gbps", "tbps":
			return "", 1
		}
		if next == "gpu" { // "48 GPU cores"
			return w + "gpu", 1
		}
	}
	if strings.HasSuffix(w, "bps") {
		return "", 0
	}
	return w, 0
}

func number(w string) bool {
	return w != "" && strings.Trim(w, "0123456789.") == "" && w[0] != '.'
}

// take classifies one word.
func (q *query) take(w string, all []string) {
	digits := strings.TrimLeft(w, "0123456789.")
	n := w[:len(w)-len(digits)]
	switch {
	case n != "" && (digits == "gb" || digits == "gib" || digits == "g"):
		if b, err := unit.ParseBytes(n + "GiB"); err == nil {
			q.memory = append(q.memory, b)
			return
		}
	case n != "" && (digits == "core" || digits == "cores" || digits == "gpu"):
		q.cores = n + "core"
		return
	case n != "" && (digits == "p" || digits == "e") && hasGPUCores(all):
		return // "8P+4E+30GPU": CPU cores of an Apple chip
	case n != "" && digits == "w":
		q.watts = w
		return
	case w == "core" || w == "cores":
		return // after "48 GPU"
	case w == "mobile":
		w = "laptop"
	case w == "cpu":
		q.cpu = true
	case memoryKind(w):
		q.kind = w
		return
	}
	q.words = append(q.words, w)
}

func hasGPUCores(words []string) bool {
	for _, w := range words {
		if n, ok := strings.CutSuffix(w, "gpu"); ok && number(n) {
			return true
		}
	}
	return false
}

func memoryKind(w string) bool {
	return strings.HasPrefix(w, "hbm") || strings.HasPrefix(w, "gddr") || strings.HasPrefix(w, "lpddr")
}

// key joins names into one word of letters and digits, since names are written with and without spaces, hyphens and
// underscores.
func key(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		for i := 0; i < len(p); i++ {
			if letterOrDigit(p[i]) {
				b.WriteByte(p[i])
			}
		}
	}
	return b.String()
}

func letterOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// same reports whether a catalog name equals a key.
func same(name, key string) bool {
	j := 0
	for i := 0; i < len(name); i++ {
		if !letterOrDigit(name[i]) {
			continue
		}
		if j == len(key) || name[i] != key[j] {
			return false
		}
		j++
	}
	return j == len(key)
}

// withoutMemory removes the memory size from a catalog name: "h100-sxm-80gb" becomes "h100-sxm".
func withoutMemory(name string) string {
	i := strings.LastIndexAny(name, "- ")
	if i < 0 || !strings.HasSuffix(name, "gb") || !number(name[i+1:len(name)-2]) {
		return name
	}
	return name[:i]
}

// eachName calls f with the id and aliases of a row until f returns true.
func eachName(r row, f func(name string) bool) bool {
	if f(r.id()) {
		return true
	}
	for rest := r.second(); rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "|")
		if f(name) {
			return true
		}
	}
	return false
}
