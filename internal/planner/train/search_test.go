package train

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
)

// trainAsk is a question for plans that train.
func trainAsk(model, on string, more func(*api.Request)) *api.Request {
	r := &api.Request{Ask: api.AskPlan, For: api.AskTrain, Model: model, Hardware: on}
	r.SequenceLength, r.Tokens = 4096, 1e9
	if more != nil {
		more(r)
	}
	return r
}

// trainAsked are spaces small enough to go through by hand.
var trainAsked = []*api.Request{
	trainAsk("llama-3.1-8b", "8xh100", func(r *api.Request) { r.Framework = "megatron" }),
	trainAsk("llama-3.1-8b", "8xh100", func(r *api.Request) { r.Framework, r.GlobalBatch = "megatron", 32 }),
	trainAsk("llama-3.1-8b", "16xa100-sxm-80gb", func(r *api.Request) { r.Framework, r.TP = "torchtitan", 2 }),
	trainAsk("llama-3.1-8b", "4xh100", func(r *api.Request) { r.Framework = "deepspeed" }),
	trainAsk("llama-3.1-70b", "2xrtx-4090,host=256GiB", func(r *api.Request) { r.Method = "qlora" }),
	trainAsk("llama-3.1-8b", "rtx-4090", func(r *api.Request) { r.Method = "lora,qlora" }),
	trainAsk("llama-3.1-8b", "rtx-3060-12gb", func(r *api.Request) { r.Method = "full,lora,qlora" }),
	trainAsk("llama-3.1-8b", "8xh100,8xa100-sxm-80gb",
		func(r *api.Request) { r.Framework, r.Goal = "megatron", &api.Goal{Minimize: "cost"} }),
	trainAsk("mixtral-8x7b", "16xh100", func(r *api.Request) { r.Framework, r.PP = "megatron", 1 }),
	trainAsk("llama-3.1-70b", "64xh100", func(r *api.Request) {
		r.Framework, r.Among = "megatron", map[string][]plan.Int{"tp": {2, 8}, "pp": {2, 4}, "vpp": {2, 4, 8}}
	}),
	trainAsk("llama-3.1-8b", "h100", func(r *api.Request) {
		r.Framework, r.MaxDevices, r.Goal = "megatron", 8, &api.Goal{Minimize: "devices"}
	}),
}

// TestTrainPlansByHand: what a search finds is what going through all plans finds: the best ones, and the front.
func TestTrainPlansByHand(t *testing.T) {
	sized, sizedByHand := 0, 0
	for _, r := range trainAsked {
		all := byHand(t, r)
		if all.kept.number == 0 {
			t.Fatalf("%s on %s: nothing fits", r.Model, r.Hardware)
		}
		f, err := tryPlans(context.Background(), spaceOf(t, r))
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, a, b []*candidate) {
			if x, y := figuresOf(a), figuresOf(b); !slices.Equal(x, y) {
				t.Errorf("%s on %s: %s\n%s\nby hand\n%s", r.Model, r.Hardware, what, strings.Join(x, "\n"), strings.Join(y, "\n"))
			}
		}
		same("best", f.kept.best, all.kept.best)
		slices.SortFunc(f.kept.front, f.kept.order)
		slices.SortFunc(all.kept.front, f.kept.order)
		same("front", f.kept.front, all.kept.front)
		sized, sizedByHand = sized+f.evaluated.Full, sizedByHand+all.evaluated.Full
	}
	if t.Logf("%d plans sized, by hand %d", sized, sizedByHand); 2*sized > sizedByHand {
		t.Errorf("%d of %d plans are sized: bounds decide little", sized, sizedByHand)
	}
}

// TestStages: a card that holds nothing as frameworks come gets a chunked loss before states on the host, whose memory is what
// such a host usually has unless it is given, and adapters where full training fits nowhere.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		model, on, method string
		best              string // its first words; empty if none fits
		lighter           string
	}{
		{"llama-3.1-8b", "rtx-3060-12gb", "qlora", "transformers, micro-batch 1, recompute full, fused loss", ""},
		{"llama-3.1-8b", "rtx-3060-12gb", "full", "", "--method qlora"},
		{"llama-3.1-8b", "rtx-3060-12gb,host=256GiB", "full", "deepspeed, zero3", ""},
		{"llama-3.1-8b", "rtx-4090", "", "", "--method lora"},
		{"gpt-oss-20b", "rtx-4090", "qlora", "unsloth", ""}, // bitsandbytes leaves fused experts in 16 bits
	} {
		a, err := Plan(context.Background(), &question.Env{}, trainAsk(c.model, c.on, func(r *api.Request) { r.Method = c.method }))
		if err != nil {
			t.Fatal(err)
		}
		if fits := a.Best != nil; fits != (c.best != "") || fits && !strings.HasPrefix(a.Best.Change, c.best) {
			t.Errorf("%s on %s, %s: best is %v", c.model, c.on, c.method, a.Best)
		}
		i := slices.IndexFunc(a.Notes, func(n api.Note) bool { return n.Code == "lighter_method" })
		if (i >= 0) != (c.lighter != "") || i >= 0 && !strings.Contains(a.Notes[i].Text, c.lighter) {
			t.Errorf("%s on %s, %s: notes are %v", c.model, c.on, c.method, a.Notes)
		}
	}
}

// spaceOf a request.
func spaceOf(t testing.TB, r *api.Request) *space {
	t.Helper()
	asked, err := readTask(&question.Env{}, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSpace(asked)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// byHand asks for every plan of a space, none left out by what another says, and gives those that fit.
func byHand(t testing.TB, r *api.Request) *found {
	t.Helper()
	s := spaceOf(t, r)
	f := &found{space: s, kept: kept{want: s.want}, tally: tally{seen: map[string]bool{}}}
	for _, f.space = range s.stages() {
		for i := range f.sites {
			r := f.base
			f.sites[i].set(&r)
			f.eachByHand(&f.sites[i], &r, 0)
		}
		if f.kept.number > 0 {
			break
		}
	}
	return f
}

func (f *found) eachByHand(x *site, r *api.Request, from int) {
	if from < len(outerAxes) {
		settings := outerAxes[from].choose(f.space, x, r)
		if len(settings) == 0 {
			f.eachByHand(x, r, from+1)
		}
		for _, set := range settings {
			to := *r
			set(&to)
			f.eachByHand(x, &to, from+1)
		}
		return
	}
	for _, v := range f.chunksOf(r) {
		for _, m := range f.microsOf(r) {
			for _, w := range f.recomputesOf(virtual(r, v)) {
				to := virtual(r, v)
				to.MicroBatch, to.Recompute = m, w
				f.try(x, to)
			}
		}
	}
}

// figuresOf plans, without the order in which they were found.
func figuresOf(plans []*candidate) (out []string) {
	for _, p := range plans {
		out = append(out, fmt.Sprintf("%s, %s: %.6g s, $%.6g, %d", p.site.words(), p.words(&api.Request{}), p.perToken*1e9, p.perMillion,
			p.room))
	}
	return out
}
