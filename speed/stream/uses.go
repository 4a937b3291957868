package stream

import (
	"math"
	"strings"

	"github.com/memwall/memwall/speed/coef"
)

// Use is a coefficient with the levels that apply to it.
type Use = coef.Use

// Coefficients, and what they are multiplied with.
const (
	coefRead     = "read"     // share of the memory rate at which weights are read, by format
	coefGather   = "gather"   // time of reading the experts of a token, over that of as many bytes of other weights
	coefUnpack   = "unpack"   // share of the arithmetic rate at which weights are unpacked for a token, by format
	coefLaunch   = "launch"   // seconds that a kernel of a decode step takes beside its work
	coefStep     = "step"     // seconds that a step takes beside its kernels
	coefCache    = "cache"    // time of reading the cache, over bytes / memory rate
	coefMultiply = "multiply" // share of the peak at which prompts are multiplied, by format
	coefPrepare  = "prepare"  // seconds that a kernel of a prompt's step takes beside its work
	coefAttend   = "attend"   // share of the peak at which prompts attend
	coefScatter  = "scatter"  // operations of experts over those counted, in prompts
	coefHop      = "hop"      // seconds from one device to the next
	coefPipe     = "pipe"     // how much of the gain of working one behind the other is reached on prompts, as a power
	coefTile     = "tile"     // tokens of an expert at which its product takes twice as long as it should
	coefHost     = "host"     // seconds that the host of an eager engine takes to launch a kernel of a decode step
)

// coefficients lists them, in the order in which sums are made.
var coefficients = []string{coefRead, coefGather, coefUnpack, coefLaunch, coefStep, coefCache, coefMultiply, coefPrepare, coefAttend, coefScatter, coefTile, coefHop, coefPipe, coefHost}

// OfPrompts reports whether a coefficient belongs to prompts alone.
func OfPrompts(name string) bool {
	return name == coefMultiply || name == coefPrepare || name == coefAttend || name == coefScatter || name == coefTile || name == coefPipe
}

// OfAnswers reports whether a coefficient belongs to answers alone.
func OfAnswers(name string) bool {
	return name == coefGather || name == coefUnpack || name == coefLaunch || name == coefCache || name == coefHost
}

// Start holds the values before any offset.
var Start = map[string]float64{
	coefRead: 0.8, coefGather: 1, coefUnpack: 0.2, coefLaunch: 3e-6, coefStep: 2e-4, coefCache: 1.3,
	coefMultiply: 0.25, coefPrepare: 3e-6, coefAttend: 0.25, coefScatter: 1, coefTile: 16, coefHop: 1e-4, coefPipe: 0.7, coefHost: 4e-5,
}

// usesOf lists the coefficients of a model; at says where those of a stage begin.
type usesOf struct {
	list      []Use
	at        []stageUses
	step      int
	hop, pipe int // of several stages
	host      int // of an eager engine
}

// stageUses are places in the list.
type stageUses struct {
	read, unpack, multiply                                []int // by group
	launch, cache, prepare, attend, scatter, tile, gather int
}

func (m *Model) collect() (u usesOf) {
	add := func(name string, levels []coef.Level) int {
		u.list = append(u.list, Use{Name: name, Levels: levels})
		return len(u.list) - 1
	}
	var first []coef.Level
	known := map[string]stageUses{}
	for i := range m.stages {
		s := &m.stages[i]
		if at, ok := known[s.key()]; ok {
			u.at = append(u.at, at)
			continue
		}
		common := m.levels(s)
		if i == 0 {
			first = common
		}
		var at stageUses
		seen := map[string][3]int{}
		for _, g := range m.work.groups {
			key := m.formatKey(&g)
			places, ok := seen[key]
			if !ok {
				levels := m.formatLevels(s, common, key)
				places = [3]int{add(coefRead, levels), add(coefUnpack, levels), add(coefMultiply, levels)}
				seen[key] = places
			}
			at.read, at.unpack, at.multiply = append(at.read, places[0]), append(at.unpack, places[1]), append(at.multiply, places[2])
		}
		at.launch, at.cache = add(coefLaunch, common), add(coefCache, common)
		at.prepare, at.attend = add(coefPrepare, common), add(coefAttend, common)
		if m.work.moe != nil {
			at.scatter, at.tile, at.gather = add(coefScatter, common), add(coefTile, common), add(coefGather, common)
		}
		known[s.key()] = at
		u.at = append(u.at, at)
	}
	if len(m.stages) > 1 {
		u.hop, u.pipe = add(coefHop, first), add(coefPipe, first)
	}
	if m.eager() {
		u.host = add(coefHost, append(first[:len(first):len(first)], coef.Level{Name: "format", Key: m.work.format()}))
	}
	u.step = add(coefStep, first)
	return u
}

// small groups, below this share of the bytes, have no levels of their format.
const small = 0.02

func (m *Model) formatKey(g *group) string {
	if g.dense+g.experts+g.head < small*m.work.total {
		return ""
	}
	return g.format
}

func (m *Model) formatLevels(s *stage, common []coef.Level, format string) []coef.Level {
	if format == "" {
		return common
	}
	class := "quantised"
	if format == "f16" || format == "bf16" || format == "f32" {
		class = "float"
	}
	out := append(make([]coef.Level, 0, len(common)+8), common...)
	if era := Era(m.in.Built); era != "" {
		out = append(out, coef.Level{Name: "era-class", Key: m.in.Engine + "/" + era + "/" + s.Backend + "/" + class},
			coef.Level{Name: "era-format", Key: m.in.Engine + "/" + era + "/" + format})
	}
	return append(out, coef.Level{Name: "format", Key: format}, coef.Level{Name: "library-class", Key: family(s) + "/" + m.library() + "/" + class}, coef.Level{Name: "format-backend", Key: s.Backend + "/" + format},
		coef.Level{Name: "class-backend", Key: s.Backend + "/" + class}, coef.Level{Name: "class-family", Key: s.Backend + "/" + s.family + "/" + class},
		coef.Level{Name: "format-engine", Key: m.in.Engine + "/" + format}, coef.Level{Name: "class-engine", Key: m.in.Engine + "/" + s.Backend + "/" + class})
}

// levels of a stage, from the general to the special. The fit moves a coefficient at those that it has a deviation for;
// others say nothing of it.
func (m *Model) levels(s *stage) []coef.Level {
	family := family(s)
	out := []coef.Level{
		{Name: "all"},
		{Name: "backend", Key: s.Backend},
		{Name: "vendor", Key: s.Backend + "/" + s.Device.Vendor},
		{Name: "family", Key: family},
		{Name: "device", Key: s.Backend + "/" + s.Device.ID},
		{Name: "rate", Key: s.Backend, By: by(math.Log(s.bandwidth / 500e9))},
		{Name: "ridge", Key: s.Backend, By: by(math.Log(s.bandwidth / (s.alu / 20)))},
		{Name: "peak", Key: s.Backend, By: by(math.Log(s.peak / 100e12))},
		{Name: "width", Key: s.Backend, By: by(m.width())},
		{Name: "power", Key: s.Backend, By: by(s.power)},
		{Name: "cores", Key: s.Backend, By: by(s.cores)},
		{Name: "width-engine", Key: m.in.Engine, By: by(m.width())},
		{Name: "size", Key: s.Backend, By: by(math.Log(m.work.perToken() / 4e9))},
		{Name: "head", Key: s.Backend, By: by(m.work.heads)},
		{Name: "head-library", Key: family + "/" + m.library(), By: by(m.work.heads)},
	}
	if m.in.Engine != "llama.cpp" {
		out = append(out, coef.Level{Name: "engine", Key: m.in.Engine}, coef.Level{Name: "engine-family", Key: m.in.Engine + "/" + family})
	}
	for _, era := range since(m.in.Built) {
		out = append(out, coef.Level{Name: "since", Key: m.in.Engine + "/" + era + "/" + s.Backend})
	}
	if era := Era(m.in.Built); era != "" {
		out = append(out, coef.Level{Name: "era", Key: m.in.Engine + "/" + era}, coef.Level{Name: "era-backend", Key: m.in.Engine + "/" + era + "/" + s.Backend})
	}
	if s.laptop {
		out = append(out, coef.Level{Name: "form", Key: "laptop"})
	}
	out = append(out, coef.Level{Name: "library", Key: family + "/" + m.library()})
	for _, v := range m.in.Variant {
		out = append(out, coef.Level{Name: "variant", Key: s.Backend + "/" + v})
		if name, _, ok := strings.Cut(v, "="); ok {
			out = append(out, coef.Level{Name: "variant", Key: s.Backend + "/" + name})
		}
	}
	flash := m.in.Flash
	if flash == "" {
		flash = "unsaid"
	}
	out = append(out, coef.Level{Name: "flash", Key: flash}, coef.Level{Name: "flash-backend", Key: s.Backend + "/" + flash}, coef.Level{Name: "flash-family", Key: family + "/" + flash},
		coef.Level{Name: "group", Key: s.Backend + "/" + flash, By: by(m.work.sharing - math.Log(4))}, coef.Level{Name: "group-library", Key: family + "/" + m.library() + "/" + flash, By: by(m.work.sharing - math.Log(4))},
		coef.Level{Name: "flash-library", Key: family + "/" + m.library() + "/" + flash})
	if m.work.expertKernels > 0 {
		share := m.work.expertKernels / m.work.kernels
		if era := Era(m.in.Built); era != "" {
			out = append(out, coef.Level{Name: "era-experts", Key: m.in.Engine + "/" + era + "/" + s.Backend, By: by(share)})
		}
		out = append(out, coef.Level{Name: "experts", By: by(share)}, coef.Level{Name: "experts-backend", Key: s.Backend, By: by(share)}, coef.Level{Name: "experts-width", By: by(m.work.expertWidth())}, coef.Level{Name: "experts-format", Key: s.Backend + "/" + m.work.expertFormat()})
	}
	if m.work.scanKernels > 0 {
		out = append(out, coef.Level{Name: "scan"}, coef.Level{Name: "scan-backend", Key: s.Backend})
	}
	return out
}

// key of a stage: those alike have the same coefficients.
func (s *stage) key() string { return s.Backend + "/" + s.Device.ID }

func family(s *stage) string { return s.Backend + "/" + s.family }

// library is how the engine was built, all words together: what a library does depends on the others. Its releases resemble
// each other; what sets one apart is a variant.
func (m *Model) library() string {
	words := make([]string, len(m.in.Variant))
	for i, v := range m.in.Variant {
		words[i], _, _ = strings.Cut(v, "=")
	}
	return strings.Join(words, "+")
}

// width compares the matrices of a model with 4096 by 4096, in logarithms.
func (m *Model) width() float64 {
	elems, n := 0.0, m.work.matrices
	for _, g := range m.work.groups {
		elems += g.denseElems + g.expertElems
	}
	if elems == 0 || n == 0 {
		return 0
	}
	return math.Log(math.Sqrt(elems/n) / 4096)
}

// by is a covariate; a Level takes 0 for 1.
func by(x float64) float64 {
	if x == 0 {
		return 1e-12
	}
	return x
}

// Era returns the age class of an engine build; "" for a current one.
func Era(built float64) string {
	if all := since(built); len(all) > 0 {
		return all[0]
	}
	return ""
}

// since are the eras from that of a build to the last before today's: what changed between two builds is, for the most part, what
// changed from era to era, so that an era with few measurements is drawn towards its neighbours.
func since(built float64) []string {
	if built == 0 {
		return nil
	}
	for i := range eraEnds {
		if built < eraEnds[i]-1e-6 {
			return eraNames[i:]
		}
	}
	return nil
}

// Eras end where engines are known to have changed much: CUDA graphs and integer tensor cores in llama.cpp came in
// the middle of 2024, integer dot products of its Vulkan backend in the summer of 2025. What is later is one era.
var (
	eraNames = []string{"2023", "2024a", "2024b", "2025a", "2025b", "2025c", "2025d"}
	eraEnds  = []float64{2024, 2024.5, 2025, 2025.5, 2025 + 7.0/12, 2025.75, 2025 + 11.0/12}
)

// ParseBuilt reads a month, "2025-08", as years.
func ParseBuilt(s string) float64 {
	y, m, ok := strings.Cut(s, "-")
	if !ok || len(y) != 4 || len(m) != 2 {
		return 0
	}
	year, month := 0, 0
	for _, c := range y {
		year = 10*year + int(c-'0')
	}
	for _, c := range m {
		month = 10*month + int(c-'0')
	}
	return float64(year) + float64(month-1)/12
}
