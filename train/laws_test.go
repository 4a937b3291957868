package train_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

var lawModels = []string{"llama-3.1-8b", "mixtral-8x7b", "qwen3-30b-a3b", "granite-4.0-h-tiny", "deepseek-v2-lite", "gpt2", "gemma-2-9b"}

// kinds of runs that a law is tried on.
var lawRuns = []func(*plan.Plan, *plan.Training){
	func(_ *plan.Plan, t *plan.Training) {
		t.Framework, t.Precision, t.Sharding = "transformers", "bf16", "fsdp"
	},
	func(_ *plan.Plan, t *plan.Training) {
		t.Framework, t.Method, t.Sharding = "transformers", "lora", "fsdp"
	},
	func(_ *plan.Plan, t *plan.Training) {
		t.Framework, t.Method, t.Sharding = "transformers", "qlora", "ddp"
	},
	func(p *plan.Plan, t *plan.Training) { t.Framework, p.Attention = "deepspeed", "eager" },
	func(p *plan.Plan, t *plan.Training) { t.Framework, p.TP, t.GlobalBatch = "megatron", 2, 64 },
	func(p *plan.Plan, t *plan.Training) { t.Framework, p.PP, t.GlobalBatch = "megatron", 4, 64 },
	func(_ *plan.Plan, t *plan.Training) { t.Framework = "torchtitan" },
	func(_ *plan.Plan, t *plan.Training) { t.Framework, t.Method = "litgpt", "lora" },
}

func eachRun(t *testing.T, f func(t *testing.T, id string, run func(*plan.Plan, *plan.Training))) {
	for _, id := range lawModels {
		for i, run := range lawRuns {
			t.Run(fmt.Sprintf("%s/%d", id, i), func(t *testing.T) { f(t, id, run) })
		}
	}
}

func peak(t *testing.T, id string, run, more func(*plan.Plan, *plan.Training)) float64 {
	t.Helper()
	j := ask(t, id, "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
		q.SequenceLength, q.MicroBatch = 2048, 1
		run(p, q)
		more(p, q)
	})
	return size(t, j)[0].Allocated.Mid
}

// TestLongerAndLargerTakesMore: memory never falls as sequences grow longer or batches larger.
func TestLongerAndLargerTakesMore(t *testing.T) {
	eachRun(t, func(t *testing.T, id string, run func(*plan.Plan, *plan.Training)) {
		last := 0.0
		for _, s := range []plan.Int{512, 2048, 4096, 8192} {
			x := peak(t, id, run, func(_ *plan.Plan, q *plan.Training) { q.SequenceLength = s })
			if x < last {
				t.Errorf("%d tokens take %.0f bytes, fewer less", s, x)
			}
			last = x
		}
		last = 0
		for _, b := range []plan.Int{1, 2, 8} {
			x := peak(t, id, run, func(_ *plan.Plan, q *plan.Training) { q.MicroBatch, q.GlobalBatch = b, 0 })
			if x < last {
				t.Errorf("%d sequences take %.0f bytes, fewer less", b, x)
			}
			last = x
		}
	})
}

// TestRecomputeSaves: full recompute takes no more than selective, where the framework has it, and selective no more than none.
func TestRecomputeSaves(t *testing.T) {
	eachRun(t, func(t *testing.T, id string, run func(*plan.Plan, *plan.Training)) {
		last := 0.0
		for _, r := range []string{"full", "selective", "every:2", "none"} {
			j := ask(t, id, "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) { run(p, q); q.Recompute = r })
			if r == "selective" && train.Check(j) != nil {
				continue
			}
			x := peak(t, id, run, func(_ *plan.Plan, q *plan.Training) { q.Recompute = r; q.SequenceLength = 8192 })
			if r == "every:2" && x > peak(t, id, run, func(_ *plan.Plan, q *plan.Training) { q.Recompute = "none"; q.SequenceLength = 8192 }) {
				t.Errorf("half of the blocks again take more than none: %.0f", x)
			}
			if r != "every:2" {
				if x < last {
					t.Errorf("recompute %s takes %.0f bytes, more of it %.0f", r, x, last)
				}
				last = x
			}
		}
	})
}

// TestShardingSaves: the states of ZeRO-3 are no more than those of ZeRO-2, these than those of ZeRO-1, these than DDP's.
func TestShardingSaves(t *testing.T) {
	for _, id := range lawModels {
		last := 0.0
		for _, s := range []string{"zero3", "zero2", "zero1", "ddp"} {
			j := ask(t, id, "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Sharding = "deepspeed", s })
			x := 0.0
			r := &size(t, j)[0]
			for _, it := range r.Phases[3].Items {
				switch it.ID {
				case "weights", "gradients", "optimizer", "master_weights":
					x += float64(it.Bytes)
				}
			}
			if x < last {
				t.Errorf("%s: states of %s are %.0f bytes, those of more sharing %.0f", id, s, x, last)
			}
			last = x
		}
	}
}

// TestRanksSumToTheWhole: what all ranks of a group hold of weights, gradients and states, less the replicas that tensor
// parallelism declares, is what one rank holds alone.
func TestRanksSumToTheWhole(t *testing.T) {
	sum := func(j *train.Job) (weights, states float64) {
		for _, r := range size(t, j) {
			for _, it := range r.Phases[len(r.Phases)-1].Items {
				switch it.ID {
				case "weights":
					weights += float64(it.Bytes) * float64(r.Count)
				case "optimizer":
					states += float64(it.Bytes) * float64(r.Count)
				}
			}
		}
		return weights, states
	}
	for _, id := range []string{"llama-3.1-8b", "mixtral-8x7b", "qwen3-30b-a3b"} {
		one := ask(t, id, "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Precision = "transformers", "bf16" })
		w1, s1 := sum(one)
		for _, n := range []int{2, 8} {
			j := ask(t, id, "h100-sxm-80gb", n, func(_ *plan.Plan, q *plan.Training) {
				q.Framework, q.Precision, q.Sharding = "transformers", "bf16", "fsdp"
			})
			if w, s := sum(j); math.Abs(w/w1-1) > 1e-6 || math.Abs(s/s1-1) > 1e-6 {
				t.Errorf("%s on %d ranks: %.0f bytes of weights and %.0f of states, %.0f and %.0f on one", id, n, w, s, w1, s1)
			}
			pp := ask(t, id, "h100-sxm-80gb", n, func(p *plan.Plan, q *plan.Training) { q.Framework, p.PP, q.Sharding = "megatron", int64(n), "none" })
			if w, _ := sum(pp); math.Abs(w/w1-1) > 1e-6 {
				t.Errorf("%s in %d stages: %.0f bytes of weights, %.0f on one", id, n, w, w1)
			}
		}
	}
}

// TestLedgerSums: a phase is the sum of its items, the peak is the largest phase, and a Book changes no number and records
// formulas that give them. More is reserved than allocated, and nvidia-smi shows a context beside that.
func TestLedgerSums(t *testing.T) {
	eachRun(t, func(t *testing.T, id string, run func(*plan.Plan, *plan.Training)) {
		j := ask(t, id, "h100-sxm-80gb", 8, run)
		s, err := train.Compile(j)
		if err != nil {
			t.Fatal(err)
		}
		var book ledger.Book
		plain, booked := s.Size(nil), s.Size(&book)
		for i := range plain {
			a, b := &plain[i], &booked[i]
			if a.Allocated != b.Allocated || len(a.Phases) != len(b.Phases) {
				t.Fatalf("a book changes %v to %v", a.Allocated, b.Allocated)
			}
			top := 0.0
			for k := range b.Phases {
				checkItems(t, &book, b.Phases[k].Items)
				top = max(top, float64(b.Phases[k].Total().Bytes))
			}
			if top != b.Allocated.Mid {
				t.Errorf("the largest phase has %.0f bytes, the peak %.0f", top, b.Allocated.Mid)
			}
			checkItems(t, &book, b.Needed)
			if b.Reserved.Mid < b.Allocated.Mid || b.SMI.Mid < b.Reserved.Mid+b.Drivers.LeastOutside() {
				t.Errorf("%.0f bytes are allocated, %.0f reserved, nvidia-smi shows %.0f", b.Allocated.Mid, b.Reserved.Mid, b.SMI.Mid)
			}
			checkItems(t, &book, append(b.Host, b.Disk...))
		}
	})
}

func checkItems(t *testing.T, book *ledger.Book, items []ledger.Item) {
	t.Helper()
	for i := range items {
		it := &items[i]
		f := book.Formula(it.Why)
		got, err := ledger.Eval(f.Text, f.Inputs)
		if err != nil || math.Abs(got-float64(it.Bytes)) > 1+1e-9*float64(it.Bytes) {
			t.Errorf("%s: %q gives %.1f, booked are %d (%v)", it.Name, f.Text, got, it.Bytes, err)
		}
		if it.ID == "" || it.Name == "" || it.Source == "" {
			t.Errorf("%+v says too little", it)
		}
	}
}

// TestExpertsSumToTheWhole: ranks that share experts hold each of them once, and all else as often as there are replicas.
func TestExpertsSumToTheWhole(t *testing.T) {
	for _, c := range []struct{ tp, dp, ep, etp int64 }{{1, 8, 8, 1}, {1, 8, 4, 1}, {2, 4, 8, 1}, {2, 4, 4, 2}, {4, 2, 2, 1}} {
		j := ask(t, "qwen3-30b-a3b", "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, p.TP, p.DP, p.EP, q.ETP = "megatron", "none", c.tp, c.dp, c.ep, c.etp
		})
		expert, dense, vectors := numbersOf(j.Model)
		copies := float64(8 / (c.ep * c.etp))
		want := 2 * (expert*copies + dense*float64(c.dp) + vectors*8)
		got := 0.0
		for _, r := range size(t, j) {
			for _, it := range r.Phases[3].Items {
				if it.ID == "weights" {
					got += float64(it.Bytes) * float64(r.Count)
				}
			}
		}
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("tp %d, dp %d, ep %d, etp %d: %.0f bytes of weights, want %.0f", c.tp, c.dp, c.ep, c.etp, got, want)
		}
	}
}

// numbersOf counts parameters of experts, of what tensor parallelism cuts, and of what every rank holds whole.
func numbersOf(m *model.Model) (expert, dense, whole float64) {
	m.Decoder().Each(func(k *model.Kind, count int64) {
		for i := range k.Ops {
			if k.Ops[i].Lent {
				continue
			}
			for _, w := range k.Ops[i].W {
				n := float64(count * w.Elems())
				switch cut := w.ColsBy != model.Whole || w.Segs[0].By != model.Whole; {
				case w.Table:
				case w.BatchBy == model.ByExpert:
					expert += n
				case cut:
					dense += n
				default:
					whole += n
				}
			}
		}
	})
	return expert, dense, whole
}

// TestModelsBeside: a frozen model beside the trained one adds its weights, an engine on the same devices its share unless
// it sleeps, and quantisation-aware training the weights that it makes.
func TestModelsBeside(t *testing.T) {
	at := func(change func(*train.Job)) float64 {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
			q.Objective, q.Sharding, q.MicroBatch, q.SequenceLength = "grpo", "fsdp", 1, 4096
		})
		change(j)
		return size(t, j)[0].Allocated.Mid
	}
	alone := at(func(*train.Job) {})
	beside := at(func(j *train.Job) { j.Reference = &train.Frozen{Model: j.Model} })
	if got, want := beside-alone, 2*8030261248.0/8; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("a reference takes %.0f bytes of a rank, want %.0f", got, want)
	}
	here, sleeps := true, true
	awake := at(func(j *train.Job) { j.Training.Rollout = &plan.Rollout{Colocated: &here, Share: 0.3} })
	asleep := at(func(j *train.Job) { j.Training.Rollout = &plan.Rollout{Colocated: &here, Share: 0.3, Sleep: &sleeps} })
	if awake < alone+20*(1<<30) || asleep >= awake || asleep < alone {
		t.Errorf("alone %.3g, with an engine awake %.3g, asleep %.3g", alone, awake, asleep)
	}
	turns := at(func(j *train.Job) {
		j.Training.Rollout = &plan.Rollout{Colocated: &here, Share: 0.3, Sleep: &sleeps, Away: &sleeps}
	})
	if turns > asleep || turns < alone {
		t.Errorf("with what trains away while answers are written %.3g, beside them %.3g, alone %.3g", turns, asleep, alone)
	}
	dpo := at(func(j *train.Job) {
		j.Training.Objective, j.Training.ReferenceModel = "dpo", ""
		if err := train.Defaults(j); err != nil {
			t.Fatal(err)
		}
	})
	if dpo < beside {
		t.Errorf("preferences take %.3g, a reference and single answers %.3g", dpo, beside)
	}
	if qat := at(func(j *train.Job) { j.Training.Objective = "qat" }); qat <= alone {
		t.Errorf("quantisation-aware training takes %.3g, plain %.3g", qat, alone)
	}
}

// TestActivationsFollowPrecision: what waits for backward is in the format of computing: inputs of blocks take twice as much
// in fp32 as in 16 bits, all that blocks keep nearly so, since norms have no copies in fp32 then. tf32 is stored as fp32.
func TestActivationsFollowPrecision(t *testing.T) {
	kept := func(id, framework, precision, recompute string) (n float64) {
		j := ask(t, id, "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Precision, q.Recompute, q.SequenceLength, q.MicroBatch = framework, precision, recompute, 2048, 1
		})
		for _, it := range size(t, j)[0].Phases[0].Items {
			if it.Name == "saved activations" || it.Name == "inputs of blocks" {
				n += float64(it.Bytes)
			}
		}
		return n
	}
	for _, id := range lawModels {
		for _, f := range []string{"transformers", "deepspeed", "megatron", "torchtitan", "litgpt"} {
			if narrow, wide := kept(id, f, "bf16-mixed", "full"), kept(id, f, "fp32", "full"); wide != 2*narrow {
				t.Errorf("%s, %s: inputs of blocks take %.0f bytes in fp32, %.0f in 16 bits", id, f, wide, narrow)
			}
			narrow, wide := kept(id, f, "bf16-mixed", "none"), kept(id, f, "fp32", "none")
			if wide < 1.4*narrow || wide > 2*narrow {
				t.Errorf("%s, %s: %.0f bytes are kept in fp32, %.0f in 16 bits", id, f, wide, narrow)
			}
			if x := kept(id, f, "tf32", "none"); x != wide {
				t.Errorf("%s, %s: %.0f bytes are kept in tf32, %.0f in fp32", id, f, x, wide)
			}
		}
	}
}
