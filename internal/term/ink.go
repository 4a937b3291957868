package term

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/safe"
)

// Ink is the meaning of a span of text, which color only reinforces.
type Ink uint8

const (
	Plain Ink = iota
	Bold
	Dim
	inkWeights
	inkTraining
	InkWorking
	InkSystem
	InkCache
	InkFree
	InkOver
	InkTight
	InkBad
	InkUnknown
)

// codes are the SGR parameters of inks with 256 and with 16 colors.
var codes = [...]struct{ many, few string }{
	Bold:        {"1", "1"},
	Dim:         {"38;5;245", "90"},
	inkWeights:  {"38;5;33", "34"},
	inkTraining: {"38;5;176", "35"},
	InkWorking:  {"38;5;36", "32"},
	InkSystem:   {"38;5;242", "90"},
	InkCache:    {"38;5;166", "33"},
	InkFree:     {"38;5;240", "90"},
	InkOver:     {"38;5;203", "31"},
	InkTight:    {"1;38;5;178", "1;33"},
	InkBad:      {"1;38;5;203", "1;31"},
	InkUnknown:  {"2", "2"},
}

func (i Ink) paint(s string, c Colour) string {
	if c == NoColour || i == Plain || strings.TrimSpace(s) == "" {
		return s
	}
	code := codes[i].many
	if c == Colours16 {
		code = codes[i].few
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Family groups ledger items that share a color and a glyph, in the order of bars: the cache grows, so it comes last and crosses
// the limit.
type Family uint8

const (
	Weights Family = iota
	Training
	Working
	System
	Cache
	Spare // pool space not yet used
	Families
)

// look is the appearance of a family in bars and pictures.
type look struct {
	Glyph       rune
	Ink         Ink
	Light, Dark string // in pictures
}

var Looks = [Families]look{
	Weights:  {'█', inkWeights, "#2f62c9", "#3571d4"},
	Training: {'▚', inkTraining, "#bf78c0", "#dda8e0"},
	Working:  {'▒', InkWorking, "#24a67b", "#3ddca6"},
	System:   {'░', InkSystem, "#454b54", "#686c73"},
	Cache:    {'▓', InkCache, "#d4731a", "#bd6c22"},
	Spare:    {'·', InkFree, "none", "none"},
}

var familyOf = map[string]Family{
	"weights": Weights, "master_weights": Weights,
	"gradients": Training, "optimizer": Training, "lora": Training, "adapters": Training,
	"activations": Working, "compute": Working, "output": Working, "logits": Working, "graphs": Working,
	"workspace": Working, "encoder_cache": Working, "checkpoints": Working,
	"driver": System, "collectives": System, "fragmentation": System, "other": System,
	"kv_cache": Cache, "state": Cache, "prompt_cache": Cache,
	"pool_unused": Spare,
}

// subModels are prefixes of parts of a model beside the main one.
var subModels = []string{"draft.", "mmproj.", "reference.", "reward.", "teacher.", "critic.", "rollout."}

// trains is the prefix of the second model that has all of the main model's parts.
const trains = "critic."

// FamilyFor returns the family of a ledger id. For models beside the main one, the cache counts as cache, a critic's parts as those
// of training, and all else as weights.
func FamilyFor(id string) Family {
	if f, ok := familyOf[id]; ok {
		return f
	}
	for _, p := range subModels {
		if rest, ok := strings.CutPrefix(id, p); ok {
			if f := familyOf[rest]; f == Cache || p == trains {
				return f
			}
			return Weights
		}
	}
	return System
}

// ascii maps symbols to ASCII. Texts are mapped before they are measured.
var ascii = map[rune]string{
	'✓': "ok", '✗': "X", '█': "#", '▚': "=", '▒': "+", '░': "%", '▓': ":", '·': ".", '╳': "x", '■': "@", '□': "o", '●': "*", '│': "|",
	'─': "-", '┘': "'", '└': "+",
	'▁': "_", '▂': ".", '▃': "-", '▄': "=", '▅': "+", '▆': "*", '▇': "%",
	'±': "+/-", '−': "-", '×': "x", '≥': ">=", '≤': "<=", '–': "-", '—': "--", '…': "...", '→': "->", '’': "'", '“': "\"", '”': "\"",
	'¹': "[1]", '²': "[2]", '³': "[3]", '⁴': "[4]", '⁵': "[5]", '⁶': "[6]", '⁷': "[7]", '⁸': "[8]", '⁹': "[9]", '⁰': "[0]",
}

var superscripts = [10]rune{'⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'}

// Footnote returns the mark of the nth footnote, from 1.
func Footnote(n int) string {
	var b strings.Builder
	for _, c := range strconv.Itoa(n) {
		b.WriteRune(superscripts[c-'0'])
	}
	return b.String()
}

// Printable returns external text as a line that is safe to print.
func Printable(s string, st Style) string { return Clean(s, st.ASCII) }

// Clean makes a text safe to print, since names from files may contain anything. If only is set, the result is ASCII.
func Clean(s string, only bool) string {
	var b strings.Builder
	if only {
		s = strings.ReplaceAll(s, " · ", ", ")
	}
	for _, r := range s {
		switch {
		case !safe.Rune(r):
			b.WriteByte('?')
		case !only || r < 0x7f || string(r) == NoBreak:
			b.WriteRune(r)
		case ascii[r] != "":
			b.WriteString(ascii[r])
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
