package timing

import (
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// Weights that serving engines offload to host memory (cpu_offload_bytes) are read over the link in every step. No
// measurement of these engines says what share of the link that reaches, so the band is wide.

// slowLink is the lowest share of measured copy rates that reading may reach: assumed.
const slowLink = 0.5

// rereadTokens is the number of rows of a matmul that share one read: a larger matmul may read in-place weights once
// per so many tokens. Assumed to be the block size of a matmul.
const rereadTokens = 256

// hosted returns the offloaded weights of each stage, the maximum over the stage's classes of ranks.
func hosted(q *question.Question) (out []engine.Hosted) {
	s, ok := q.Sizer.(interface{ Hosted() []engine.Hosted })
	if !ok {
		return nil
	}
	for _, h := range s.Hosted() {
		switch last := len(out) - 1; {
		case h.Bytes == 0:
		case last >= 0 && out[last].Stage == h.Stage:
			if h.Bytes > out[last].Bytes {
				out[last] = h
			}
		default:
			out = append(out, h)
		}
	}
	return out
}

// addHostReads extends a plan's times by each step's reads of offloaded weights.
func addHostReads(q *question.Question, f *serving.Figures, in *serving.In, b speed.Batch, l serving.Load) error {
	hosted := hosted(q)
	if len(hosted) == 0 {
		return nil
	}
	share, err := speed.LinkShare()
	if err != nil {
		return err
	}
	share.Low *= slowLink
	rate, err := LinkTo(q, in.Device, "host")
	if err != nil {
		return err
	}
	var step, prompt speed.Figure
	bytes := 0.0
	for i := range hosted {
		h := &hosted[i]
		read := stepReads(h, in, b)
		bytes += read
		step = step.Plus(reads(h, in, read, rate, share))
		prompt = prompt.Plus(promptReads(h, in, l, rate, share))
	}
	lengthen(f, step, prompt, l, in.ChunkTokens)
	hostedNote(q, hosted[0].InPlace, unit.Bytes(bytes), rate, f.Step, step, share)
	if q.Explain != nil {
		q.Explain.Timing, q.Explain.Assumed = append(q.Explain.Timing,
			hostedFormula(hosted[0].InPlace, bytes, rate, share.Mid, in, f.Expected)), true
	}
	return nil
}

// stepReads returns the bytes of a stage's offloaded weights that a step reads: all if layers are copied; of in-place
// experts only those with tokens.
func stepReads(h *engine.Hosted, in *serving.In, b speed.Batch) float64 {
	if !h.InPlace || h.Experts == 0 {
		return float64(h.Bytes)
	}
	stage := stageOf(h, in)
	return readsOf(h, speed.Walk(in.Model, stage, in.Exec, nil), expertBytes(stage), b)
}

func stageOf(h *engine.Hosted, in *serving.In) *engine.Placed {
	return &in.Stages[min(int(h.Stage), len(in.Stages)-1)]
}

// expertBytes returns the size of a stage's experts.
func expertBytes(stage *engine.Placed) (all unit.Bytes) {
	for _, s := range stage.ExpertSums() {
		all += unit.Bytes(s.Count) * s.Bytes
	}
	return all
}

// readsOf is stepReads for a walked rank with the given bytes of experts.
func readsOf(h *engine.Hosted, r *speed.Rank, experts unit.Bytes, b speed.Batch) float64 {
	if !h.InPlace || h.Experts == 0 || experts == 0 {
		return float64(h.Bytes)
	}
	p := r.Points(b)
	used := min(1, r.Work(&p).Experts/float64(experts))
	return float64(h.Bytes-h.Experts) + used*float64(h.Experts)
}

// reads returns by how much a step is extended. In-place kernels overlap reading with the work they would do on device
// memory; a copied layer waits for all of it.
func reads(h *engine.Hosted, in *serving.In, bytes float64, rate unit.ByteRate, share speed.Figure) speed.Figure {
	own := 0.0
	if h.InPlace {
		own = bytes / float64(in.Device.Bandwidth.Value)
	}
	return speed.Exposed(speed.Figure{Mid: own, Low: own, High: own}, []speed.Move{{Name: "weights", Bytes: bytes, Rate: rate}}, share)
}

// promptReads is reads for a prefill step, which reads everything: in place perhaps once per block of tokens.
func promptReads(h *engine.Hosted, in *serving.In, l serving.Load, rate unit.ByteRate, share speed.Figure) speed.Figure {
	f := reads(h, in, float64(h.Bytes), rate, share)
	if tokens := min(l.Prompt, max(1, in.ChunkTokens)); h.InPlace && tokens > rereadTokens {
		f.High *= math.Ceil(float64(tokens) / rereadTokens)
	}
	return f
}

// lengthen adds the reads: one step per token, and those of the prompts before a first token, half of which an average
// user of a burst waits for.
func lengthen(f *serving.Figures, step, prompt speed.Figure, l serving.Load, chunk int64) {
	steps := func(users int64) float64 {
		return math.Max(1, math.Ceil(float64((users+1)*l.Prompt)/2/float64(max(1, chunk))))
	}
	token := step.Times(1 / f.Expected)
	was := f.PerToken.Mid
	f.PerToken = f.PerToken.Plus(token)
	f.First, f.FirstUnloaded = f.First.Plus(prompt.Times(steps(l.Users))), f.FirstUnloaded.Plus(prompt.Times(steps(1)))
	f.Throughput.Mid *= was / (was + token.Mid)
	f.Throughput.Low *= was / (was + token.High)
	f.Throughput.High *= was / (was + token.Low)
	if token.Mid > 0 {
		f.Parts = append(f.Parts, speed.Part{Name: "copies", Seconds: token.Mid, Bound: speed.Network})
		f.Bound = speed.Largest(f.Parts)
	}
}

// hostedNote notes what is read over the link, how, and what is assumed.
func hostedNote(q *question.Question, inPlace bool, bytes unit.Bytes, rate unit.ByteRate, rest float64, step, share speed.Figure) {
	how := "copies, each layer waiting for its own,"
	if inPlace {
		how = "reads in place"
	}
	q.Job.Note("crosses", "info", "cpu_offload_bytes",
		"each step %s %s of weights in host memory over %s: %s more than the %s of a step without; that %.0f to %.0f %% of the link are "+
			"reached is assumed",
		how, bytes, rate, unit.Seconds(step.Mid), unit.Seconds(rest), 100*share.Low, 100*share.High)
}

// hostedFormula returns the formula of the time that host reads add to a step, per token.
func hostedFormula(inPlace bool, bytes float64, rate unit.ByteRate, share float64, in *serving.In, expected float64) stream.Formula {
	f := stream.Formula{Part: "copies", Text: "1000 × read / (share × link) / tokens", Inputs: []stream.Term{
		{Name: "read", Value: bytes, Origin: "B of weights in host memory, of all stages"},
		{Name: "share", Value: share, Origin: "speed/copies.tsv"},
		{Name: "link", Value: float64(rate), Origin: "B/s, the slower of link and host memory"},
		{Name: "tokens", Value: expected, Origin: "of a step"},
	}}
	if inPlace {
		f.Text = "1000 × max(0, read / (share × link) - read / memory) / tokens"
		f.Inputs = append(f.Inputs, stream.Term{Name: "memory", Value: float64(in.Device.Bandwidth.Value),
			Origin: "B/s of the device, datasheet"})
	}
	return f
}
