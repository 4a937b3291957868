package sglang

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/startup/startuptest"
)

// TestReadLog: a log of every era, what it says of the plan, and its figures as printed.
func TestReadLog(t *testing.T) {
	for _, c := range []struct{ file, version, models, devices, plan, figures string }{
		{"0.2.13-mixtral-tp8.log", "0.2.13", "/local_disk0/mistralai/Mixtral-8x7B-Instruct-v0.1", "8xNVIDIA L4",
			`{"context":32768,"tp":8,"dp":1,"max_num_batched_tokens":8192,"max_num_seqs":32,"enforce_eager":false,"mem_fraction_static":0.83,"prefix_cache":true}`,
			"avail_before@TP0=21.65 GB; avail_before@TP3=21.65 GB; avail_after@TP0=10.75 GB; avail_pool@TP0=3.63 GB; " +
				"kv_tokens@TP0=463405 tokens"},
		{"0.4.3-qwen-7b.log", "", "/data/models/Qwen2.5/Qwen2.5-7B-Instruct qwen", "",
			`{"context":32768,"tp":1,"ep":1,"dp":1,"max_num_batched_tokens":8192,"max_num_seqs":4097,"enforce_eager":false,"mem_fraction_static":0.88,"prefix_cache":true}`,
			"avail_before@TP0=38.97 GB; avail_after@TP0=24.59 GB; weights@TP0=14.38 GB; kv_tokens@TP0=372945 tokens; kv_k@TP0=9.96 GB; " +
				"kv_v@TP0=9.96 GB; avail_pool@TP0=4.08 GB; graphs@TP0=0.67 GB; kv_tokens@TP0=372945 tokens"},
		{"0.5-qwen3-next-tp2.log", "", "Qwen/Qwen3-Next-80B-A3B-Instruct", "",
			`{"context":65536,"tp":2,"pp":1,"ep":1,"dp":1,"max_num_batched_tokens":8192,"max_num_seqs":143,"enforce_eager":false,"block_size":1,"mem_fraction_static":0.8,"prefix_cache":true}`,
			"avail_before@TP0=137.34 GB; avail_before@TP1=137.29 GB; avail_after@TP0=62.50 GB; weights@TP0=74.84 GB; " +
				"avail_after@TP1=62.45 GB; weights@TP1=74.84 GB; states@TP0=431 states; state_conv@TP0=0.35 GB; " +
				"state_ssm@TP0=15.15 GB; kv_tokens@TP0=1534231 tokens; kv_k@TP0=8.78 GB; kv_v@TP0=8.78 GB; avail_pool@TP0=26.51 GB; " +
				"graphs@TP0=1.60 GB; kv_tokens@TP0=1534231 tokens; avail_end@TP0=24.87 GB"},
	} {
		l := startuptest.File(t, c.file, &Reader{})
		plan, _ := json.Marshal(l.Plan)
		if l.Version != c.version || strings.Join(l.Models, " ") != c.models || startup.Hardware(l.Devices, 0) != c.devices ||
			startuptest.Codes(l) != "" {
			t.Errorf("%s: version %q, models %q, devices %v, notes %q", c.file, l.Version, l.Models, l.Devices, l.Notes)
		}
		if string(plan) != c.plan {
			t.Errorf("%s:\n got  %s\n want %s", c.file, plan, c.plan)
		}
		if got := startuptest.Figures(l); got != c.figures {
			t.Errorf("%s:\n got  %s\n want %s", c.file, got, c.figures)
		}
	}
}

func TestOddLogs(t *testing.T) {
	const start = "server_args=ServerArgs(model_path='a/b', tp_size=2, mem_fraction_static=0.9)\n"
	for _, c := range []struct{ name, text, figures, notes string }{
		{"two servers", start + "Load weight begin. avail mem=10.00 GB\n" + start + "Load weight begin. avail mem=77.00 GB\n",
			"avail_before=10.00 GB", "two_servers"},
		{"latent cache", start + "KV Cache is allocated. #tokens: 720206, KV size: 47.13 GB\n", "kv_tokens=720206 tokens; kv_size=47.13 GB",
			""},
		{"a leak is not a start", "available_size=5, self.max_total_num_tokens=7\n", "", ""},
		{"draft graphs", "Capture draft cuda graph end. Time elapsed: 1 s. mem usage=0.50 GB\n", "", ""},
		{"capped", "server_args=ServerArgs(model_path='a/b', max_total_tokens=4096)\n", "", "token_cap"},
		{"attention groups", "server_args=ServerArgs(model_path='a/b', tp_size=8, dp_size=8, enable_dp_attention=True)\n", "", "not_read"},
		{"cut", "server_args=ServerArgs(model_path='a/b', tp_si", "", "cut_line"},
		{"older ranks", "[gpu_id=1] Load weight begin. avail mem=20.00 GB\n[rank=2] max_total_num_token=99, x\n",
			"avail_before@TP1=20.00 GB; kv_tokens@TP2=99 tokens", ""},
		{"whole prompts", "server_args=ServerArgs(model_path='a/b', chunked_prefill_size=-1)\n", "", ""},
	} {
		l, err := startuptest.Read(strings.NewReader(c.text), &Reader{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if startuptest.Figures(l) != c.figures || startuptest.Codes(l) != c.notes {
			t.Errorf("%s: figures %q, notes %q", c.name, startuptest.Figures(l), startuptest.Codes(l))
		}
	}
}

func FuzzReadLog(f *testing.F) { startuptest.Fuzz(f, func() startup.Reader { return &Reader{} }) }
