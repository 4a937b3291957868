package memwall

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// stream answers for engines that are measured with one stream at a time: llama.cpp and its kin.
func (q *question) stream(v *Speed) error {
	stages, err := q.stages()
	if err != nil {
		return err
	}
	p := q.request.Plan
	m, err := stream.Compile(stream.Input{Model: q.job.Model, Weights: q.job.Weights, Stages: stages, Engine: streamEngine(q.engine.Name()), Flash: flash(p.Attention),
		UBatch: int64(p.UBatch), KVBytes: q.kvBytes()})
	if err != nil {
		return err
	}
	table, err := q.streamTable(v, stages)
	if err != nil {
		return err
	}
	predictor := m.With(table)
	if v.RestsOn == "" {
		v.RestsOn = predictor.RestsOn()
	}
	f := predictor.Predict(stream.Test{Prompt: int64(p.PromptTokens), Generated: int64(p.OutputTokens)})
	figure(f.Prefill.Inverse(), &v.Prefill, &v.PrefillLow, &v.PrefillHigh)
	figure(f.TTFT.Times(1000), &v.Unloaded, &v.UnloadedLow, &v.UnloadedHigh)
	total := speed.Figure{}
	if p.Sequences <= 1 {
		total = f.Decode.Inverse()
		figure(f.TTFT.Times(1000), &v.TTFT, &v.TTFTLow, &v.TTFTHigh)
		figure(f.Decode.Times(1000), &v.TPOT, &v.TPOTLow, &v.TPOTHigh)
		figure(f.Decode.Inverse(), &v.Decode, &v.DecodeLow, &v.DecodeHigh)
		figure(total, &v.Total, &v.TotalLow, &v.TotalHigh)
	}
	v.Bound, v.BandwidthFraction, v.PrefillFLOPsFraction = f.Bound, rounded(f.BandwidthFraction), rounded(f.FLOPsFraction)
	q.parted(v, f.Parts, 1000*f.Decode.Mid)
	q.price(v, total, len(stages))
	return nil
}

// streamEngine is what measurements call an engine.
func streamEngine(name string) string {
	switch name {
	case "llama-server":
		return "llama.cpp"
	}
	return name
}

// flash is how attention runs: "1" with flash attention, which engines choose by themselves where they can.
func flash(attention string) string {
	if attention == "eager" {
		return "0"
	}
	return "1"
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
func (q *question) stages() ([]stream.Stage, error) {
	sharer, ok := q.sizer.(engine.Sharer)
	if !ok {
		return []stream.Stage{{Backend: backends[q.job.Device(0).Vendor], Device: q.job.Device(0), Dense: 1, Experts: 1, Head: 1}}, nil
	}
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

var backends = map[string]string{"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "sycl"}

// desktop is the memory rate of a host that nobody described: two channels of DDR5-5600.
const desktop = unit.ByteRate(89.6e9)

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
		d.Bandwidth = hardware.Fact[unit.ByteRate]{Value: desktop, Known: true, Basis: ledger.Assumed}
		q.job.Note("host_rate", "warn", "hardware", "the host's memory is assumed to be read at %s, as two channels of DDR5-5600 are; host=64GiB@90GB/s says it", desktop)
	}
	threads := 0.0
	if m.Host.Cores.Known {
		threads = float64(m.Host.Cores.Value)
	}
	return d, threads
}
