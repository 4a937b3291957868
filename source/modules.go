package source

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// site is a tensor of a model with the names that module lists may use for it.
type site struct {
	layer int      // numbered as in the decoder; -1 outside the layers
	names []string // without wrappers before "layers"
}

// namer returns hub names for a model's tensors, the inverse of readName.
type namer struct {
	decoder int // number of decoder layers
	mlx     bool
	has     map[string][]map[slot]bool
}

func newNamer(m *model.Model, mlx bool) *namer {
	n := &namer{decoder: len(m.Decoder().Layers), mlx: mlx, has: map[string][]map[slot]bool{}}
	for i := range m.Parts {
		p := &m.Parts[i]
		kinds := make([]map[slot]bool, len(p.Kinds))
		for k := range p.Kinds {
			kinds[k] = slotsOf(&p.Kinds[k])
		}
		layers := make([]map[slot]bool, len(p.Layers))
		for l, k := range p.Layers {
			layers[l] = kinds[k]
		}
		n.has[p.Name] = layers
	}
	return n
}

func slotsOf(k *model.Kind) map[slot]bool {
	m := map[slot]bool{}
	for i := range k.Ops {
		for _, t := range k.Ops[i].W {
			m[slot{t.Role, t.Bias}] = true
		}
	}
	return m
}

// site names a tensor. A model with more layers than the namer's repeats its pattern.
func (n *namer) site(s *dtype.Site) site {
	if s.Layer < 0 {
		return n.end(s)
	}
	has := map[slot]bool{}
	if layers := n.has[s.Part]; len(layers) > 0 {
		has = layers[s.Layer%len(layers)]
	}
	in := inLayer
	if isTower(s.Part) {
		in = inVision
	}
	out := site{layer: s.Layer}
	for _, module := range spellings(in, s.Role) {
		if !n.mlx && strings.Contains(module, "switch_mlp") {
			continue // only MLX stacks experts under this name
		}
		f := firstComplete(forms("", in, module), func(x slot) bool { return has[x] })
		if slices.Contains(f, slot{role: s.Role}) {
			out.names = append(out.names, n.inPart(s, strings.Replace(module, "#", "0", 1))...)
		}
	}
	if s.Part == model.PartMTP {
		out.layer += n.decoder
	}
	return out
}

// visionStacks are names of the layers of vision towers.
var visionStacks = []string{"visual.blocks", "vision_tower.vision_model.encoder.layers", "vision_tower.encoder.layers", "vision_tower.transformer.layers",
	"vision_model.model.layers", "vision_model.transformer.layers", "vision_model.encoder.layers", "vision_tower.encoder.blocks"}

// inPart returns a module's names in a layer, in the spellings of its part.
func (n *namer) inPart(s *dtype.Site, module string) []string {
	number := strconv.Itoa(s.Layer)
	switch s.Part {
	case model.PartMTP:
		return []string{"mtp.layers." + number + "." + module, "layers." + strconv.Itoa(s.Layer+n.decoder) + "." + module}
	case family.PartVision:
		var out []string
		for _, stack := range visionStacks {
			out = append(out, stack+"."+number+"."+module)
		}
		return out
	}
	return []string{"layers." + number + "." + module}
}

func (n *namer) end(s *dtype.Site) site {
	out := site{layer: -1}
	if isTower(s.Part) {
		for _, module := range spellings(atVision, s.Role) {
			out.names = append(out.names, "visual."+module, "vision_tower.vision_model."+module, "multi_modal_projector."+module)
		}
		return out
	}
	out.names = slices.Clone(spellings(atEnds, s.Role))
	return out
}

// modulesNamed is a list of modules as checkpoints write them: names or parts of names, names with *, and regular
// expressions after "re:". A name includes everything below it.
type modulesNamed struct {
	plain   map[string]bool // sequences of words
	first   map[string]bool // their first words
	all     bool            // the whole decoder
	byLayer map[int][]matcher
	free    []matcher // not specific to one layer
	count   int
}

// matcher is a pattern of either kind.
type matcher struct {
	glob string
	expr *regexp.Regexp
}

const (
	maxPattern = 1 << 10 // bytes per pattern
	maxWork    = 1 << 16 // layer-independent patterns times layers
)

func newModules(list []string, layers int) (*modulesNamed, error) {
	m := &modulesNamed{plain: map[string]bool{}, first: map[string]bool{}, byLayer: map[int][]matcher{}}
	for _, text := range list {
		if err := m.add(text); err != nil {
			return nil, err
		}
	}
	if len(m.free)*max(1, layers) > maxWork {
		return nil, &memwall.Error{Code: memwall.Limit, Field: "quantization_config", Value: strconv.Itoa(len(m.free)),
			Message: fmt.Sprintf("quantization_config: %d patterns that name no layer, for %d layers, are more than are matched", len(m.free), layers), Hint: "give the safetensors files, which need no patterns"}
	}
	return m, nil
}

func (m *modulesNamed) add(text string) error {
	m.count++
	if len(text) > maxPattern {
		return patternError(text[:maxPattern], "is longer than 1,024 bytes")
	}
	if expr, ok := strings.CutPrefix(text, "re:"); ok {
		return m.addExpr(expr)
	}
	text = unwrapped(text)
	switch {
	case text == "":
		m.all = true
	case strings.Contains(text, "*"):
		m.addMatcher(text, matcher{glob: text})
	default:
		word, _, _ := strings.Cut(text, ".")
		m.plain[text], m.first[word] = true, true
	}
	return nil
}

// addExpr compiles an expression with the semantics of Python's re.match: anchored at the start only.
func (m *modulesNamed) addExpr(expr string) error {
	re, err := regexp.Compile("^(?:" + expr + ")")
	if err != nil {
		return patternError("re:"+expr, "is not a regular expression that can be matched in bounded time")
	}
	m.addMatcher(literal.Replace(expr), matcher{expr: re})
	return nil
}

// literal keeps only the escaped dots of an expression.
var literal = strings.NewReplacer(`\.`, ".", ".", "\x00", `\`, "")

func patternError(text, problem string) error {
	return &memwall.Error{Code: memwall.Unsupported, Field: "quantization_config", Value: text,
		Message: fmt.Sprintf("quantization_config: the pattern %.60q %s", text, problem), Hint: "give the safetensors files, which need no patterns"}
}

// boundLayer matches the layer that a pattern names explicitly: "layers.7.", or "layers.7" at its end.
var boundLayer = regexp.MustCompile(`(?:^|[^a-z_])layers\.([0-9]{1,5})(?:\.|$)`)

func (m *modulesNamed) addMatcher(text string, x matcher) {
	if hits := boundLayer.FindAllStringSubmatch(text, 2); len(hits) == 1 && !strings.ContainsAny(text, "|[(?") {
		n, _ := strconv.Atoi(hits[0][1])
		m.byLayer[n] = append(m.byLayer[n], x)
		return
	}
	m.free = append(m.free, x)
}

// unwrapped strips wrappers from the front of a pattern.
func unwrapped(text string) string {
	for {
		word, rest, more := strings.Cut(text, ".")
		if !wrappers[word] {
			return text
		}
		if !more {
			return ""
		}
		text = rest
	}
}

// has reports whether any name of the tensor is listed.
func (m *modulesNamed) has(s *site, part string) bool {
	if m == nil || m.count == 0 {
		return false
	}
	if m.all && part == partDecoder {
		return true
	}
	for _, name := range s.names {
		if m.hasPlain(name) || m.matches(m.free, name) || m.matches(m.byLayer[s.layer], name) || strings.HasPrefix(name, "mtp.") && m.matches(m.byLayer[layerOf(name)], name) {
			return true
		}
	}
	return false
}

// layerOf returns the layer in a canonical name.
func layerOf(name string) int {
	hit := boundLayer.FindStringSubmatch(name)
	if hit == nil {
		return -1
	}
	n, _ := strconv.Atoi(hit[1])
	return n
}

// hasPlain looks up every sequence of the name's words.
func (m *modulesNamed) hasPlain(name string) bool {
	for from := 0; from < len(name); {
		rest := name[from:]
		word, _, more := strings.Cut(rest, ".")
		if m.first[word] && m.hasRun(rest) {
			return true
		}
		if !more {
			return false
		}
		from += len(word) + 1
	}
	return false
}

// hasRun looks up every sequence of words at the start of rest.
func (m *modulesNamed) hasRun(rest string) bool {
	for end := 0; end < len(rest); {
		i := strings.IndexByte(rest[end:], '.')
		if i < 0 {
			return m.plain[rest]
		}
		if m.plain[rest[:end+i]] {
			return true
		}
		end += i + 1
	}
	return false
}

func (m *modulesNamed) matches(list []matcher, name string) bool {
	for i := range list {
		if list[i].matches(name) {
			return true
		}
	}
	return false
}

// wrapped lists prefixes that regular expressions may have been written for.
var wrapped = []string{"", "model.", "language_model.", "model.language_model.", "language_model.model."}

func (x *matcher) matches(name string) bool {
	if x.expr == nil {
		return glob(x.glob, name) || glob(x.glob+".*", name)
	}
	for _, w := range wrapped {
		if x.expr.MatchString(w + name) {
			return true
		}
	}
	return false
}

// glob reports whether a pattern matches a name; * matches any sequence of bytes, including dots (Python's fnmatch).
func glob(pattern, name string) bool {
	p, n, star, back := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, back = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			back++
			p, n = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
