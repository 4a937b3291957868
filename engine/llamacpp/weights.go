package llamacpp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Model buffers, tensor by tensor: src/llama-model-loader.cpp (create_tensor) says which tensor goes
// where, ggml/src/ggml-alloc.c (alloc_ctx_tensors_from_buft) how large a buffer is.

// stored is a tensor as the file has it.
type stored struct {
	*model.Tensor
	bytes     unit.Bytes
	cols      int64
	quantised bool
	format    *dtype.Format
}

func storedAs(t *model.Tensor, s model.Stored) stored {
	out := stored{Tensor: t, bytes: s.Bytes, cols: t.Cols}
	if t.Dims == 1 {
		out.cols = t.Rows()
	}
	if s.Scheme != nil {
		out.format = s.Scheme.Elem
		out.quantised = out.format.BlockElems > 1
	}
	return out
}

// portion is what count equal layers (or one end of the model) put into a buffer.
type portion struct {
	name  string
	count int64
	bytes unit.Bytes
}

// buffer is one model buffer.
type buffer []portion

func (b *buffer) add(name string, bytes unit.Bytes) {
	if bytes == 0 {
		return
	}
	for i := range *b {
		if p := &(*b)[i]; p.name == name && p.bytes == bytes {
			p.count++
			return
		}
	}
	*b = append(*b, portion{name, 1, bytes})
}

func (b buffer) total() (n unit.Bytes) {
	for _, p := range b {
		n += unit.Bytes(p.count) * p.bytes
	}
	return n
}

// num writes the buffer down: each group of equal layers times its count.
func (b buffer) num(k *ledger.Book, origin string) ledger.Num {
	if k == nil {
		return ledger.Num{V: float64(b.total())}
	}
	total := k.Lit(0)
	for i, p := range b {
		n := k.Size(engine.InputName(p.name), p.bytes, origin)
		if p.count > 1 {
			n = k.Mul(k.Int("layers", p.count, p.name), n)
		}
		if i > 0 {
			n = k.Add(total, n)
		}
		total = n
	}
	return total
}

// modelBuffers are the buffers of a plan: one for each device, one of ordinary host memory (or of the
// mapped file), one of page-locked host memory.
type modelBuffers struct {
	device []buffer
	plain  buffer
	pinned buffer
}

// loader puts tensors into buffers.
type loader struct {
	j        *engine.Job
	tensors  *tensors
	r        *rules
	l        *layout
	m        *mover
	backends []*backend
	mmap     bool
	rows     []float32 // cumulative shares of the devices for -sm row and tensor, nil otherwise
	tile     int64     // rows that are cut off together
	whole    bool      // -sm tensor: what is not cut lies on all devices
	out      modelBuffers
}

func (ld *loader) load() *modelBuffers {
	ld.out.device = make([]buffer, len(ld.backends))
	part, w := ld.j.Model.Decoder(), &ld.j.Weights.Parts[0]
	if len(part.Layers) > 0 {
		ld.layers(part, w)
		ld.before(part)
	}
	ld.after(part)
	return &ld.out
}

// layers: all tensors of a layer lie with it, unless an override moves them.
func (ld *loader) layers(part *model.Part, w *model.PartWeights) {
	type lot struct {
		variant uint16
		b       *backend
	}
	variants, whole := ld.tensors.variants, map[lot]unit.Bytes{}
	for l, at := range ld.l.layer {
		v := w.Layers[l]
		name := part.Kinds[part.Layers[l]].Name
		if !ld.m.none() || ld.rows != nil {
			for i := range variants[v] {
				ld.put(name, l, at, &variants[v][i])
			}
			continue
		}
		b := ld.backend(at)
		n, ok := whole[lot{v, b}]
		if !ok {
			for i := range variants[v] {
				n += b.alloc(&variants[v][i])
			}
			whole[lot{v, b}] = n
		}
		ld.add(name, at, true, n)
	}
}

// tensors are those of the decoder as they are stored: before its layers, of each variant of a layer, behind them.
type tensors struct {
	pre, post []stored
	variants  [][]stored
}

// tensorsKey is what they hang on.
type tensorsKey struct {
	m *model.Model
	w *model.Weights
}

// tensorsOf a job, once for all that share.
func tensorsOf(j *engine.Job) *tensors {
	return engine.Once(j, tensorsKey{j.Model, j.Weights}, func() *tensors {
		part, w := j.Model.Decoder(), &j.Weights.Parts[0]
		t := &tensors{listed(&part.Pre, w.Pre), listed(&part.Post, w.Post), make([][]stored, len(w.Variants))}
		for i := range w.Variants {
			t.variants[i] = listed(&part.Kinds[w.Variants[i].Kind], w.Variants[i].Tensors)
		}
		return t
	})
}

// listed pairs a kind's own tensors with how they are stored.
func listed(k *model.Kind, s []model.Stored) (out []stored) {
	i := 0
	for o := range k.Ops {
		if k.Ops[o].Lent {
			continue
		}
		for _, t := range k.Ops[o].W {
			if s[i].Bytes > 0 {
				out = append(out, storedAs(t, s[i]))
			}
			i++
		}
	}
	return out
}

func (ld *loader) backend(at int) *backend {
	if at == host {
		return &cpu
	}
	return ld.backends[at]
}

// put places one tensor of a layer whose device is at.
func (ld *loader) put(name string, layer, at int, t *stored) {
	if o, moved := ld.m.place(layer, t.Tensor); moved {
		ld.add(name, o.place, (o.pinned || ld.r.pinOver) && ld.hostTakes(t), ld.backend(o.place).alloc(t))
		return
	}
	if ld.cut(at, t) {
		ld.split(name, t)
		return
	}
	if ld.mirrored(name, at, t) {
		return
	}
	ld.add(name, at, ld.hostTakes(t), ld.backend(at).alloc(t))
}

// cut reports whether -sm row cuts a tensor: what a layer on a device multiplies by, and not experts, kernels of
// convolutions and the constants of scans, whose operators take no split buffer.
func (ld *loader) cut(at int, t *stored) bool {
	if ld.whole && at != host {
		return t.Dims > 1 && !t.Bias && !t.Role.Norm() && !(t.Table && t.Role != dtype.TokenEmbd)
	}
	return ld.rows != nil && at != host && t.Dims == 2 && !t.Bias && !t.Role.Norm() && !scanned[t.Role]
}

var scanned = map[dtype.Role]bool{dtype.SSMConv: true, dtype.SSMA: true, dtype.SSMD: true, dtype.ShortConv: true}

// split shares a matrix among all devices (-sm row), by whole tiles of rows; each part is padded as a
// matrix is (ggml/src/ggml-cuda/ggml-cuda.cu, get_row_split).
func (ld *loader) split(name string, t *stored) {
	rows, low := t.Rows(), int64(0)
	for i, share := range ld.rows {
		high := rows
		if i < len(ld.rows)-1 {
			high = int64(float32(rows) * share)
			high -= high % ld.tile
		}
		part := *t
		if part.bytes = t.bytes / unit.Bytes(rows) * unit.Bytes(high-low); part.bytes > 0 {
			ld.add(name, i, false, ld.backends[i].alloc(&part))
		}
		low = high
	}
}

// tileRows are the rows that the kernels for quantised matrices take at a time, on the device that takes most: 128
// since Volta and RDNA2, 64 before (ggml/src/ggml-cuda/mmq.cuh, get_mmq_y_host).
func tileRows(j *engine.Job, devices int) int64 {
	most := int64(64)
	for i := range devices {
		if d := usedDevice(j, i); d == nil || !smallTiles(d) {
			most = 128
		}
	}
	return most
}

func smallTiles(d *hardware.Device) bool {
	if d.Vendor == "AMD" {
		return d.Architecture == "rdna1"
	}
	major, _, _ := strings.Cut(d.Capability, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < 7
}

// add bytes to the buffer of a place; pinned chooses among the host's when the file is not mapped.
func (ld *loader) add(name string, at int, pinned bool, n unit.Bytes) {
	switch {
	case at != host:
		ld.out.device[at].add(name, n)
	case pinned && ld.pins():
		ld.out.pinned.add(name, n)
	default:
		ld.out.plain.add(name, n)
	}
}

// pins reports whether host tensors go to page-locked memory: no mapping, and a device that has such memory.
func (ld *loader) pins() bool {
	return !ld.mmap && slices.ContainsFunc(ld.backends, func(b *backend) bool { return b.host != "" })
}

// hostTakes reports whether the device can read the tensor from its host buffer: all but tables of rows
// in formats that its row lookup lacks (ggml_backend_cuda_device_supports_op, GET_ROWS).
func (ld *loader) hostTakes(t *stored) bool {
	return !t.Role.Embedding() || t.format != nil && (!t.quantised || t.format.BlockElems == 32 && t.format != dtype.IQ4_NL && t.format != dtype.MXFP4)
}

// before: tables of tokens and positions stay on the host; norms and projections of the embedding lie with
// the first layer, what opens parallel streams with the output; rotary factors are copied to every device.
func (ld *loader) before(part *model.Part) {
	for i := range ld.tensors.pre {
		if t := &ld.tensors.pre[i]; t.Table {
			ld.table(part, t)
		} else {
			ld.end(t.Role, ld.placeOf(model.InPre, t.Tensor), t)
		}
	}
}

// placeOf is the place of a tensor that is not moved: where its layer is.
func (ld *loader) placeOf(layer int, t *model.Tensor) int {
	switch {
	case layer >= 0:
		return ld.l.layer[layer]
	case layer == model.InPost || t.Role == dtype.AltupProj || ld.r.gemmaEnd && perLayer(t.Role):
		return ld.l.head
	case t.Role.Embedding():
		return host
	}
	return ld.l.layer[0]
}

// perLayer reports whether the tensor is of Gemma's per-layer embeddings, outside the layers.
func perLayer(r dtype.Role) bool {
	return r == dtype.PerLayerEmbd || r == dtype.PerLayerProj || r == dtype.PerLayerProjNorm
}

func (ld *loader) end(name dtype.Role, at int, t *stored) {
	if o, moved := ld.m.place(model.InPre, t.Tensor); moved {
		ld.add(string(name), o.place, (o.pinned || ld.r.pinOver) && ld.hostTakes(t), ld.backend(o.place).alloc(t))
		return
	}
	if (t.Role == dtype.Output || ld.whole) && ld.cut(at, t) {
		ld.split(string(name), t)
		return
	}
	if ld.mirrored(string(name), at, t) {
		return
	}
	ld.add(string(name), at, ld.hostTakes(t), ld.backend(at).alloc(t))
}

// table puts one copy of rotary factors wherever a layer reads them, or one for each layer.
func (ld *loader) table(part *model.Part, t *stored) {
	seen := map[int]bool{}
	for l, at := range ld.l.layer {
		if (!seen[at] || ld.r.tables) && readsTable(ld.j.Model, &part.Kinds[part.Layers[l]]) {
			seen[at] = true
			ld.end(t.Role, at, t)
		}
	}
}

// readsTable: layers that attend; of Gemma 4 only those without a window (src/models/gemma4.cpp).
func readsTable(m *model.Model, k *model.Kind) bool {
	for i := range k.Ops {
		if a := k.Ops[i].Attn; a != nil {
			return m.Family != "gemma4" || a.Window == 0
		}
	}
	return false
}

// after: norm and head; a tied head is the embedding table again, unless both lie in one buffer.
func (ld *loader) after(part *model.Part) {
	for i := range ld.tensors.post {
		t := &ld.tensors.post[i]
		ld.end(t.Role, ld.l.head, t)
	}
	for i := range ld.tensors.pre {
		if t := &ld.tensors.pre[i]; t.Role == dtype.TokenEmbd && tied(part) {
			ld.tiedHead(t)
		}
	}
}

func tied(part *model.Part) bool {
	for i := range part.Post.Ops {
		if o := &part.Post.Ops[i]; o.Kind == model.Head && o.Lent {
			return true
		}
	}
	return false
}

// headFirst are architectures whose loaders ask for the tied head before the table itself, so that both
// are allocated even in one buffer (src/models/gemma3n.cpp, gemma4.cpp). In a mapped file they share pages.
var headFirst = map[string]bool{"gemma3n": true, "gemma4": true}

func (ld *loader) tiedHead(t *stored) {
	sameBuffer := ld.l.head == host && (!ld.pins() || ld.hostTakes(t))
	if sameBuffer && (ld.mmap || !headFirst[ld.j.Model.Family]) {
		return
	}
	if ld.cut(ld.l.head, t) {
		ld.split("tied head", t)
		return
	}
	ld.add("tied head", ld.l.head, true, ld.backend(ld.l.head).alloc(t))
}
