package ggml

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// TestContextIsNotMonotone: a longer context can need a smaller buffer, because the larger mask lies
// elsewhere. Printed: Gemma 4 31B 591.5 MiB at 4k, 543.5 MiB at 32k.
func TestContextIsNotMonotone(t *testing.T) {
	m := converted(t, "gemma-4-31b")
	for _, c := range []struct {
		ctx  int64
		want float64
	}{{4096, 591.5}, {32768, 543.5}} {
		s := settings{ctx: c.ctx, slots: 1, ubatch: 512, batch: 2048, flash: true, typeK: "f16", typeV: "f16"}
		got, err := peakOf(m, s.shape(), s.sizes(m))
		if err != nil {
			t.Fatal(err)
		}
		if mib := float64(got) / float64(unit.MiB); mib < c.want-0.05 || mib > c.want+0.05 {
			t.Errorf("context %d: %.2f MiB, printed %.1f", c.ctx, mib, c.want)
		}
	}
}

// TestUnlistedModels: two models whose figures were printed in MiB, eight settings each; their graphs are
// in no file. DeepSeek-V3 chooses experts within groups.
func TestUnlistedModels(t *testing.T) {
	of := func(ctx int64, flash bool, ubatch, outputs int64) settings {
		return settings{ctx: ctx, slots: 1, ubatch: ubatch, batch: 2048, outputs: outputs, flash: flash, typeK: "f16", typeV: "f16"}
	}
	at := []settings{of(4096, true, 512, 0), of(32768, true, 512, 0), of(131072, true, 512, 0), of(4096, false, 512, 0),
		of(32768, false, 512, 0), of(131072, false, 512, 0),
		of(32768, true, 2048, 0), of(32768, true, 512, 1)}
	for id, want := range map[string][]float64{
		"llama-3.1-8b":   {266.5, 266.5, 266.5, 308, 2156, 8492, 1066, 148},
		"llama-3.1-405b": {444, 472, 568, 1196, 8420, 33188, 1888, 472},
		"deepseek-v3":    {412, 440, 536, 1440, 8648, 33416, 1760, 440},
	} {
		m := converted(t, id)
		for i, s := range at {
			got, err := peakOf(m, s.shape(), s.sizes(m))
			if err != nil {
				t.Fatal(err)
			}
			if mib := float64(got) / float64(unit.MiB); mib < want[i]-0.1 || mib > want[i]+0.1 {
				t.Errorf("%s %+v: %.2f MiB, printed %g", id, s, mib, want[i])
			}
		}
	}
}

// TestPeakBounds: no placement needs less than what lives at once; a coarser alignment never saves; rows
// without logits never cost, up to holes.
func TestPeakBounds(t *testing.T) {
	var p Planner
	for _, id := range known(t) {
		m := converted(t, id)
		for _, s := range allShapes {
			c, err := Compile(m, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			sizes := Sizes{Tokens: 512, Outputs: 512, Cells: 8192, WindowCells: 1536, Seqs: 4}
			peak := p.Peak(&c.Spots[0], sizes)
			if logical := unit.Bytes(lifetime.Logical(&c.Spots[0].Program, p.table)); peak < logical || peak > 2*logical {
				t.Errorf("%s %+v: %d bytes placed, %d live", id, s, peak, logical)
			}
			if coarse := p.Peak(&Lifetimes{c.Spots[0].Program, c.Spots[0].Forms, 128}, sizes); coarse < peak {
				t.Errorf("%s %+v: %d bytes aligned to 128, %d to 32", id, s, coarse, peak)
			}
		}
	}
}

// TestOneProgramForAllSizes: what a node takes over never depends on sizes, so that a program compiled once
// serves all. A graph of other sizes is the same graph.
func TestOneProgramForAllSizes(t *testing.T) {
	m := converted(t, "granite-4.0-h-tiny")
	c, err := Compile(m, Shape{Flash: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var kept Planner
	for tokens := int64(1); tokens <= 4096; tokens *= 4 {
		s := Sizes{Tokens: tokens, Outputs: 1, Cells: 256 * tokens, WindowCells: 256, Seqs: 1}
		fresh, err := peakOf(m, Shape{Flash: true}, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := kept.Peak(&c.Spots[0], s); got != fresh {
			t.Errorf("%d tokens: %d from a kept program, %d afresh", tokens, got, fresh)
		}
	}
}

// TestAnyLayers: stacks of random layers lower without a panic, and shortened as in full.
func TestAnyLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p Planner
	for i := range 300 {
		m := randomSpec(r).Model("random")
		for _, s := range allShapes {
			c, err := Compile(m, s, nil)
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			g, err := Lower(m, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			sizes := Sizes{Tokens: 64, Outputs: 1 + r.Int64N(64), Cells: 512, WindowCells: 256, Seqs: 1 + r.Int64N(2)}
			got := p.Peak(&c.Spots[0], sizes)
			if want := p.Peak(&g.Compile(nil).Spots[0], sizes); got != want {
				t.Errorf("%d %+v: %d shortened, %d in full", i, s, got, want)
			}
		}
	}
}

// peakOf is the compute buffer when everything runs on the host.
func peakOf(m *model.Model, shape Shape, s Sizes) (unit.Bytes, error) {
	c, err := Compile(m, shape, nil)
	if err != nil {
		return 0, err
	}
	var p Planner
	return p.Peak(&c.Spots[0], s), nil
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomSpec(r *rand.Rand) *family.Spec {
	h := pick(r, int64(64), 128, 256)
	s := &family.Spec{Family: pick(r, "llama", "phi3", "jamba", "qwen3next", "gpt-oss", "minicpm3", "none"), Vocab: 1000, Hidden: h,
		Tied: pick(r, true, false), OutNorm: pick(r, family.RMS, family.LayerNormBias),
		EmbedScale: pick(r, true, false), HeadScale: pick(r, true, false), HeadCap: pick(r, true, false)}
	kinds := []family.Layer{randomLayer(r), randomLayer(r)}
	period := 1 + r.IntN(4)
	for i := range 1 + r.IntN(40) {
		s.Layers = append(s.Layers, kinds[min(1, i%period)])
	}
	return s
}

func randomLayer(r *rand.Rand) family.Layer {
	l := family.Layer{Norm: pick(r, family.RMS, family.LayerNorm, family.LayerNormBias),
		Place: pick(r, family.PreNorm, family.PostNorm, family.Sandwich, family.Parallel, family.Parallel2, family.PreNormPost),
		Sum:   pick(r, family.FFNFirst, family.Branches, family.MixerFirst), ResidualScale: pick(r, true, false),
		OutScale: pick(r, true, false)}
	switch r.IntN(5) {
	case 0:
		l.SSM = family.SSM{Style: family.Mamba2, Conv: 4, Inner: 128, State: 16, Heads: 4, Groups: pick(r, int64(1), 2),
			NoConvBias: pick(r, true, false)}
	case 1:
		l.SSM = family.SSM{Style: family.DeltaNet, Conv: 4, Inner: 128, State: 32, Heads: 4, Groups: 2, SplitBA: pick(r, true, false),
			NoConvBias: true}
	case 2:
		l.SSM = family.SSM{Style: family.Mamba1, Conv: 4, Inner: 128, State: 16, Rank: 8, DBCNorm: pick(r, true, false)}
	default:
		l.Attn = family.Attention{Heads: 4, KVHeads: pick(r, int64(1), 2, 4), DimK: pick(r, int64(64), 80, 128),
			DimV: pick(r, int64(64), 80, 128), NoRope: pick(r, true, false), Window: pick(r, int64(0), 0, 128),
			Fused: pick(r, true, false), BiasQ: pick(r, true, false), BiasKV: pick(r, true, false),
			QKNorm: pick(r, family.NoQKNorm, family.PerHead, family.EachHead), Sinks: pick(r, true, false),
			Scale: pick(r, true, false), Cap: pick(r, true, false)}
	}
	if pick(r, true, false) {
		l.MoE = family.MoE{Experts: 16, Used: pick(r, int64(1), 2, 5), Inner: 32, Gated: pick(r, true, false),
			FusedGateUp: pick(r, true, false), Bias: pick(r, true, false), Shared: pick(r, int64(0), 64),
			Sigmoid: pick(r, true, false), ChoiceBias: pick(r, true, false), Norm: pick(r, true, false), Scaled: pick(r, true, false),
			Act: pick(r, family.SiLU, family.ReLU2)}
		if pick(r, true, false) {
			l.MoE.Groups, l.MoE.GroupsUsed = 4, 2
		}
		return l
	}
	l.FFN = family.MLP{Inner: 96, Gated: pick(r, true, false), Fused: pick(r, true, false), Bias: pick(r, true, false),
		Act: pick(r, family.SiLU, family.GELU, family.ReLU2)}
	return l
}

// TestRefusals: what cannot be lowered is an error that names the step or the number.
func TestRefusals(t *testing.T) {
	dense := func(change func(*family.Layer)) *model.Model {
		l := family.Layer{Norm: family.RMS, Attn: family.Attention{Heads: 4, KVHeads: 4, DimK: 64, DimV: 64},
			FFN: family.MLP{Inner: 96, Gated: true}}
		change(&l)
		return (&family.Spec{Family: "llama", Vocab: 100, Hidden: 256, OutNorm: family.RMS, Layers: []family.Layer{l}}).Model("x")
	}
	deep := dense(func(*family.Layer) {})
	deep.Decoder().Layers = make([]uint8, 513)
	crowded := dense(func(l *family.Layer) {
		l.FFN, l.MoE = family.MLP{}, family.MoE{Experts: 512, Used: 200, Inner: 8, Gated: true}
	})
	crowded.Decoder().Layers = make([]uint8, 512)
	crowded.Decoder().Count()
	for _, c := range []struct {
		m    *model.Model
		want string
	}{
		{dense(func(l *family.Layer) { l.Cross = l.Attn; l.Cross.Encoder = 64 }),
			"llama.cpp's graph of llama is not known: no rule for attention to an encoder"},
		{dense(func(l *family.Layer) { l.MoE = family.MoE{Experts: 8, Inner: 8, Gated: true} }),
			"experts used of 0: must be from 1 to 512"},
		{dense(func(l *family.Layer) { l.MoE = family.MoE{Experts: 1 << 20, Used: 1 << 20, Inner: 8, Gated: true} }),
			"experts used of 1,048,576: must be from 1 to 512"},
		{deep, "layers of 513: must be from 1 to 512"},
		{crowded, "nodes that add the rows of experts of 204,800: must be from 0 to 163,936"},
		{dense(func(l *family.Layer) { l.Attn.DimV = 0 }), "value width of 0: must be from 1 to 16,777,216"},
	} {
		_, err := Compile(c.m, Shape{}, nil)
		var e *fault.Error
		if err == nil || err.Error() != c.want || !errors.As(err, &e) || e.Fix == "" {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestForms: bytes as a form over the symbols, against multiplying numbers.
func TestForms(t *testing.T) {
	s := Sizes{Tokens: 512, Outputs: 7, Cells: 8192, WindowCells: 1536, Seqs: 4}
	v := s.values()
	for _, c := range []struct {
		t    Type
		ne   extent
		want int64
	}{
		{f32, dims(n(3), n(5)), 60},
		{f16, dims(sym(cells), sym(tokens)), 2 * 8192 * 512},
		{f32, dims(sym(windowCells), sym(tokens), n(16)), 4 * 1536 * 512 * 16},
		{i64, dims(by(256, tokens)), 8 * 256 * 512},
		{f32, dims(n(64), sym(perSeq), sym(seqs)), 4 * 64 * 512},
		{f32, dims(Dim{N: 1, Sym: perSeq, Plus: 3}, n(10), sym(seqs)), 4 * (128 + 3) * 10 * 4},
		{f32, dims(n(100), sym(outputs)), 2800},
		{f32, dims(n(9), n(0)), 0},
		{f32, dims(n(2), sym(seqs)), 32},
		{f16, dims(sym(cells), n(512)), 2 * 8192 * 512},
	} {
		if f := formOf(c.t, &c.ne); f.value(&v) != c.want {
			t.Errorf("%v: %d bytes, want %d", c.ne, f.value(&v), c.want)
		}
	}
}

// TestRotations: keys by the largest power of two in a head, values by 64; other heads are not rotated.
func TestRotations(t *testing.T) {
	for dim, want := range map[int64][2]int64{64: {64, 64}, 96: {0, 0}, 128: {128, 64}, 192: {64, 64}, 256: {256, 64}, 80: {0, 0},
		512: {512, 64}, 320: {64, 64}, 0: {0, 0}} {
		if k, v := keyRotation(dim), valueRotation(dim); k != want[0] || v != want[1] {
			t.Errorf("heads of %d: keys by %d, values by %d, want %v", dim, k, v, want)
		}
	}
}

// Lower builds the graph of a model's decoder for one micro-batch.
func Lower(m *model.Model, s Shape, site *Site) (*Graph, error) {
	return lower(&Graph{}, m, allOf(m.Decoder().Layers), s, site)
}

// Compile is a Library's for a graph that nobody asks for again.
func Compile(m *model.Model, s Shape, site *Site) (*Compiled, error) {
	return new(Library).Compile(m, s, site)
}
