package render

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/safe"
)

// ink is what a span of text means; colour only adds to it.
type ink uint8

const (
	plain ink = iota
	bold
	dim
	inkWeights
	inkTraining
	inkWorking
	inkSystem
	inkCache
	inkFree
	inkOver
	inkTight
	inkBad
	inkUnknown
)

// codes of an ink: SGR parameters with 256 colours and with 16.
var codes = [...]struct{ many, few string }{
	bold:        {"1", "1"},
	dim:         {"38;5;245", "90"},
	inkWeights:  {"38;5;33", "34"},
	inkTraining: {"38;5;176", "35"},
	inkWorking:  {"38;5;36", "32"},
	inkSystem:   {"38;5;242", "90"},
	inkCache:    {"38;5;166", "33"},
	inkFree:     {"38;5;240", "90"},
	inkOver:     {"38;5;203", "31"},
	inkTight:    {"1;38;5;178", "1;33"},
	inkBad:      {"1;38;5;203", "1;31"},
	inkUnknown:  {"2", "2"},
}

func (i ink) paint(s string, c Colour) string {
	if c == NoColour || i == plain || strings.TrimSpace(s) == "" {
		return s
	}
	code := codes[i].many
	if c == Colours16 {
		code = codes[i].few
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// family groups ledger items that share a colour and a glyph, in the order of every bar: the cache grows,
// so it comes last and is what crosses the limit.
type family uint8

const (
	weights family = iota
	training
	working
	system
	cache
	spare // room in a pool that nothing uses yet
	families
)

var looks = [families]struct {
	glyph rune
	ink   ink
	light string // of the picture
	dark  string
}{
	weights:  {'█', inkWeights, "#2f62c9", "#3571d4"},
	training: {'▚', inkTraining, "#bf78c0", "#dda8e0"},
	working:  {'▒', inkWorking, "#24a67b", "#3ddca6"},
	system:   {'░', inkSystem, "#454b54", "#686c73"},
	cache:    {'▓', inkCache, "#d4731a", "#bd6c22"},
	spare:    {'·', inkFree, "none", "none"},
}

var familyOf = map[string]family{
	"weights": weights, "master_weights": weights,
	"gradients": training, "optimizer": training, "lora": training, "adapters": training,
	"activations": working, "compute": working, "output": working, "logits": working, "graphs": working,
	"workspace": working, "encoder_cache": working, "checkpoints": working,
	"driver": system, "collectives": system, "fragmentation": system, "other": system,
	"kv_cache": cache, "state": cache, "prompt_cache": cache,
	"pool_unused": spare,
}

// subModels are prefixes of parts that belong to a model beside the main one.
var subModels = []string{"draft.", "mmproj.", "reference.", "reward.", "teacher.", "critic.", "rollout."}

// trains is the model beside the main one whose parts are as many as the main one's.
const trains = "critic."

// familyFor finds the family of a ledger id. A cache of a model beside the main one grows like any other, and a critic
// trains; whatever else such a model has counts as weights.
func familyFor(id string) family {
	if f, ok := familyOf[id]; ok {
		return f
	}
	for _, p := range subModels {
		if rest, ok := strings.CutPrefix(id, p); ok {
			if f := familyOf[rest]; f == cache || p == trains {
				return f
			}
			return weights
		}
	}
	return system
}

// mark is the sign before a verdict's word.
type mark struct {
	sign rune
	word string
	ink  ink
}

// ascii maps signs to what every terminal has. Texts are mapped before they are measured.
var ascii = map[rune]string{
	'✓': "ok", '✗': "X", '█': "#", '▚': "=", '▒': "+", '░': "%", '▓': ":", '·': ".", '╳': "x", '■': "@", '□': "o", '●': "*", '│': "|", '─': "-", '┘': "'",
	'▁': "_", '▂': ".", '▃': "-", '▄': "=", '▅': "+", '▆': "*", '▇': "%",
	'±': "+/-", '−': "-", '×': "x", '≥': ">=", '≤': "<=", '–': "-", '—': "--", '…': "...", '→': "->", '’': "'", '“': "\"", '”': "\"",
	'¹': "[1]", '²': "[2]", '³': "[3]", '⁴': "[4]", '⁵': "[5]", '⁶': "[6]", '⁷': "[7]", '⁸': "[8]", '⁹': "[9]", '⁰': "[0]",
}

var superscripts = [10]rune{'⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'}

// footnote is the sign of the nth footnote, from 1.
func footnote(n int) string {
	var b strings.Builder
	for _, c := range strconv.Itoa(n) {
		b.WriteRune(superscripts[c-'0'])
	}
	return b.String()
}

// Plain is a text of others as a line that is safe to print.
func Plain(s string, st Style) string { return clean(s, st.ASCII) }

// clean makes a text safe to print: names from files may hold anything. With only, every letter is one
// that any terminal has.
func clean(s string, only bool) string {
	var b strings.Builder
	if only {
		s = strings.ReplaceAll(s, " · ", ", ")
	}
	for _, r := range s {
		switch {
		case !safe.Rune(r):
			b.WriteByte('?')
		case !only || r < 0x7f || string(r) == hard:
			b.WriteRune(r)
		case ascii[r] != "":
			b.WriteString(ascii[r])
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
