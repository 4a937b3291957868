package memwall

import (
	"fmt"
	"testing"
)

// simulates asks for a simulation.
func simulates(t *testing.T, request string) *Answer {
	t.Helper()
	a, err := askText(request)
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	if a.Simulated == nil {
		t.Fatalf("%s: %s, and nothing was played", request, a.Verdict)
	}
	return a
}

// chats at a rate.
func chats(rate float64) string {
	return fmt.Sprintf(`"workload":{"rate":%g,"requests":2000,"prompt":{"law":"lognormal","mean":1000,"cv":0.5},"output":{"law":"exponential","mean":250}}`, rate)
}

// TestSimHolds: a rate far below what the plan holds at most is held, and one far above is not, since when is told.
func TestSimHolds(t *testing.T) {
	const model = `{"ask":"sim","model":"llama-3.1-8b","hardware":"h100",`
	low := simulates(t, model+chats(2)+`}`)
	if !low.Simulated.Holds || low.Simulated.DivergesAt != nil || low.Simulated.RunsOut != "nothing" || low.Simulated.Capacity == nil {
		t.Fatalf("2 a second: holds %v, %v, %s", low.Simulated.Holds, low.Simulated.DivergesAt, low.Simulated.RunsOut)
	}
	if *low.Simulated.Capacity < 8 || *low.Simulated.Capacity > 60 {
		t.Errorf("the most that the plan holds is %g requests a second", *low.Simulated.Capacity)
	}
	high := simulates(t, model+chats(200)+`}`)
	if high.Simulated.Holds || high.Simulated.DivergesAt == nil || high.Simulated.RunsOut == "nothing" || len(high.Suggestions) == 0 {
		t.Errorf("200 a second: holds %v since %v, %s, %d suggestions", high.Simulated.Holds, high.Simulated.DivergesAt,
			high.Simulated.RunsOut, len(high.Suggestions))
	}
	if low.Simulated.Low == nil || low.Simulated.High == nil || low.Simulated.Low.TPOT.Mean >= low.Simulated.TPOT.Mean ||
		low.Simulated.High.TPOT.Mean <= low.Simulated.TPOT.Mean {
		t.Errorf("edges of the band %v %v around %v", low.Simulated.Low, low.Simulated.High, low.Simulated.TPOT)
	}
}

// TestSimVersus: what a technique buys is told beside the plan, on the load that shows it.
func TestSimVersus(t *testing.T) {
	const model = `{"ask":"sim","model":"llama-2-13b","hardware":"a100-pcie-40gb","engine":"vllm","context":2048,`
	a := simulates(t, model+chats(2)+`,"versus":["static","contiguous-kv"]}`)
	if len(a.Simulated.Versus) != 2 {
		t.Fatalf("%d techniques", len(a.Simulated.Versus))
	}
	for _, v := range a.Simulated.Versus {
		if v.Capacity == nil || *v.Capacity >= *a.Simulated.Capacity {
			t.Errorf("%s holds %v, the plan %v", v.Name, v.Capacity, *a.Simulated.Capacity)
		}
	}
	if _, err := askText(model + chats(2) + `,"versus":["no-speculation"]}`); err == nil {
		t.Error("speculation that is not there was taken away")
	}
}

// TestMoreSeatsBeforeReplicas: where no more sequences may run at once, more of them are proposed before more machines, and what is
// proposed holds.
func TestMoreSeatsBeforeReplicas(t *testing.T) {
	const plan = `{"ask":"sim","model":"llama-3.1-8b","hardware":"1xh100","engine":"vllm","context":4096,` +
		`"workload":{"rate":20,"requests":1500,"prompt":{"law":"fixed","mean":512},"output":{"law":"fixed","mean":200}},"max_num_seqs":`
	narrow := simulates(t, plan+`16}`)
	if narrow.Simulated.Holds || len(narrow.Suggestions) != 1 {
		t.Fatalf("16 at once: holds %t, proposed %v", narrow.Simulated.Holds, narrow.Suggestions)
	}
	seats := narrow.Suggestions[0].Patch["max_num_seqs"]
	if wide := simulates(t, fmt.Sprintf(`%s%v}`, plan, seats)); !wide.Simulated.Holds || len(wide.Suggestions) > 0 {
		t.Errorf("%v at once: holds %t, proposed %v", seats, wide.Simulated.Holds, wide.Suggestions)
	}
}

// TestSimPlans: what a plan says reaches the servers that are played.
func TestSimPlans(t *testing.T) {
	const model = `{"ask":"sim","model":"llama-3.1-70b","hardware":"16xh100","tp":4,`
	whole := simulates(t, model+`"dp":4,`+chats(10)+`}`)
	apart := simulates(t, model+`"disaggregated":{"prefill":2,"decode":2},`+chats(10)+`}`)
	if apart.Simulated.TPOT.P99 >= whole.Simulated.TPOT.P99 || apart.Simulated.TTFT.P50 <= whole.Simulated.TTFT.P50 {
		t.Errorf("prompts apart: %.3g ms a token and %.3g to the first, together %.3g and %.3g", apart.Simulated.TPOT.P99,
			apart.Simulated.TTFT.P50, whole.Simulated.TPOT.P99, whole.Simulated.TTFT.P50)
	}
	two := simulates(t, model+`"disaggregated":{"prefill":2,"decode":2},"replicas":2,`+chats(10)+`}`)
	if ratio := *two.Simulated.Capacity / *apart.Simulated.Capacity; ratio < 1.8 || ratio > 2.2 {
		t.Errorf("two machines of both kinds of servers hold %.3g times as much as one", ratio)
	}
	const small = `{"ask":"sim","model":"llama-3.1-8b","hardware":"rtx-4090","kv_blocks":700,"workload":{"rate":0.5,"requests":600,"prompt":{"law":"fixed","mean":2100},"output":{"law":"fixed","mean":40},"shared_prefix_tokens":2000,"prefixes":{"count":20}}`
	without, below := simulates(t, small+`}`), simulates(t, small+`,"kv_tier_bytes":"64GiB"}`)
	if below.KV.PoolUse.PrefixHitRate <= without.KV.PoolUse.PrefixHitRate || below.Simulated.TTFT.Mean >= without.Simulated.TTFT.Mean {
		t.Errorf("with a tier %.3g of prompts are found and the first token takes %.4g ms, without %.3g and %.4g",
			below.KV.PoolUse.PrefixHitRate, below.Simulated.TTFT.Mean, without.KV.PoolUse.PrefixHitRate, without.Simulated.TTFT.Mean)
	}
	tiers := simulates(t, small+`,"kv_tier_bytes":"64GiB","versus":["kv-tier=0","kv-tier=2GB","kv-tier=all"]}`).Simulated.Versus
	none, some, all := tiers[0].Pool.PrefixHitRate, tiers[1].Pool.PrefixHitRate, tiers[2].Pool.PrefixHitRate
	if none != without.KV.PoolUse.PrefixHitRate || all != below.KV.PoolUse.PrefixHitRate || some <= none || some > all {
		t.Errorf("without a tier %.3g of prompts are found, with 2 GB %.3g, with all %.3g; alone %.3g and %.3g", none, some, all,
			without.KV.PoolUse.PrefixHitRate, below.KV.PoolUse.PrefixHitRate)
	}
	if tiers[0].TTFT.Mean != without.Simulated.TTFT.Mean || *tiers[0].Capacity != *without.Simulated.Capacity {
		t.Error("what keeps nothing evicted is not the plan without a tier")
	}
	for _, bad := range []string{"kv-tier=", "kv-tier=x", "kv-tier=-1GB", "kv-tier=1"} {
		if _, err := askText(small + `,"versus":["` + bad + `"]}`); err == nil {
			t.Errorf("%s was played", bad)
		}
	}
}

// TestPrefixesOfEngines: what sessions have said before is found again by every engine that caches prefixes, and by none that is told not to.
func TestPrefixesOfEngines(t *testing.T) {
	const sessions = `,"workload":{"rate":1,"requests":300,"prompt":{"mean":500},"output":{"mean":100},"sessions":{"turns":{"law":"fixed","mean":5}}}}`
	for _, engine := range []string{`"vllm"`, `"sglang"`, `"tensorrt-llm"`, `"llama-server","weights":"q4_k_m","sequences":8,"context":8192`} {
		if rate := simulates(t, `{"ask":"sim","model":"llama-3.1-8b","hardware":"h100","engine":`+engine+sessions).KV.PoolUse.PrefixHitRate; rate < 0.5 {
			t.Errorf("%s finds %.3g of the prompts of sessions of five turns", engine, rate)
		}
	}
	off := simulates(t, `{"ask":"sim","model":"llama-3.1-8b","hardware":"h100","engine":"sglang","prefix_cache":false`+sessions)
	if rate := off.KV.PoolUse.PrefixHitRate; rate != 0 {
		t.Errorf("without a prefix cache %.3g of the prompts are found", rate)
	}
}

// TestTiersOfPlans: what a plan keeps of its cache in host memory is played, a disk below it too, and each says what it brought back.
func TestTiersOfPlans(t *testing.T) {
	const small = `{"ask":"sim","model":"llama-3.1-8b","hardware":"rtx-4090,nvme=2TB@7GB/s","kv_blocks":700,"workload":{"rate":0.5,"requests":300,"prompt":{"law":"fixed","mean":2100},"output":{"law":"fixed","mean":40},"shared_prefix_tokens":2000,"prefixes":{"count":20}}`
	said := simulates(t, small+`,"kv_tier_bytes":"2GiB"}`).KV.PoolUse
	plan := simulates(t, small+`,"kv_host_bytes":"2GiB"}`).KV.PoolUse
	if len(said.Tiers) != 1 || said.Tiers[0].HitRate <= 0 || plan.PrefixHitRate != said.PrefixHitRate {
		t.Errorf("a plan with 2 GiB of host memory for its cache finds %+v, with a tier of 2 GiB %+v", plan, said)
	}
	disk := simulates(t, small+`,"kv_tier_bytes":"2GiB","kv_tier_disk_bytes":"64GiB"}`).KV.PoolUse
	if len(disk.Tiers) != 2 || disk.Tiers[1].On != "nvme" || disk.Tiers[1].HitRate <= 0 || disk.PrefixHitRate <= said.PrefixHitRate {
		t.Errorf("a disk below finds %+v, without %+v", disk, said)
	}
	for _, bad := range []string{`"kv_tier_disk_bytes":"64GiB"`, `"kv_tier_bytes":"2GiB","kv_tier":"nvme","kv_tier_disk_bytes":"64GiB"`,
		`"kv_tier_bytes":"2GiB","kv_tier_disk_bytes":1`, `"kv_tier_bytes":"2GiB","kv_tier_disk_bytes":-1`} {
		if _, err := askText(small + "," + bad + "}"); err == nil {
			t.Errorf("%s was played", bad)
		}
	}
}

// TestSimRunsOut: what those who wait wait for is named: adapters of which a step has one, seats, room.
func TestSimRunsOut(t *testing.T) {
	const model = `{"ask":"sim","model":"llama-3.1-8b","hardware":"h100","workload":{"rate":10,"requests":1000,"prompt":{"mean":1000},"output":{"mean":200}`
	for want, rest := range map[string]string{
		"max_loras":    `,"adapters":{"count":16}}}`,
		"max_num_seqs": `},"max_num_seqs":4}`,
		"kv_cache":     `},"kv_blocks":400}`,
		"nothing":      `}}`,
	} {
		if a := simulates(t, model+rest); a.Simulated.RunsOut != want {
			t.Errorf("%s: %s runs out, want %s", rest, a.Simulated.RunsOut, want)
		}
	}
}

// TestSimSessionsGrow: turns that follow each other do not hide that more sessions begin than end.
func TestSimSessionsGrow(t *testing.T) {
	a := simulates(t, `{"ask":"sim","model":"gemma-3-27b","hardware":"2xh100","engine":"vllm","workload":{"rate":4,"requests":2000,"sessions":{"turns":{"mean":4}},"prompt":{"mean":500},"output":{"mean":300}}}`)
	if a.Simulated.Holds || a.Simulated.DivergesAt == nil {
		t.Errorf("holds with a first token after %g s in the median", a.Simulated.TTFT.P50/1000)
	}
}
