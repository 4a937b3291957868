package llamacpp

import "github.com/memwall/memwall/engine"

// dated are builds with known dates, between and before which builds are interpolated linearly (2025-12:
// winget-pkgs#323157).
var dated = []struct {
	build int
	years float64
}{
	{2771, 2024 + 120/366.0}, // flash attention, ggml-org/llama.cpp#5021, 2024-04-30
	{4384, 2024 + 359/366.0}, // 14b699ec, 2024-12-24
	{5913, 2025 + 196/365.0}, // unified caches, ggml-org/llama.cpp#14363, 2025-07-16
	{7406, 2025 + 348/365.0}, {9174, 2026 + 135/365.0}, {10394, 2026 + 223/365.0},
}

// Built returns when a version was released, in years (2025.5 is the middle of 2025); 0 for releases after the numbered
// builds, which count as current, and for those of ik_llama.cpp, which has its own numbering.
func (e Engine) Built(v engine.Version) float64 {
	v = e.Program.llamaVersion(v)
	if v.Major > 0 || v.Minor > 0 || e.Program == Fork {
		return 0
	}
	at := 1
	for at < len(dated)-1 && v.Patch > dated[at].build {
		at++
	}
	a, b := dated[at-1], dated[at]
	return a.years + (b.years-a.years)*float64(v.Patch-a.build)/float64(b.build-a.build)
}
