package memwall

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// stream answers for engines that are measured with one stream at a time: llama.cpp and its kin.
func (q *question) stream(v *Speed) error {
	in, table, predictor, err := q.streamed(v)
	if err != nil {
		return err
	}
	if v.RestsOn == "" {
		v.RestsOn = predictor.RestsOn()
	}
	p := q.request.Plan
	test := stream.Test{Prompt: int64(p.PromptTokens), Generated: int64(p.OutputTokens)}
	if q.brief {
		l := predictor.Loop(test, max(1, int64(p.Sequences)))
		looped(v, &l)
		return nil
	}
	f := predictor.Predict(stream.Test{Prompt: test.Prompt})
	figure(f.Prefill.Inverse(), &v.Prefill, &v.PrefillLow, &v.PrefillHigh)
	figure(f.TTFT.Times(1000), &v.Unloaded, &v.UnloadedLow, &v.UnloadedHigh)
	v.PrefillFLOPsFraction = rounded(f.FLOPsFraction)
	q.plainBuild(in, table, test, f.Prefill.Mid)
	q.together(v, predictor, test, int64(p.Sequences))
	q.price(v, q.total(v), len(in.Stages))
	return nil
}

// streamed compiles the times of the plan. The table is one's own where there is a calibration, which v then tells.
func (q *question) streamed(v *Speed) (in stream.Input, table *coef.Table, p *stream.Predictor, err error) {
	sharer, ok := q.sizer.(engine.Sharer)
	if !ok {
		return in, nil, nil, fmt.Errorf("who computes what with %s is not known", q.engine.Name())
	}
	stages, err := q.stages(sharer)
	if err != nil {
		return in, nil, nil, err
	}
	in = stream.Input{Model: q.job.Model, Weights: q.job.Weights, Stages: stages, Engine: streamEngine(q.engine.Name()), Built: q.built(), Flash: flash(sharer.Flash()),
		UBatch: int64(q.request.UBatch), KVBytes: q.kvBytes()}
	if in.Work, err = q.work(in.KVBytes); err != nil {
		return in, nil, nil, err
	}
	in.Variant = stream.Usual(in.Engine, stages[0].Backend, stages[0].Device)
	if table, err = q.streamTable(v, stages); err != nil {
		return in, nil, nil, err
	}
	m, err := stream.Compile(in)
	if err != nil {
		return in, nil, nil, err
	}
	if q.brief {
		return in, table, m.Mids(table), nil
	}
	return in, table, m.With(table), nil
}

// workKey is what a model's work hangs on.
type workKey struct {
	model   *model.Model
	weights *model.Weights
	kvBytes float64
}

// work of the question's model, once for all plans with the same weights.
func (q *question) work(kvBytes float64) (*stream.Work, error) {
	type summed struct {
		work *stream.Work
		err  error
	}
	s := engine.Once(q.job, workKey{q.job.Model, q.job.Weights, kvBytes}, func() (s summed) {
		s.work, s.err = stream.WorkOf(q.job.Model, q.job.Weights, kvBytes)
		return s
	})
	return s.work, s.err
}

// together answers for all users of the plan, who share each step.
func (q *question) together(v *Speed, p *stream.Predictor, test stream.Test, users int64) {
	l := p.Loop(test, max(1, users))
	looped(v, &l)
	total := l.PerToken.Inverse()
	if users > 1 {
		total = l.Throughput
		q.job.Note("users_assumed", "warn", "sequences", "speeds of %d users together are assumed from those of one, with a wide band: nobody's measurements of several go into the fit", users)
	}
	figure(total, &v.Total, &v.TotalLow, &v.TotalHigh)
	v.Bound, v.BandwidthFraction = l.Bound, rounded(l.BandwidthFraction)
	q.parted(v, l.Parts, unlisted(l.Parts, l.PerToken.Mid))
	if q.explain != nil {
		q.explain.timing, q.explain.assumed = p.Formulas(test, users), users > 1
	}
}

// looped writes what a user waits for.
func looped(v *Speed, l *stream.Loop) {
	figure(l.First.Times(1000), &v.TTFT, &v.TTFTLow, &v.TTFTHigh)
	figure(l.PerToken.Times(1000), &v.TPOT, &v.TPOTLow, &v.TPOTHigh)
	figure(l.PerToken.Inverse(), &v.Decode, &v.DecodeLow, &v.DecodeHigh)
}

// total is that figure again, for prices.
func (q *question) total(v *Speed) speed.Figure {
	if v.Total == nil {
		return speed.Figure{}
	}
	return speed.Figure{Mid: *v.Total, Low: *v.TotalLow, High: *v.TotalHigh}
}

// built is when the plan's version came out, in years; 0 where the plan names none: a build of today.
func (q *question) built() float64 {
	if b, ok := q.engine.(interface{ Built(engine.Version) float64 }); ok && q.job.Version != q.engine.Latest() {
		return b.Built(q.job.Version)
	}
	return 0
}

// muchSlower is the factor from which on how a program was built is worth a note.
const muchSlower = 1.3

// plainBuild notes how much slower the plain build is where people run another one.
func (q *question) plainBuild(in stream.Input, table *coef.Table, test stream.Test, usual float64) {
	words := strings.Join(in.Variant, " and ")
	if in.Variant == nil || test.Prompt == 0 {
		return
	}
	in.Variant = nil
	m, err := stream.Compile(in)
	if err != nil {
		return
	}
	if slower := m.With(table).Predict(stream.Test{Prompt: test.Prompt}).Prefill.Mid / usual; slower > muchSlower {
		q.job.Note("build_assumed", "info", "engine", "a build with %s is assumed: without them prompts take %s times as long on %s", words, unit.Significant(slower, 2), in.Stages[0].Device.Name)
	}
}

// streamEngine is what measurements call an engine.
func streamEngine(name string) string {
	if name == "llama-server" {
		return "llama.cpp"
	}
	return name
}

// flash is how measurements say whether attention is fused.
func flash(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// kvBytes is the mean width of a cached number.
func (q *question) kvBytes() float64 {
	bits := func(name string) float64 {
		if f := dtype.FindFormat(name); f != nil {
			return f.Bits()
		}
		return 16
	}
	k := bits(q.request.KV)
	return (k + bits(cmp.Or(q.request.KVV, q.request.KV))) / 16
}

// stages are the devices that compute, in order, and the host's processor where it has a share.
func (q *question) stages(sharer engine.Sharer) ([]stream.Stage, error) {
	var out []stream.Stage
	for _, s := range sharer.Shares() {
		st := stream.Stage{Backend: s.Backend, Dense: s.Dense, Experts: s.Experts, Head: s.Head}
		if s.Device == engine.Host {
			d, threads := q.processor()
			if d == nil {
				return nil, fmt.Errorf("nobody says how fast the host's memory is: --on …,host=64GiB@80GB/s")
			}
			st.Device, st.Threads = d, threads
		} else {
			st.Device = q.job.Device(int64(s.Device))
		}
		out = append(out, st)
	}
	return out, nil
}

// processor is the host's, with its memory's rate.
func (q *question) processor() (*hardware.Device, float64) {
	m := q.job.Machine
	if m == nil {
		return nil, 0
	}
	if d := q.job.Device(0); d != nil && (d.IsCPU() || d.Unified != nil) {
		return d, 0
	}
	d := &hardware.Device{ID: "host", Name: "host", Form: "CPU", Architecture: "host", Bandwidth: m.Host.Bandwidth, SMs: m.Host.Cores}
	if !d.Bandwidth.Known {
		d.Bandwidth = hardware.Fact[unit.ByteRate]{Value: hardware.DesktopRate, Known: true, Basis: ledger.Assumed}
		q.job.Note("host_rate", "warn", "hardware", "the host's memory is assumed to be read at %s, as two channels of DDR5-5600 are; host=64GiB@90GB/s says it", hardware.DesktopRate)
	}
	threads := 0.0
	if m.Host.Cores.Known {
		threads = float64(m.Host.Cores.Value)
	}
	return d, threads
}
