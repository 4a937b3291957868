package source

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// fileTensor is a tensor in a checkpoint's files.
type fileTensor struct {
	name   string
	shape  []int64
	format *dtype.Format // nil if the type is unknown
	elems  int64
	bytes  unit.Bytes
}

// filing assigns the tensors of files to the slots of a model.
type filing struct {
	m     *model.Model
	parts map[string]*filedPart
	extra []fileTensor // used by no operator
	// beyond holds layers numbered after those of the decoder.
	beyond map[int]*beyondLayer
}

// beyondLayer is a layer numbered after those of the decoder.
type beyondLayer struct {
	first    fileTensor
	predicts bool // has the projection of stream and next token's embedding: a prediction layer
}

// filedPart is what a part of the model needs and has.
type filedPart struct {
	part  *model.Part
	kinds []map[slot]want // by kind of layer
	ends  map[slot]want
	held  map[where]*holding
}

// want is the number of elements needed for a slot; several tensors may be alike (deep projectors).
type want struct{ elems, tensors int64 }

// where is a slot's place; layer -1 is outside the layers.
type where struct {
	layer int
	slot  slot
}

// holding is what files provide for a slot.
type holding struct {
	name   string // of the first tensor
	shape  []int64
	format *dtype.Format
	mixed  bool // in several formats
	elems  int64
	bytes  unit.Bytes
	beside unit.Bytes // companions
}

func newFiling(m *model.Model) *filing {
	f := &filing{m: m, parts: map[string]*filedPart{}, beyond: map[int]*beyondLayer{}}
	for i := range m.Parts {
		p := &m.Parts[i]
		fp := &filedPart{part: p, ends: map[slot]want{}, held: map[where]*holding{}}
		addWants(fp.ends, &p.Pre)
		addWants(fp.ends, &p.Post)
		for k := range p.Kinds {
			wants := map[slot]want{}
			addWants(wants, &p.Kinds[k])
			fp.kinds = append(fp.kinds, wants)
		}
		f.parts[p.Name] = fp
	}
	return f
}

func addWants(to map[slot]want, k *model.Kind) {
	for i := range k.Ops {
		if k.Ops[i].Lent {
			continue
		}
		for _, t := range k.Ops[i].W {
			s := slot{t.Role, t.Bias}
			w := to[s]
			to[s] = want{w.elems + t.Elems(), w.tensors + 1}
		}
	}
}

// wants returns the slots of a layer; nil if the part has no such layer.
func (p *filedPart) wants(layer int) map[slot]want {
	switch {
	case layer < 0:
		return p.ends
	case layer < len(p.part.Layers):
		return p.kinds[p.part.Layers[layer]]
	}
	return nil
}

// put assigns a tensor.
func (f *filing) put(t *fileTensor) {
	if n, ok := readName(t.name); ok && f.place(t, &n) {
		return
	}
	f.extra = append(f.extra, *t)
}

// place finds the slots of a tensor; false if the model has none for it.
func (f *filing) place(t *fileTensor, n *tensorName) bool {
	f.settle(t, n)
	p := f.parts[n.part]
	if p == nil {
		return false
	}
	choices := spoken(f.m.Family, n)
	if n.part == model.PartMTP && n.layer < 0 {
		n.layer = 0 // stored once for all layers
	}
	wants := p.wants(n.layer)
	h := firstComplete(choices, func(s slot) bool { return wants[s].tensors > 0 })
	if h == nil {
		return false
	}
	p.share(t, n, h, wants)
	return true
}

// spoken returns the possible forms of a tensor's module, or of its bias, usually the biases of what the module holds.
func spoken(family string, n *tensorName) []form {
	if n.param != biasTerm {
		return forms(family, n.scope(), n.module)
	}
	if own := forms(family, n.scope(), n.module+".bias"); own != nil {
		return own
	}
	return biased(forms(family, n.scope(), n.module), true)
}

// settle determines the part that an ambiguous name belongs to in this model: encoders next to a decoder, models
// consisting only of an encoder or tower, projectors of audio towers, and second stacks of layers.
func (f *filing) settle(t *fileTensor, n *tensorName) {
	layers := len(f.m.Decoder().Layers)
	switch first := f.m.Parts[0].Name; {
	case n.part == partDecoder && f.parts[family.PartEncoder] != nil && (first == family.PartEncoder || inEncoder(t.name)):
		n.part = family.PartEncoder
	case n.part == partDecoder && isDenoiser(first) && n.layer >= 0:
		n.part, n.layer = first, n.layer+behind(f.parts[first], t.name)
	case n.part == partDecoder && f.parts[partDecoder] == nil:
		n.part = first
	case f.m.Family == family.LongCat && n.layer >= 0:
		n.ofBlock(t.name)
	case n.part == partDecoder && (n.module == "pre_norm" || n.module == "pre_ln") && n.layer == 0:
		n.layer = -1
	case n.part == partDecoder && n.layer >= layers:
		f.passes(t, n)
		n.part, n.layer = model.PartMTP, n.layer-layers
	case n.part == family.PartVision && f.parts[family.PartVision] == nil && f.parts[family.PartAudio] != nil:
		n.part = family.PartAudio
	case n.part == family.PartVision && n.layer >= 0 && strings.Contains(t.name, "timm_model."):
		n.ofStage(t.name)
	case n.part == family.PartVision && n.layer >= 0 && strings.Contains(t.name, "global_transformer."):
		n.layer += firstGated(f.parts[n.part])
	}
}

// passes records a layer numbered after those of the decoder.
func (f *filing) passes(t *fileTensor, n *tensorName) {
	b := f.beyond[n.layer]
	if b == nil {
		b = &beyondLayer{first: *t}
		f.beyond[n.layer] = b
	}
	joins := func(s slot) bool { return strings.HasPrefix(string(s.role), "nextn.") }
	b.predicts = b.predicts || slices.ContainsFunc(forms(f.m.Family, inLayer, n.module), func(x form) bool { return slices.ContainsFunc(x, joins) })
}

// ofBlock handles LongCat's blocks of two layers under one number: self_attn.1 and mlps.1 belong to the second.
func (n *tensorName) ofBlock(name string) {
	if n.part != partDecoder {
		return
	}
	n.layer *= 2
	_, path, _ := strings.Cut(name, "layers.")
	words := strings.Split(path, ".")
	if len(words) < 3 || !isNumber(words[2]) {
		return
	}
	if second, _ := strconv.Atoi(words[2]); second == 1 {
		n.layer++
	}
	n.module = strings.Replace(strings.Replace(n.module, ".#", "", 1), "mlps", "mlp", 1)
}

// ofStage handles blocks of a convolutional encoder, numbered within a stage. All but the first block of the last stage
// pair up to form layers; the others precede them.
func (n *tensorName) ofStage(name string) {
	const last = 3
	stage := n.layer
	n.layer = -1
	n.module = strings.TrimPrefix(n.module, "#.")
	_, path, _ := strings.Cut(name, "timm_model.blocks.")
	if words := strings.Split(path, "."); stage == last && len(words) > 1 && isNumber(words[1]) {
		if block, _ := strconv.Atoi(words[1]); block > 0 {
			n.layer = (block - 1) / 2
		}
	}
}

func inEncoder(name string) bool {
	return strings.HasPrefix(name, "encoder.") || strings.Contains(name, ".encoder.") || strings.HasPrefix(name, "enc_to_dec_proj.")
}

// firstGated returns the first layer with a gate, where Llama 3.2 Vision's second stack begins.
func firstGated(p *filedPart) int {
	if p == nil {
		return 0
	}
	return max(0, slices.IndexFunc(p.part.Layers, func(k uint8) bool { return p.kinds[k][slot{role: dtype.AttnGateScale}].tensors > 0 }))
}

// biased converts slots to those of the biases.
func biased(choices []form, bias bool) []form {
	if !bias {
		return choices
	}
	out := make([]form, len(choices))
	for i, f := range choices {
		for _, s := range f {
			out[i] = append(out[i], slot{s.role, true})
		}
	}
	return out
}

// share divides a tensor among the slots of a form, in proportion to their elements.
func (p *filedPart) share(t *fileTensor, n *tensorName, f form, wants map[slot]want) {
	var whole int64
	for _, s := range f {
		whole += wants[s].elems
	}
	elems, bytes := t.elems, t.bytes
	for i, s := range f {
		e, b := elems, bytes
		if i < len(f)-1 {
			e = portion(t.elems, wants[s].elems, whole)
			b = unit.Bytes(portion(int64(t.bytes), wants[s].elems, whole))
		}
		elems, bytes = elems-e, bytes-b
		p.hold(where{n.layer, s}, t, n.param, e, b)
	}
}

// portion returns n * part / whole without overflow.
func portion(n, part, whole int64) int64 {
	if product, ok := unit.MulOK(n, part); ok && whole > 0 {
		return product / whole
	}
	x := new(big.Int).Mul(big.NewInt(n), big.NewInt(part))
	return x.Div(x, big.NewInt(max(1, whole))).Int64()
}

func (p *filedPart) hold(at where, t *fileTensor, kind param, elems int64, bytes unit.Bytes) {
	h := p.held[at]
	if h == nil {
		h = &holding{}
		p.held[at] = h
	}
	if kind == companion {
		h.beside += bytes
		return
	}
	if h.name == "" {
		h.name, h.shape, h.format = t.name, t.shape, t.format
	}
	h.mixed = h.mixed || h.format != t.format
	h.elems += elems
	h.bytes += bytes
}

// weights returns how every tensor of the model is stored, once all files' tensors are assigned. scheme, if not nil,
// returns what the checkpoint's configuration states for a tensor, which is used if the sizes agree.
func (f *filing) weights(name string, scheme func(part string, layer int, t *model.Tensor) *dtype.Scheme) (*model.Weights, *faults) {
	wrong := &faults{}
	w := f.m.Stored(name, func(part *model.Part, layer int, t *model.Tensor) model.Stored {
		p, at := f.parts[part.Name], where{max(layer, -1), slot{t.Role, t.Bias}}
		h := p.held[at]
		switch {
		case h == nil || h.name == "":
			if !optional(part, t) {
				wrong.lacks(hubName(part, at), part.Name, at)
			}
			return model.Stored{}
		case !h.holds(p.wants(at.layer)[at.slot].elems):
			wrong.odd(h.name, part.Name, at, h.elems, p.wants(at.layer)[at.slot].elems)
		}
		var promised *dtype.Scheme
		if scheme != nil {
			promised = scheme(part.Name, at.layer, t)
		}
		return h.stored(t, unit.Bytes(p.wants(at.layer)[at.slot].tensors), promised)
	})
	return w, wrong
}

const ownConfig = "give the config.json that belongs to these files, or fetch the files again"

// optional reports whether a tensor may be absent: tables that only GGUF files store, and projections of prediction
// layers, which files often share or omit.
func optional(p *model.Part, t *model.Tensor) bool {
	return t.Table || p.Name == model.PartMTP && len(t.Role) > 6 && t.Role[:6] == "nextn."
}

// holds reports whether the slot has the given elements: exactly for formats with whole bytes, by bits for packed
// words.
func (h *holding) holds(elems int64) bool {
	if h.format == nil {
		return true
	}
	if h.elems == elems && h.format.Float != nil {
		return true
	}
	if h.format.Float != nil && h.format.BlockBytes > 1 {
		return false
	}
	for bits := int64(2); bits <= 8; bits++ {
		if n, ok := unit.MulOK(elems, bits); ok && int64(h.bytes) == unit.CeilDiv(n, 8) {
			return true
		}
	}
	return false
}

// stored returns the storage of one of the slot's tensors.
func (h *holding) stored(t *model.Tensor, tensors unit.Bytes, promised *dtype.Scheme) model.Stored {
	s := model.Stored{Bytes: (h.bytes + h.beside) / max(1, tensors)}
	for _, scheme := range []*dtype.Scheme{h.plain(), promised} {
		if scheme != nil && model.Store(t, scheme).Bytes == s.Bytes {
			s.Scheme = scheme
			break
		}
	}
	return s
}

func (h *holding) plain() *dtype.Scheme {
	if h.mixed || h.format == nil {
		return nil
	}
	return dtype.Of(h.format)
}

// hubName formats the place of a missing tensor as hub files name it.
func hubName(p *model.Part, at where) string {
	in := inLayer
	switch {
	case !isTower(p.Name) && at.layer < 0:
		in = atEnds
	case at.layer < 0:
		in = atVision
	case isTower(p.Name):
		in = inVision
	}
	name := string(at.slot.role)
	if list := spellings(in, at.slot.role); len(list) > 0 {
		name = preferred(list)
	}
	if at.layer >= 0 {
		name = "layers." + strconv.Itoa(at.layer) + "." + name
	}
	if p.Name != partDecoder {
		name = p.Name + "." + name
	}
	if at.slot.bias {
		return name + ".bias"
	}
	return name + ".weight"
}

// preferred returns the most common spelling: that of Llama's class if there is one.
func preferred(list []string) string {
	for _, name := range []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "mlp.", "embed_tokens", "lm_head", "input_layernorm", "post_attention_layernorm"} {
		if i := slices.IndexFunc(list, func(s string) bool { return len(s) >= len(name) && s[:len(name)] == name }); i >= 0 {
			return list[i]
		}
	}
	return list[0]
}

// faults collects mismatches between a model and its files: missing tensors, and the first of a different size.
type faults struct {
	missing []string
	name    string // of the tensor of a different size
	size    string
	part    string // place of the first missing or mismatched tensor
	at      where
}

func (f *faults) lacks(name, part string, at where) {
	if len(f.missing) == 0 {
		f.part, f.at = part, at
	}
	f.missing = append(f.missing, name)
}

func (f *faults) odd(name, part string, at where, have, want int64) {
	if f.size != "" {
		return
	}
	if f.name = name; len(f.missing) == 0 {
		f.part, f.at = part, at
	}
	f.size = fmt.Sprintf("tensor %s, with what belongs to it, has %s elements; a model of these dimensions has %s", format.Quote(name), unit.Count(have), unit.Count(want))
}

// absent describes the missing tensors.
func (f *faults) absent() string {
	if len(f.missing) == 1 {
		return ": " + f.missing[0] + " is not among them"
	}
	return fmt.Sprintf(": %s are not among them: %s", unit.Count(int64(len(f.missing))), listed(f.missing))
}

func (f *faults) err(family, fix string) error {
	switch {
	case len(f.missing) > 0:
		return &memwall.Error{Code: memwall.BadFile, Field: "model", Value: f.missing[0], Hint: fix,
			Message: fmt.Sprintf("%s that every %s of these dimensions has are missing: %s", plural(len(f.missing), "tensor"), family, listed(f.missing))}
	case f.size != "":
		return &memwall.Error{Code: memwall.BadFile, Field: "model", Message: f.size, Hint: fix}
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return unit.Count(int64(n)) + " " + what + "s"
}

// leave counts what no operator uses, and names the largest of it.
func leave(r *Resolved, extra []fileTensor) {
	if len(extra) == 0 {
		return
	}
	stable.Sort(extra, func(a, b fileTensor) int { return cmp.Compare(b.bytes, a.bytes) })
	var names []string
	for i := range extra {
		r.Weights.Extra += extra[i].bytes
		if len(names) <= most {
			names = append(names, format.Quote(extra[i].name))
		}
	}
	r.Weights.ExtraName = "tensors that no operator uses"
	note(r, "unused_tensors", "%s (%s) that no operator uses: %s", plural(len(extra), "tensor"), r.Weights.Extra, listed(names))
}
