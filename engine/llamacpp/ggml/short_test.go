package ggml

import (
	"maps"
	"slices"
	"testing"

	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
)

var allShapes = []Shape{{Flash: true}, {}, {Flash: true, Streams: true}, {Flash: true, QuantisedK: true, QuantisedV: true},
	{Streams: true, QuantisedK: true},
	{Flash: true, Older: Older{OneInput: true, WideMask: true, NoRows: true, PlainGates: true, CopiedParts: true, Latent: LatentExpanded}},
	{Older: Older{OneInput: true, Latent: LatentAndValue}}}

// places are ways to run a model on devices: the share of its first layers that stays on the host, and what
// else a site may ask for.
var places = map[string]struct {
	devices  int
	hostPart float64
	change   func(*Site)
}{
	"host":       {},
	"one device": {devices: 1},
	"two":        {devices: 2, change: func(s *Site) { s.Copies = 4 }},
	"dry":        {devices: 2, change: func(s *Site) { s.Copies, s.DryRun = 4, true }},
	"half":       {devices: 1, hostPart: 0.5},
	"few tokens": {devices: 2, hostPart: 0.3, change: func(s *Site) { s.Rows = Sizes{Tokens: 1, Outputs: 1, Seqs: 1} }},
	"caches":     {devices: 1, change: func(s *Site) { s.CacheOnHost = true }},
	"no kernel":  {devices: 1, change: func(s *Site) { s.Devices[0].Flash = func(_, _, _ int64) bool { return false } }},
	"no kernels": {devices: 2, change: func(s *Site) {
		s.Copies = 4
		for i := range s.Devices {
			s.Devices[i].Flash = func(_, _, _ int64) bool { return false }
		}
	}},
	"shared": {devices: 1, hostPart: 0.5, change: func(s *Site) { s.Devices[0].Shared = true }},
}

// siteOf a model: layers in order over the host's part and the devices, the head on the last.
func siteOf(m *model.Model, place string) *Site {
	p := places[place]
	if p.devices == 0 {
		return nil
	}
	n := len(m.Decoder().Layers)
	host, first := Spot(p.devices), int(p.hostPart*float64(n))
	s := &Site{Devices: make([]Device, p.devices), Copies: 1, Whole: first == 0, Offload: 32,
		Rows:   Sizes{Tokens: 512, Outputs: 512, Seqs: 1},
		Bytes:  func(_ int, t *model.Tensor, _ Spot) int64 { return t.Elems() },
		KeyRow: func(n int64) int64 { return 2 * n }, ValueRow: func(n int64) int64 { return 2 * n }}
	for i := range s.Devices {
		s.Devices[i] = Device{Align: 128}
	}
	for i, k := range m.Decoder().Layers {
		at := host
		if i >= first {
			at = Spot((i - first) * p.devices / (n - first))
		}
		s.Layers = append(s.Layers, at)
		s.Classes = append(s.Classes, uint16(k)*8+uint16(at))
	}
	s.Home = func(layer int, t *model.Tensor) Spot {
		switch {
		case layer >= 0:
			return s.Layers[layer]
		case layer == model.InPre && t.Role.Embedding():
			return host
		case layer == model.InPre:
			return s.Layers[0]
		}
		return host - 1
	}
	if p.change != nil {
		p.change(s)
	}
	return s
}

// TestShortenedIsFull: what few layers give, repeated, is what all layers give, for every model, shape and
// place; a ninth of them each.
func TestShortenedIsFull(t *testing.T) {
	short, all := 0, 0
	for i, id := range known(t) {
		m := converted(t, id)
		for n, place := range slices.Sorted(maps.Keys(places)) {
			site := siteOf(m, place)
			for k, s := range allShapes {
				if (i+k+n)%9 > 0 {
					continue
				}
				g, err := Lower(m, s, site)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				want := g.Compile(site)
				got, err := Compile(m, s, site)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				for at := range want.Spots {
					if a, b := &got.Spots[at], &want.Spots[at]; !slices.Equal(a.Forms, b.Forms) || a.Program.Slots != b.Program.Slots ||
						!slices.EqualFunc(segments(a), segments(b), slices.Equal[[]lifetime.Event]) {
						t.Errorf("%s %+v, %s: shortened lowering differs from the full one at spot %d", id, s, place, at)
					}
				}
				if all++; got.Nodes < want.Nodes {
					short++
				}
			}
		}
	}
	t.Logf("%d of %d are lowered from fewer layers", short, all)
	if 2*short < all {
		t.Errorf("%d of %d are lowered from fewer layers", short, all)
	}
}

func segments(l *Lifetimes) (out [][]lifetime.Event) {
	for _, s := range l.Program.Order {
		out = append(out, l.Program.Segments[s])
	}
	return out
}

// known are the catalog's models whose graphs are.
func known(t *testing.T) (out []string) {
	t.Helper()
	for _, id := range catalog.IDs() {
		if Checked(converted(t, id).Family) {
			out = append(out, id)
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d models", len(out))
	}
	return out
}
