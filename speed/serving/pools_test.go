package serving_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
)

func pools(t *testing.T, prefills, decodes int64) *serving.Pools {
	t.Helper()
	machine, _, err := hardware.Parse("16xh200", 0)
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, plan(t, "deepseek-v3", "fp8-block", "h200", shard.Parallel{TP: 8}))
	return serving.NewPools(m, m, serving.Split{Prefills: prefills, Decodes: decodes, Wire: serving.Wire(&machine)})
}

// TestPoolsShareTheLoad: more workers for prompts shorten the wait for the first token, more that generate the others;
// more users lengthen both.
func TestPoolsShareTheLoad(t *testing.T) {
	l := serving.Load{Users: 256, Prompt: 8000, Output: 1000, Burst: true}
	base, prompts, decodes := pools(t, 1, 1).Mean(l), pools(t, 3, 1).Mean(l), pools(t, 1, 3).Mean(l)
	if prompts.First >= base.First || decodes.PerToken >= base.PerToken || prompts.Throughput <= base.Throughput {
		t.Errorf("1:1 %+v, 3:1 %+v, 1:3 %+v", base, prompts, decodes)
	}
	var last serving.Closed
	for users := int64(1); users <= 1024; users *= 2 {
		l.Users = users
		c := pools(t, 1, 2).Mean(l)
		if c.First < last.First || c.PerToken < last.PerToken*(1-1e-9) {
			t.Errorf("%d users: %+v after %+v", users, c, last)
		}
		last = c
	}
}

// TestPoolsAreBoundByTheSlower: no more requests are answered than the pool of prompts computes.
func TestPoolsAreBoundByTheSlower(t *testing.T) {
	p := pools(t, 1, 8)
	m := compile(t, plan(t, "deepseek-v3", "fp8-block", "h200", shard.Parallel{TP: 8}))
	l := serving.Load{Users: 2048, Prompt: 8000, Output: 100}
	each := m.Step(speed.Batch{Prefill: 8000, Prompts: 1, Finished: 1})
	f := p.Closed(l)
	if requests := f.Throughput.Mid / 100; requests > 1/each*1.01 || requests < 0.9/each {
		t.Errorf("%g requests a second, a prompt takes %g s", requests, each)
	}
	if want := speed.Largest(m.Parts(speed.Batch{Prefill: 8000, Prompts: 1, Finished: 1})); f.Bound != want {
		t.Errorf("users that queue for prompts, which wait for %s, are bound by %s", want, f.Bound)
	}
	if !(f.First.Low < f.First.Mid && f.First.Mid < f.First.High) || f.FirstUnloaded.Mid >= f.First.Mid {
		t.Errorf("first token %+v, alone %+v", f.First, f.FirstUnloaded)
	}
}

// TestPoolsElasticities: what each figure gains for a coefficient is what the figures themselves say, with as many
// sequences decoding.
func TestPoolsElasticities(t *testing.T) {
	p := pools(t, 1, 1)
	l := serving.Load{Users: 4, Prompt: 2000, Output: 4000, Burst: true}
	was, e := p.Elasticities(l)
	for i, u := range p.Uses() {
		c := p.Values()
		c[i] *= 1.0001
		is := p.With(c).Mean(l)
		for _, x := range []struct {
			name      string
			got, want float64
		}{{"per token", e.PerToken[i], math.Log(is.PerToken/was.PerToken) / math.Log(1.0001)}, {"first", e.First[i], math.Log(is.First/was.First) / math.Log(1.0001)}} {
			if math.Abs(x.got-x.want) > 0.01+0.02*math.Abs(x.want) {
				t.Errorf("%s gains %g for %s, the slope says %g", x.name, x.want, u.Name, x.got)
			}
		}
	}
}
