package timing

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// predictStream predicts engines measured with single streams: llama.cpp and relatives.
func predictStream(q *question.Question, v *api.Speed) error {
	in, table, predictor, err := CompileStream(q, v)
	if err != nil {
		return err
	}
	if v.RestsOn == "" {
		v.RestsOn = predictor.RestsOn()
		nameNearest(q, predictor)
	}
	p := q.Request.Plan
	test := stream.Test{Prompt: int64(p.PromptTokens), Generated: int64(p.OutputTokens)}
	if q.Brief {
		l := predictor.Loop(test, max(1, int64(p.Sequences)))
		writeLoop(v, &l)
		Figure(l.Throughput, &v.Total, &v.TotalLow, &v.TotalHigh)
		return nil
	}
	f := predictor.Predict(stream.Test{Prompt: test.Prompt})
	Figure(f.Prefill.Inverse(), &v.Prefill, &v.PrefillLow, &v.PrefillHigh)
	Figure(f.TTFT.Times(1000), &v.Unloaded, &v.UnloadedLow, &v.UnloadedHigh)
	v.PrefillFLOPsFraction = question.Rounded(f.FLOPsFraction)
	plainBuild(q, in, table, test, f.Prefill.Mid)
	allUsers(q, v, predictor, test, int64(p.Sequences))
	derived(q, v)
	price(q, v, total(v), len(in.Stages))
	return nil
}

// shown is the number of measurements that an explanation names.
const shown = 2

// nameNearest names the measurements most relevant to a figure, if explanations are requested.
func nameNearest(q *question.Question, p *stream.Predictor) {
	if q.Explain == nil {
		return
	}
	var lines []string
	for _, m := range p.Nearest(shown) {
		lines = append(lines, m.String())
	}
	if lines != nil {
		q.Explain.Nearest = "; nearest: " + strings.Join(lines, "; ")
	}
}

// CompileStream compiles the times of the plan. The table is the user's own if calibrated, which v then notes.
func CompileStream(q *question.Question, v *api.Speed) (in stream.Input, table *coef.Table, p *stream.Predictor, err error) {
	sharer, ok := q.Sizer.(engine.Sharer)
	if !ok {
		return in, nil, nil, fmt.Errorf("who computes what with %s is not known", q.Engine.Name())
	}
	stages, err := stages(q, sharer)
	if err != nil {
		return in, nil, nil, err
	}
	in = stream.Input{Model: q.Job.Model, Weights: q.Job.Weights, Stages: stages, Engine: streamEngine(q.Engine.Name()),
		Built: buildYear(q), Flash: flash(sharer.Flash()),
		UBatch: int64(q.Request.UBatch), KVBytes: kvBytes(q)}
	if in.Work, err = work(q, in.KVBytes); err != nil {
		return in, nil, nil, err
	}
	in.Variant = stream.Usual(in.Engine, stages[0].Backend, stages[0].Device)
	if table, err = streamTable(q, v, stages); err != nil {
		return in, nil, nil, err
	}
	m, err := stream.Compile(in)
	if err != nil {
		return in, nil, nil, err
	}
	if q.Brief {
		return in, table, m.Mids(table), nil
	}
	return in, table, m.With(table), nil
}

// workKey identifies a model's work.
type workKey struct {
	model   *model.Model
	weights *model.Weights
	kvBytes float64
}

// work returns the work of the question's model, cached for all plans with the same weights.
func work(q *question.Question, kvBytes float64) (*stream.Work, error) {
	type summed struct {
		work *stream.Work
		err  error
	}
	s := engine.Once(q.Job, workKey{q.Job.Model, q.Job.Weights, kvBytes}, func() (s summed) {
		s.work, s.err = stream.WorkOf(q.Job.Model, q.Job.Weights, kvBytes)
		return s
	})
	return s.work, s.err
}

// allUsers predicts all users of the plan, who share decode steps.
func allUsers(q *question.Question, v *api.Speed, p *stream.Predictor, test stream.Test, users int64) {
	l := p.Loop(test, max(1, users))
	writeLoop(v, &l)
	total := l.PerToken.Inverse()
	if users > 1 {
		total = l.Throughput
		q.Job.Note("users_assumed", "warn", "sequences",
			"speeds of %d users together are assumed from those of one, with a wide band: nobody's measurements of several go into the fit",
			users)
	}
	Figure(total, &v.Total, &v.TotalLow, &v.TotalHigh)
	v.Bound, v.BandwidthFraction = l.Bound, question.Rounded(l.BandwidthFraction)
	listParts(v, l.Parts, unlisted(l.Parts, l.PerToken.Mid))
	if q.Explain != nil {
		q.Explain.Timing, q.Explain.Assumed = streamed(v, p, test, users, &l), users > 1
	}
}

// writeLoop stores a user's latencies.
func writeLoop(v *api.Speed, l *stream.Loop) {
	Figure(l.First.Times(1000), &v.TTFT, &v.TTFTLow, &v.TTFTHigh)
	Figure(l.PerToken.Times(1000), &v.TPOT, &v.TPOTLow, &v.TPOTHigh)
	Figure(l.PerToken.Inverse(), &v.Decode, &v.DecodeLow, &v.DecodeHigh)
}

// total returns the total rate, for prices.
func total(v *api.Speed) speed.Figure {
	if v.Total == nil {
		return speed.Figure{}
	}
	return speed.Figure{Mid: *v.Total, Low: *v.TotalLow, High: *v.TotalHigh}
}

// buildYear returns when the plan's version was released, in years; 0 for a current build.
func buildYear(q *question.Question) float64 {
	if b, ok := q.Engine.(interface{ Built(engine.Version) float64 }); ok && q.Job.Version != q.Engine.Latest() {
		return b.Built(q.Job.Version)
	}
	return 0
}

// muchSlower is the slowdown from which the build is worth a note.
const muchSlower = 1.3

// plainBuild notes how much slower builds without today's usual options are.
func plainBuild(q *question.Question, in stream.Input, table *coef.Table, test stream.Test, usual float64) {
	words := strings.NewReplacer("rocm=", "ROCm ", "radv", "Mesa's RADV").Replace(strings.Join(in.Variant, " and "))
	if in.Variant == nil || test.Prompt == 0 {
		return
	}
	in.Variant = nil
	m, err := stream.Compile(in)
	if err != nil {
		return
	}
	if slower := m.With(table).Predict(stream.Test{Prompt: test.Prompt}).Prefill.Mid / usual; slower > muchSlower {
		q.Job.Note("build_assumed", "info", "engine", "a build with %s is assumed: without it prompts take %s times as long on %s", words,
			unit.Significant(slower, 2), in.Stages[0].Device.Name)
	}
}

// streamEngine returns an engine's name in the measurements.
func streamEngine(name string) string {
	if name == "llama-server" {
		return "llama.cpp"
	}
	return name
}

// flash says whether attention is fused, as in the measurements.
func flash(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// kvBytes returns the mean bytes per cached element.
func kvBytes(q *question.Question) float64 {
	bits := func(name string) float64 {
		if f := dtype.FindFormat(name); f != nil {
			return f.Bits()
		}
		return 16
	}
	k := bits(q.Request.KV)
	return (k + bits(cmp.Or(q.Request.KVV, q.Request.KV))) / 16
}

// stages returns the computing devices in order, including the host's CPU if it has a share.
func stages(q *question.Question, sharer engine.Sharer) ([]stream.Stage, error) {
	var out []stream.Stage
	for _, s := range sharer.Shares() {
		st := stream.Stage{Backend: s.Backend, Dense: s.Dense, Experts: s.Experts, Head: s.Head}
		if s.Device == engine.Host {
			d, threads := processor(q)
			if d == nil {
				return nil, fmt.Errorf("the host's memory bandwidth is unknown: --on …,host=64GiB@80GB/s")
			}
			st.Device, st.Threads = d, threads
		} else {
			st.Device = q.Job.Device(int64(s.Device))
		}
		out = append(out, st)
	}
	return out, nil
}

// processor returns the host's CPU, with its memory bandwidth.
func processor(q *question.Question) (*hardware.Device, float64) {
	m := q.Job.Machine
	if m == nil {
		return nil, 0
	}
	if d := q.Job.Device(0); d != nil && (d.IsCPU() || d.Unified != nil) {
		return d, 0
	}
	d := &hardware.Device{ID: "host", Name: "host", Form: "CPU", Architecture: "host", Bandwidth: m.Host.Bandwidth, SMs: m.Host.Cores}
	if !d.Bandwidth.Known {
		d.Bandwidth = hardware.Fact[unit.ByteRate]{Value: hardware.DesktopRate, Known: true, Basis: ledger.Assumed}
		q.Job.Note("host_rate", "warn", "hardware",
			"the host's memory is assumed to be read at %s, as two channels of DDR5-5600 are; host=64GiB@90GB/s sets it",
			hardware.DesktopRate)
	}
	threads := 0.0
	if m.Host.Cores.Known {
		threads = float64(m.Host.Cores.Value)
	}
	return d, threads
}
