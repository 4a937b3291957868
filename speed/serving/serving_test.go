package serving_test

import (
	"github.com/memwall/memwall/drafts"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

// plan of a catalog model on a device.
func plan(t testing.TB, id, recipe, device string, p shard.Parallel) *serving.In {
	t.Helper()
	m := catalogtest.Model(t, id)
	w := m.Store(dtype.FindRecipe(recipe))
	ranks, err := engine.Place(m.Decoder(), &w.Parts[0], p)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := hardware.Find(device)
	if err != nil {
		t.Fatal(err)
	}
	in := &serving.In{Model: m, Device: d, Engine: "vllm", Exec: model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}}
	for _, r := range ranks {
		if r.Stage == len(in.Stages) {
			in.Stages = append(in.Stages, r)
		}
	}
	return in
}

func compile(t testing.TB, in *serving.In) *serving.Model {
	t.Helper()
	m, err := serving.Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var grid = []struct {
	id, recipe, device string
	p                  shard.Parallel
}{
	{"llama-3.1-8b", "bf16", "h100", shard.Parallel{}},
	{"llama-3.1-70b", "fp8", "h200", shard.Parallel{TP: 4}},
	{"llama-3.1-70b", "nvfp4", "b200", shard.Parallel{TP: 2}},
	{"gpt-oss-120b", "mxfp4", "b200", shard.Parallel{TP: 2}},
	{"deepseek-v3", "fp8-block", "b200", shard.Parallel{TP: 8, EP: 8}},
	{"deepseek-v3", "fp8-block", "h200", shard.Parallel{TP: 1, EP: 8}},
	{"deepseek-v3.2", "fp8-block", "b200", shard.Parallel{TP: 8}},
	{"qwen3-next-80b-a3b", "bf16", "h100", shard.Parallel{TP: 4}},
	{"gemma-3-27b", "awq", "rtx-4090", shard.Parallel{TP: 2}},
	{"qwen2.5-32b", "int8", "l40s", shard.Parallel{TP: 2, PP: 2}},
	{"mixtral-8x7b", "bf16", "mi300x", shard.Parallel{TP: 2}},
}

// TestNoFasterThanTheDatasheet: the weights that a step must read take their bytes over the bandwidth, and the
// products their operations over the peak.
func TestNoFasterThanTheDatasheet(t *testing.T) {
	for _, c := range grid {
		in := plan(t, c.id, c.recipe, c.device, c.p)
		m := compile(t, in)
		for _, b := range []speed.Batch{{Decodes: 1, Context: 100}, {Decodes: 64, Context: 4000}, {Decodes: 7, Context: 900, Prefill: 2048, Prompts: 1, Finished: 1}, {Prefill: 8192, Prompts: 4, Finished: 4}} {
			if got, least := m.Step(b), floor(in, b); got < least || math.IsNaN(got) || math.IsInf(got, 0) {
				t.Errorf("%s %s on %s, %+v: %g s, the datasheet allows %g", c.id, c.recipe, c.device, b, got, least)
			}
		}
	}
}

// TestBandsNoFasterThanTheDatasheet: the fast edge of a band is possible too, and on its own side of the middle.
func TestBandsNoFasterThanTheDatasheet(t *testing.T) {
	for _, c := range grid {
		in := plan(t, c.id, c.recipe, c.device, c.p)
		m := compile(t, in)
		for _, users := range []int64{1, 16} {
			l := serving.Load{Users: users, Prompt: 1024, Output: 256}
			f := m.Closed(l)
			if least := floor(in, m.Decoding(l)) / f.Expected; f.PerToken.Low < least {
				t.Errorf("%s %s on %s, %d users: %v a token, the datasheet allows %g s", c.id, c.recipe, c.device, users, f.PerToken, least)
			}
			for _, x := range []speed.Figure{f.PerToken, f.First, f.FirstUnloaded, f.Throughput} {
				if x.Low > x.Mid || x.High < x.Mid {
					t.Errorf("%s %s on %s, %d users: the band of %v is turned round", c.id, c.recipe, c.device, users, x)
				}
			}
		}
	}
}

// floor of a step: dense weights over the bandwidth, or all operations at the highest peak that the device has.
func floor(in *serving.In, b speed.Batch) float64 {
	bytes, flops := 0.0, 0.0
	for i := range in.Stages {
		r, kernels := speed.Kernels(in.Model, &in.Stages[i], in.Exec)
		p := r.Points(b)
		for j := range kernels {
			k := &kernels[j]
			if k.Moe == nil && k.Op.Kind == model.Linear {
				bytes += float64(k.Count) * float64(k.Bytes)
			}
			_, _, both := k.Cost(&p)
			flops += float64(k.Count) * float64(both.FLOPs)
		}
	}
	peak := 0.0
	for _, f := range []string{"fp4", "fp8", "int8", "bf16"} {
		peak = math.Max(peak, float64(in.Device.Peaks.At(f).Value))
	}
	return math.Max(bytes/float64(in.Device.Bandwidth.Value), flops/peak)
}

// TestMoreTakesLonger: a step of more sequences, of longer contexts or with more of a prompt takes no less.
func TestMoreTakesLonger(t *testing.T) {
	for _, c := range grid {
		m := compile(t, plan(t, c.id, c.recipe, c.device, c.p))
		for _, grow := range []func(n int64) speed.Batch{
			func(n int64) speed.Batch { return speed.Batch{Decodes: n, Context: 1000} },
			func(n int64) speed.Batch { return speed.Batch{Decodes: 8, Context: 16 * n} },
			func(n int64) speed.Batch { return speed.Batch{Prefill: n, Prompts: 1, Finished: 1} },
			func(n int64) speed.Batch { return speed.Batch{Decodes: 16, Context: 500, Prefill: n, Prompts: 1} },
		} {
			last, at := 0.0, int64(0)
			for n := int64(1); n < 5000; n += 1 + n/5 {
				if s := m.Step(grow(n)); s < last*(1-1e-9) {
					t.Errorf("%s on %s: %+v takes %g s, %d less", c.id, c.device, grow(n), s, at)
				} else {
					last, at = s, n
				}
			}
		}
	}
}

// TestPartsAreTheStep: what a step spends its time on sums to it.
func TestPartsAreTheStep(t *testing.T) {
	for _, c := range grid {
		in := plan(t, c.id, c.recipe, c.device, c.p)
		for _, eager := range []bool{false, true} {
			in.Eager = eager
			m := compile(t, in)
			for _, b := range []speed.Batch{{Decodes: 1, Context: 100}, {Decodes: 64, Context: 4000, Prefill: 512, Prompts: 1, Finished: 1}} {
				sum := 0.0
				for _, p := range m.Parts(b) {
					sum += p.Seconds
				}
				if s := m.Step(b); math.Abs(sum/s-1) > 1e-9 {
					t.Errorf("%s: parts sum to %g, the step takes %g", c.id, sum, s)
				}
			}
		}
	}
}

// TestElasticities: what each figure gains for a coefficient is what the figures themselves say.
func TestElasticities(t *testing.T) {
	for _, c := range grid {
		m := compile(t, plan(t, c.id, c.recipe, c.device, c.p))
		l := serving.Load{Users: 24, Prompt: 9000, Output: 300, Burst: true}
		was, e := m.Elasticities(l)
		for i, u := range m.Uses() {
			c := m.Values()
			c[i] *= 1.0001 // as little as the slopes: at the rate of the datasheet a coefficient has a kink
			is := m.With(c).Mean(l)
			for _, x := range []struct {
				name      string
				got, want float64
			}{{"per token", e.PerToken[i], math.Log(is.PerToken/was.PerToken) / math.Log(1.0001)}, {"first", e.First[i], math.Log(is.First/was.First) / math.Log(1.0001)}} {
				if math.Abs(x.got-x.want) > 0.01+0.02*math.Abs(x.want) {
					t.Errorf("%s: %s gains %g for %s, the slope says %g", "a plan", x.name, x.want, u.Name, x.got)
				}
			}
		}
	}
}

// TestClosedLoop: more users wait longer and get more in all; those that find no room wait for it.
func TestClosedLoop(t *testing.T) {
	for _, name := range []string{"vllm", "sglang", "tensorrt-llm"} {
		in := plan(t, "llama-3.1-70b", "fp8", "h100", shard.Parallel{TP: 4})
		in.Engine, in.CacheTokens = name, 100_000
		m := compile(t, in)
		var last serving.Figures
		for users := int64(1); users <= 512; users *= 2 {
			f := m.Closed(serving.Load{Users: users, Prompt: 1024, Output: 256})
			if f.PerToken.Mid < last.PerToken.Mid || f.First.Mid < last.First.Mid || f.Throughput.Mid < last.Throughput.Mid*0.98 {
				t.Errorf("%s, %d users: %+v after %+v", name, users, f, last)
			}
			if !(f.PerToken.Low < f.PerToken.Mid && f.PerToken.Mid < f.PerToken.High) {
				t.Errorf("%s: band %+v", name, f.PerToken)
			}
			if f.FirstUnloaded.Mid > f.First.Mid {
				t.Errorf("%s: alone the first token takes %g s, with others %g", name, f.FirstUnloaded.Mid, f.First.Mid)
			}
			last = f
		}
		if last.Bound != speed.Capacity || last.Batch > 100 {
			t.Errorf("%s: 512 users in room for %g are bound by %s", name, last.Batch, last.Bound)
		}
	}
}

// TestSpeculation: at an acceptance of 0.8 four drafted tokens give (1 - 0.8^5) / 0.2 = 3.36 tokens of a step that
// takes little longer; none accepted, they cost.
func TestSpeculation(t *testing.T) {
	in := plan(t, "llama-3.1-70b", "bf16", "h100", shard.Parallel{TP: 4})
	l := serving.Load{Users: 1, Prompt: 512, Output: 256}
	plain := compile(t, in).Closed(l).PerToken.Mid
	four := drafts.Shape{Tokens: 4}
	in.Speculation = serving.Verifying(four, four.Survival(0.8))
	if e := in.Speculation.Expected(); math.Abs(e-3.3616) > 1e-4 {
		t.Errorf("%g tokens expected, want 3.3616", e)
	}
	if got := plain / compile(t, in).Closed(l).PerToken.Mid; got < 2.8 || got > 3.3616 {
		t.Errorf("speculation gives %.2f times", got)
	}
	in.Speculation.Draft = compile(t, plan(t, "llama-3.2-1b", "bf16", "h100", shard.Parallel{TP: 4}))
	drafted := plain / compile(t, in).Closed(l).PerToken.Mid
	if drafted < 1.2 || drafted > 2.8 {
		t.Errorf("with a draft model %.2f times", drafted)
	}
	in.Speculation.Accepted = nil
	if got := plain / compile(t, in).Closed(l).PerToken.Mid; got >= 1 {
		t.Errorf("a draft that is never right gives %.2f times", got)
	}
}

// TestPipeline: two stages halve no token's latency, but serve more users than one device's memory would.
func TestPipeline(t *testing.T) {
	one := compile(t, plan(t, "llama-3.1-70b", "fp8", "h100", shard.Parallel{TP: 2}))
	two := compile(t, plan(t, "llama-3.1-70b", "fp8", "h100", shard.Parallel{TP: 2, PP: 2}))
	b := speed.Batch{Decodes: 1, Context: 1000}
	if r := two.Step(b) / one.Step(b); r < 1 || r > 1.1 {
		t.Errorf("a step over two stages takes %.3f times as long", r)
	}
	l := serving.Load{Users: 64, Prompt: 1000, Output: 200}
	if r := two.Closed(l).Throughput.Mid / one.Closed(l).Throughput.Mid; r < 1 || r > 2 {
		t.Errorf("two stages give %.2f times the tokens", r)
	}
}

// TestHeldBack: tokens sent together, rare looks for new requests and prompts that wait for others hold the first
// token back, by no more than the steps that they name, and leave the others as they are.
func TestHeldBack(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "h100", shard.Parallel{})
	l := serving.Load{Users: 8, Prompt: 512, Output: 2048}
	plain := compile(t, in).Closed(l)
	for _, c := range []struct {
		name        string
		set         func(*serving.In)
		least, most float64 // steps
	}{
		{"stream_interval 20", func(in *serving.In) { in.StreamInterval = 20 }, 0.1, 19},
		{"scheduler_recv_interval 31", func(in *serving.In) { in.AdmitEvery = 31 }, 14.9, 15.1},
		{"batch_wait_timeout_iters 20", func(in *serving.In) { in.BatchWait = 20 }, 2, 20},
	} {
		slow := *in
		c.set(&slow)
		f := compile(t, &slow).Closed(l)
		if steps := (f.First.Mid - plain.First.Mid) / plain.Step; steps < c.least || steps > c.most*plain.PerToken.Mid/plain.Step {
			t.Errorf("%s: the first token comes %.2f steps later, want %g to %g", c.name, steps, c.least, c.most)
		}
		if f.PerToken.Mid != plain.PerToken.Mid {
			t.Errorf("%s: the others take %g s, were %g", c.name, f.PerToken.Mid, plain.PerToken.Mid)
		}
	}
}

// TestBurst: the first requests of all users wait for each other, so that the first token of a run with fewer requests comes later in the
// mean; where prompts have steps of their own and all lengths are alike, every request does, and waits for half of the batch.
func TestBurst(t *testing.T) {
	in := plan(t, "qwen3-32b", "bf16", "h100", shard.Parallel{TP: 2})
	for _, name := range []string{"vllm", "sglang"} {
		in.Engine = name
		m := compile(t, in)
		l := serving.Load{Users: 64, Prompt: 1024, Output: 256, Burst: true}
		last := m.Mean(serving.Load{Users: 64, Prompt: 1024, Output: 256}).First
		for _, requests := range []int64{10_000, 0, 320, 64} {
			l.Requests = requests
			if f := m.Mean(l).First; f <= last {
				t.Errorf("%s, %d requests: the first token takes %g s, of a longer run %g", name, requests, f, last)
			} else {
				last = f
			}
		}
		l.Requests = 0
		varied := m.Mean(l)
		l.Alike = true
		alike := m.Mean(l)
		waves := m.Step(speed.Batch{Prefill: 8192, Prompts: 8, Finished: 8}) * 64 / 8 / 2
		if alone := name == "sglang"; alone && (alike.First < waves || alike.PerToken >= varied.PerToken) || !alone && alike != varied {
			t.Errorf("%s: %+v of requests that are alike, %+v of others; half of the prompts take %g s", name, alike, varied, waves)
		}
	}
}

// TestPromptsAreLaunched: a step with a prompt of a few tokens takes what Python takes to launch its kernels, and a long prompt what
// they compute.
func TestPromptsAreLaunched(t *testing.T) {
	m := compile(t, plan(t, "llama-3.1-8b", "bf16", "h100", shard.Parallel{}))
	few, decode := m.Step(speed.Batch{Prefill: 4, Prompts: 1, Finished: 1}), m.Step(speed.Batch{Decodes: 4, Context: 4})
	if few < 1.5*decode {
		t.Errorf("a prompt of 4 tokens takes %g s, 4 sequences from a graph %g", few, decode)
	}
	long, double := m.Step(speed.Batch{Prefill: 8192, Prompts: 1, Finished: 1}), m.Step(speed.Batch{Prefill: 16384, Prompts: 2, Finished: 1})
	if r := double / long; r < 1.9 || r > 2.1 {
		t.Errorf("two prompts of 8,192 tokens take %.2f times as long as one", r)
	}
}

// TestStatic: a batch of one is a prompt and its steps; rounds follow each other when the caches are full.
func TestStatic(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "h100", shard.Parallel{})
	m := compile(t, in)
	l := serving.Load{Users: 1, Prompt: 512, Output: 128}
	if got, want := m.Static(l).First, m.Step(speed.Batch{Prefill: 512, Prompts: 1, Finished: 1}); got != want {
		t.Errorf("a prompt takes %g s, its step %g", got, want)
	}
	l.Users = 64
	whole := m.Static(l)
	in.CacheTokens = 16 * (512 + 64)
	quarter := compile(t, in).Static(l)
	if quarter.Total <= whole.Total {
		t.Errorf("room for 16 of 64 takes %g s, for all %g", quarter.Total, whole.Total)
	}
	if n := compile(t, in).Most(512, 128).Users; n != 16 {
		t.Errorf("the most users are %d, want 16", n)
	}
}

// TestRefuses: a device whose rates nobody knows.
func TestRefuses(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "h100", shard.Parallel{})
	bare := *in.Device
	bare.Bandwidth.Known = false
	in.Device = &bare
	if _, err := serving.Compile(in); err == nil || !strings.Contains(err.Error(), "bandwidth") {
		t.Errorf("error %v", err)
	}
	bare = hardware.Device{ID: "x"}
	bare.Bandwidth.Known = true
	if _, err := serving.Compile(in); err == nil || !strings.Contains(err.Error(), "peak") {
		t.Errorf("error %v", err)
	}
	in.Device = nil
	if _, err := serving.Compile(in); err == nil {
		t.Error("a plan on nothing was taken")
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range grid[:5] {
		m := compile(b, plan(b, c.id, c.recipe, c.device, c.p))
		b.Run(c.id+" "+c.recipe, func(b *testing.B) {
			for b.Loop() {
				m.Step(speed.Batch{Decodes: 32, Context: 2000, Prefill: 512, Prompts: 1, Finished: 1})
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range grid[:5] {
		in := plan(b, c.id, c.recipe, c.device, c.p)
		b.Run(c.id+" "+c.recipe, func(b *testing.B) {
			for b.Loop() {
				m, err := serving.Compile(in)
				if err != nil {
					b.Fatal(err)
				}
				m.Closed(serving.Load{Users: 32, Prompt: 1024, Output: 256})
			}
		})
	}
}

// TestBoundOfAStep: what helps a step is named by the nearer roof. A mixture at one user leaves its tiles empty, and
// waits for memory or for launches, not for arithmetic; long prompts wait for arithmetic.
func TestBoundOfAStep(t *testing.T) {
	for _, id := range []string{"gpt-oss-120b", "deepseek-v3"} {
		recipe := map[string]string{"gpt-oss-120b": "mxfp4", "deepseek-v3": "fp8-block"}[id]
		m := compile(t, plan(t, id, recipe, "h200", shard.Parallel{TP: 8}))
		for _, p := range m.Parts(speed.Batch{Decodes: 1, Context: 1000}) {
			if p.Bound == speed.Compute {
				t.Errorf("%s at one user: %s waits for arithmetic", id, p.Name)
			}
		}
	}
	for _, id := range []string{"gpt-oss-120b", "llama-3.1-70b"} {
		m := compile(t, plan(t, id, map[string]string{"gpt-oss-120b": "mxfp4", "llama-3.1-70b": "bf16"}[id], "h200", shard.Parallel{}))
		if b := speed.Largest(m.Parts(speed.Batch{Prefill: 8192, Prompts: 1, Finished: 1})); b != speed.Compute {
			t.Errorf("%s: a prompt of 8,192 tokens waits for %s", id, b)
		}
	}
}

// TestFractionsOfDies: a program sees each die of an MI250 as a device, and reaches shares of its rates, not of the board's.
func TestFractionsOfDies(t *testing.T) {
	in := plan(t, "llama-3.1-8b", "bf16", "mi250", shard.Parallel{})
	m := compile(t, in)
	b := speed.Batch{Decodes: 1, Context: 1000}
	read := 0.0
	for i := range in.Stages {
		read += float64(speed.Walk(in.Model, &in.Stages[i], in.Exec, nil).Weights)
	}
	die := float64(in.Device.Bandwidth.Value) / float64(in.Device.Dies)
	if memory, _ := m.Fractions(b); in.Device.Dies != 2 || math.Abs(memory-read/die/m.Step(b)) > 0.1*memory {
		t.Errorf("one die of %d reads %.3g of its rate, its weights alone take %.3g", in.Device.Dies, memory, read/die/m.Step(b))
	}
}
