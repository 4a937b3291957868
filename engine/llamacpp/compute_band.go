package llamacpp

import "github.com/memwall/memwall/engine"

// quirk is how the graph of an architecture departs from the plain formulas of compute.go, read off the
// compute buffers of llama.cpp v0.5.0.
type quirk struct {
	positions   int64 // bytes of one token's positions, when more than one number (M-RoPE)
	headRows    int64 // further bytes per hidden element of every row beside the logits
	headTokens  int64 // and of every token
	wideExperts bool  // two more streams are alive beside the experts
}

var quirks = map[string]quirk{
	"bloom":         {headTokens: 4},
	"deepseek2":     {wideExperts: true},
	"gemma4":        {headRows: 4},
	"glm4moe":       {headTokens: 4, wideExperts: true},
	"gpt-oss":       {headRows: 4, wideExperts: true},
	"granitehybrid": {headTokens: 8},
	"nemotron_h":    {headRows: 4},
	"qwen35":        {headRows: 4, positions: 16},
	"qwen35moe":     {headRows: 4, positions: 16},
	"qwen3next":     {headRows: 4},
	"starcoder2":    {headTokens: 4},
}

// spread is the 90 % band around a compute buffer, as factors of the formula's result.
type spread struct{ low, high float64 }

func (s spread) or(o spread) spread { return spread{min(s.low, o.low), max(s.high, o.high)} }

// spreads are quantiles (5 % and 95 %, and at least half a percent) of printed over computed buffers of
// llama.cpp v0.5.0, on the CPU and on one device that follows the CUDA backend's rules: 26 to 354 runs of
// each architecture. TestComputeBands does it again.
var spreads = map[string]spread{
	"bloom":         {0.980, 1.060},
	"cohere2":       {0.995, 1.055},
	"command-r":     {0.995, 1.120},
	"deepseek2":     {0.960, 1.095},
	"gemma2":        {0.995, 1.005},
	"gemma3":        {0.995, 1.020},
	"gemma3n":       {0.995, 1.270},
	"gemma4":        {0.940, 1.090},
	"gpt-oss":       {0.975, 1.015},
	"granitehybrid": {0.975, 1.550},
	"jamba":         {0.970, 1.155},
	"llama":         {0.965, 1.005},
	"mamba":         {0.995, 1.050},
	"mamba2":        {0.995, 1.465},
	"minicpm3":      {0.970, 1.035},
	"minimax-m2":    {0.995, 1.005},
	"nemotron_h":    {0.995, 1.125},
	"olmo2":         {0.975, 1.050},
	"olmoe":         {0.995, 1.040},
	"phi2":          {0.995, 1.070},
	"phi3":          {0.995, 1.230},
	"qwen2":         {0.995, 1.010},
	"qwen2moe":      {0.995, 1.245},
	"qwen3":         {0.995, 1.030},
	"qwen35moe":     {0.960, 1.065},
	"qwen3moe":      {0.995, 1.005},
	"qwen3next":     {0.965, 1.105},
	"stablelm":      {0.995, 1.065},
	"starcoder2":    {0.905, 1.005},
}

// pipelineSpreads: the same over two devices that work one behind the other, where they are wider.
var pipelineSpreads = map[string]spread{
	"deepseek2":  {0.950, 1.050},
	"gemma3n":    {0.995, 1.970},
	"jamba":      {0.995, 1.340},
	"mamba":      {0.995, 1.800},
	"mamba2":     {0.995, 1.890},
	"nemotron_h": {0.995, 1.505},
	"olmo2":      {0.885, 1.005},
	"qwen3":      {0.985, 1.020},
}

// otherSpread is for architectures without runs: quantiles (2 % and 98 %) of all of these, where each
// architecture weighs the same.
var otherSpread = spread{0.970, 1.230}

// What the rows do not show widens the band.
var (
	fallenSpread  = spread{0.25, 1.10} // attention of these heads runs on the host, although asked for on CUDA
	fallenCopies  = spread{0.25, 3.55} // and with copies of the inputs
	partialSpread = spread{0.80, 1.60} // some layers on the host
	partialHost   = spread{0.80, 2.00} // and the buffer there
	backendSpread = spread{0.85, 1.25} // rounding and scratch of other backends
	olderSpread   = spread{0.88, 1.10} // graphs before v0.1.0: the ratios of 41 buffers in logs (TestBuildsOfUsers)
	hostSpread    = spread{0.995, 1.13}
)

// spread of the buffer of a device with the backend; nil is the host.
func (s *sizer) spread(b *backend) spread {
	out, ok := spreads[s.job.Model.Family]
	if !ok {
		out = otherSpread
	}
	piped := s.pipelined()
	if p, ok := pipelineSpreads[s.job.Model.Family]; ok && piped {
		out = out.or(p)
	}
	if b == nil {
		out = out.or(hostSpread)
	} else if b.unchecked {
		out = out.or(backendSpread)
	}
	if s.fallen() {
		out = out.or(fallenSpread)
		if piped {
			out = out.or(fallenCopies)
		}
	}
	if len(s.devices) > 0 && (s.layout.any(host) || s.layout.head == host) {
		out = out.or(partialSpread)
		if b == nil {
			out = out.or(partialHost)
		}
	}
	if s.rules.version.Before(graphsRead) {
		out = out.or(olderSpread)
	}
	return out
}

// graphsRead is the version whose graphs the formulas were read from, and those close to it.
var graphsRead = engine.V(0, 1, 0)

// fallen reports whether flash attention was asked for where CUDA has no kernel for the heads.
func (s *sizer) fallen() bool {
	return s.set.flash && s.copiesCache() && !flashTakes(s.job.Model, &s.rules)
}
