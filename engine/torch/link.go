package torch

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/internal/stable"
)

// A kernel names the operator that launched it by its "External id". Operators stand in front of kernels in what kineto
// writes, and there are many times as many of them: of each a number is kept that says which of the different operators
// it was, in pages by the id, which counts up. Kernels that stand in front of their operator wait for it.

// Bounds on what is kept of operators.
const (
	pageIDs    = 1024
	maxPages   = 4096 // of two bytes an id: 8 MiB
	maxSigns   = 8192 // operators that differ in name or shape
	maxWaiting = 1 << 16
	maxThreads = 64
)

// sign is one of the different operators; 0 is none.
type sign uint16

// launched marks an operator that a kernel was seen of.
const launched = 1 << 15

// operator that differs from others.
type operator struct {
	name    string
	product *startup.Product
	message *startup.Message
	calls   int64
	// shapeless: a product of which the trace does not say the shape.
	shapeless bool
}

// tallied is the time of kernels of one class that one operator launched.
type tallied struct {
	class Class
	of    sign
}

type waiting struct {
	id    uint64
	class Class
}

// links between kernels and operators.
type links struct {
	pages    map[uint64]*[pageIDs]uint16
	last     *[pageIDs]uint16 // the page that was asked for last
	lastPage uint64
	signs    map[string]sign
	list     []operator // by sign
	time     map[tallied]float64
	waits    map[waiting]float64
	key      []byte
	backward [][]byte // threads of autograd

	graphs  int64 // launches of whole graphs
	dropped int64 // operators and kernels that there was no room for
}

func newLinks() *links {
	return &links{pages: map[uint64]*[pageIDs]uint16{}, signs: map[string]sign{}, list: make([]operator, 1), time: map[tallied]float64{},
		waits: map[waiting]float64{}}
}

// slot of an id; nil when there is no room for its page.
func (l *links) slot(id uint64, make bool) *uint16 {
	page := id / pageIDs
	if l.last == nil || l.lastPage != page {
		p := l.pages[page]
		if p == nil {
			if !make || len(l.pages) == maxPages {
				return nil
			}
			p = new([pageIDs]uint16)
			l.pages[page] = p
		}
		l.last, l.lastPage = p, page
	}
	return &l.last[id%pageIDs]
}

// silent are operators that launch nothing themselves: views, allocations and what calls others.
var silent = map[string]bool{
	"aten::view": true, "aten::t": true, "aten::transpose": true, "aten::as_strided": true, "aten::reshape": true, "aten::empty": true,
	"aten::empty_like": true, "aten::empty_strided": true,
	"aten::expand": true, "aten::permute": true, "aten::select": true, "aten::slice": true, "aten::unsqueeze": true, "aten::squeeze": true,
	"aten::detach": true, "detach": true, "aten::to": true,
	"aten::_to_copy": true, "aten::_unsafe_view": true, "aten::_reshape_alias": true, "aten::resolve_conj": true, "aten::resolve_neg": true,
	"aten::narrow": true, "aten::split": true, "aten::chunk": true,
	"aten::unbind": true, "aten::contiguous": true, "aten::clone": true, "aten::zeros": true, "aten::ones": true, "aten::zeros_like": true,
	"aten::ones_like": true, "aten::item": true, "aten::alias": true,
	"aten::lift_fresh": true, "aten::detach_": true, "detach_": true, "aten::flatten": true, "aten::unflatten": true, "aten::set_": true,
	"aten::resize_": true, "aten::result_type": true,
}

// operator keeps which operator an event of the host is.
func (x *reader) operator(name, text []byte) {
	l := x.links
	if bytes.HasPrefix(name, []byte("autograd::engine::")) {
		l.thread(text)
		return
	}
	if silent[string(name)] {
		return
	}
	id, ok := argument(text, `"External id":`)
	if !ok {
		return
	}
	s := l.sign(name, text)
	at := l.slot(id, true)
	if at == nil || s == 0 {
		l.dropped++
		return
	}
	*at = uint16(s)
	l.called(id, at)
}

// called gives an operator what kernels that stood in front of it took.
func (l *links) called(id uint64, at *uint16) {
	for c := Other; len(l.waits) > 0 && c < classes; c++ {
		if t, ok := l.waits[waiting{id, c}]; ok {
			delete(l.waits, waiting{id, c})
			l.tally(at, c, t)
		}
	}
}

// tally adds the time of a kernel to its operator's.
func (l *links) tally(at *uint16, c Class, seconds float64) {
	s := sign(*at &^ launched)
	if *at&launched == 0 {
		*at |= launched
		l.list[s].calls++
	}
	l.time[tallied{c, s}] += seconds
}

// kernel adds a kernel's time to the operator that launched it.
func (l *links) kernel(c Class, seconds float64, args []byte) {
	id, ok := argument(args, `"External id":`)
	correlation, has := argument(args, `"correlation":`)
	if !ok || has && id == correlation { // kineto wrote the correlation where it knew no operator
		l.time[tallied{c, 0}] += seconds
		return
	}
	if c == Collectives {
		if s := l.collective(args); s != 0 {
			l.list[s].calls++
			l.time[tallied{c, s}] += seconds
			return
		}
	}
	if at := l.slot(id, false); at != nil && *at != 0 {
		l.tally(at, c, seconds)
		return
	}
	w := waiting{id, c}
	if _, have := l.waits[w]; have || len(l.waits) < maxWaiting {
		l.waits[w] += seconds
		return
	}
	l.dropped++
	l.time[tallied{c, 0}] += seconds
}

// sign of an operator; 0 when there are too many. What it is told by is compared as it stands in the file.
func (l *links) sign(name, text []byte) sign {
	l.key = append(l.key[:0], name[:min(len(name), maxKey)]...)
	shape := shapes[string(name)]
	if shape == nil {
		return l.signOf(func() operator { return operator{name: plainName(string(l.key))} })
	}
	for _, field := range [...]string{dimsField, stridesField, typeField} {
		v := valueOf(text, field)
		if len(v) > maxKey { // of no product
			return l.signOf(func() operator { return operator{name: string(name), shapeless: true} })
		}
		l.key = append(l.key, v...)
	}
	pass := l.pass(text)
	l.key = append(l.key, byte(pass))
	return l.signOf(func() operator { return multiplying(string(name), shape, text, pass) })
}

// multiplying is a product with what the event says of it; pass is that of its thread, for one whose operands do not
// tell theirs.
func multiplying(name string, s *shape, text []byte, pass startup.Pass) operator {
	p, ok := s.product(text)
	if !ok {
		return operator{name: name, shapeless: true}
	}
	if p.Pass == startup.AnyPass {
		p.Pass = pass
	}
	return operator{name: name, product: &p}
}

// signOf the operator with the key.
func (l *links) signOf(describe func() operator) sign {
	if s, ok := l.signs[string(l.key)]; ok {
		return s
	}
	if len(l.list) == maxSigns {
		return 0
	}
	s := sign(len(l.list))
	l.signs[string(l.key)] = s
	l.list = append(l.list, describe())
	return s
}

// thread remembers one that autograd runs on.
func (l *links) thread(text []byte) {
	if t := threadOf(text); t != nil && len(l.backward) < maxThreads && !l.runsBackward(t) {
		l.backward = append(l.backward, bytes.Clone(t))
	}
}

func (l *links) runsBackward(thread []byte) bool {
	return slices.ContainsFunc(l.backward, func(t []byte) bool { return bytes.Equal(t, thread) })
}

// pass of a product whose operands' strides do not tell it: that of its thread.
func (l *links) pass(text []byte) startup.Pass {
	switch {
	case len(l.backward) == 0:
		return startup.AnyPass
	case l.runsBackward(threadOf(text)):
		return startup.SomeBackward
	}
	return startup.Forward
}

func threadOf(text []byte) []byte {
	v := valueOf(text, `"tid":`)
	return v[:min(len(v), maxKey)]
}

// close lists the operators: the longest of each class first.
func (l *links) close() (out []operated) {
	for w, t := range l.waits {
		l.time[tallied{w.class, 0}] += t
	}
	for t, seconds := range l.time {
		out = append(out, operated{tallied: t, operator: &l.list[t.of], seconds: seconds})
	}
	stable.Sort(out, func(a, b operated) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.of, b.of))
	})
	return out
}

// operated is what the kernels of one class took that one operator launched.
type operated struct {
	tallied
	*operator
	seconds float64
}
