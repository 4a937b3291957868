package torch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/startup/startuptest"
	"github.com/memwall/memwall/fault"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func told(l *startup.Log) string {
	var b strings.Builder
	for _, f := range l.Figures {
		fmt.Fprintf(&b, "%s %s %s%s; ", f.ID, fmt.Sprintf("%.*f", f.Digits, f.Value), f.Unit, f.Device)
	}
	for _, n := range l.Notes {
		fmt.Fprintf(&b, "%s; ", n.Code)
	}
	return strings.TrimSpace(b.String())
}

// TestTrace: two steps, whose kernels are known by their names; the collective runs beside a product, so that the time in
// which nothing computes is 162 ms.
func TestTrace(t *testing.T) {
	tr, err := ReadTrace(bytes.NewReader(file(t, "training.json")))
	if err != nil {
		t.Fatal(err)
	}
	want := "time_products 1380.00 ms a step; time_attention 680.00 ms a step; time_elementwise 160.00 ms a step; time_norms 40.00 ms a " +
		"step; time_loss 16.00 ms a step; time_optimizer 18.00 ms a step; time_collectives 400.00 ms a step; " +
		"time_copies 0.06 ms a step; time_other 0.94 ms a step; time_idle 162.00 ms a step; time_step 2457.00 ms a step; " +
		"memory_allocated_peak 71000.00 MiB; memory_allocated_now 16200.00 MiB; memory_reserved_peak 78848.00 MiB; collectives; " +
		"other_kernel; no_operators;"
	l := tr.Log()
	if got := told(l); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if tr.Device != "NVIDIA H100 80GB HBM3" || tr.Devices != 8 || tr.World != 8 || tr.Steps != 2 || len(l.Devices) != 8 ||
		tr.Largest[0].Name != "my_own_kernel(float*)" {
		t.Errorf("%+v", tr)
	}
}

// TestClasses: names as PyTorch, cuBLAS, cuDNN, Triton, FlashInfer and the engines give them.
func TestClasses(t *testing.T) {
	for name, want := range map[string]Class{
		"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn": Products, "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT": Products,
		"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32":                                            Products,
		"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>(Params)": Products,
		"void splitKreduce_kernel<32, 16, int, float>()":                                Products,
		"void gemv2T_kernel_val<int, __nv_bfloat16>()":                                  Products,
		"void marlin::Marlin<__nv_bfloat16>()":                                          Products, "triton_tem_fused_mm_4": Products,
		"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<>()":                                         Attention,
		"fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::gemm::GemmShape>)": Attention,
		"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>()":                                                   Attention,
		"flashinfer::BatchDecodeWithPagedKVCacheKernel":                                                                Attention,
		"void (anonymous namespace)::softmax_warp_forward<float, float, float, 11, false, false>()":                    Attention,
		"kernel_unified_attention_3d":                                                                                  Attention,
		"void vllm::rms_norm_kernel<c10::BFloat16>()":                                                                  Norms,
		"flashinfer::norm::FusedAddRMSNormKernel":                                                                      Norms,
		"void at::native::(anonymous namespace)::cuComputeGradInput_layernorm()":                                       Norms,
		"void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>()":                                           Elementwise,
		"void vllm::rotary_embedding_kernel<c10::BFloat16, true>()":                                                    Elementwise,
		"triton_poi_fused_mul_silu_3":                                                                                  Elementwise,
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()":                                        Elementwise,
		"void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>()":                                      Elementwise,
		"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL":                                                                 Collectives,
		"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>()":                                                    Collectives,
		"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t":                                                                   Collectives,
		"void at::native::multi_tensor_apply_kernel<LpNormFunctor>()":                                                  Optimizer,
		"kOptimizerStatic8bit2StateBlockwise":                                                                          Optimizer,
		"void nll_loss_forward_reduce_cuda_kernel_2d<float>()":                                                         Loss,
		"_liger_cross_entropy_kernel":                                                                                  Loss,
		"fused_moe_kernel":                                                                                             Experts,
		"void vllm::moe::topkGatingSoftmax<8>()":                                                                       Experts,
		"void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>()":                                                    Unpacking,
		"": Other, "my_kernel": Other,
	} {
		if got := classOf([]byte(name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]Class{"Memcpy HtoD (Pageable -> Device)": Copies, "Memcpy DtoH (Device -> Pinned)": Copies,
		"Memcpy DtoD (Device -> Device)": Elementwise, "Memcpy PtoP (Device -> Device)": Collectives} {
		if got := copyClass([]byte(name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

const kernel = `{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":5000}`

// TestOddTraces: other shapes of the same thing, what is broken, and what is none.
func TestOddTraces(t *testing.T) {
	deep := strings.Repeat("[", 300)
	for _, c := range []struct{ name, text, want string }{
		{"events alone", "[" + kernel + "]", "time_products 5.00 ms in all; no_steps; no_memory; no_operators;"},
		{"one that is killed", `{"traceEvents":[` + kernel + "," + kernel[:40], "time_products 5.00 ms in all; cut; no_steps; no_memory; no_operators;"},
		{"old names", `{"traceEvents":[{"ph":"X","cat":"Kernel","name":"gemm","pid":"0","ts":"10","dur":"5"},{"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","pid":0,"ts":1,"dur":5000}]}`, "time_products 0.00 ms in all; time_copies 2.50 ms in all; no_steps; no_memory; no_operators;"},
		{"no kernels", `{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":2}]}`, "no_kernels; no_memory;"},
		{"what cannot be", `{"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","ts":1e400,"dur":-5},{"ph":"X","cat":"kernel","name":"gemm","ts":1,"dur":1e999},{"ph":"i","name":"[memory]","args":{"Total Allocated":1e300,"Device Id":0,"Device Type":1}}]}`, "no_kernels;"},
		{"of the host's memory", `{"traceEvents":[{"ph":"i","name":"[memory]","args":{"Total Allocated":5,"Device Id":-1,"Device Type":0}}]}`, "no_kernels; no_memory;"},
		{"a server's steps", `{"traceEvents":[` + kernel + `,{"ph":"X","cat":"user_annotation","name":"execute_context_1(64)_generation_3(3)","ts":0,"dur":10},{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_4(4)","ts":10,"dur":10}]}`,
			"time_products 2.50 ms a step; time_step 0.01 ms a step; no_memory; mixed_steps; no_operators;"},
		{"names with quotes", `{"traceEvents":[{"ph":"X","cat":"kernel","name":"ge\"mm\\","pid":0,"ts":10,"dur":5000,"args":{"x":"}]"}}]}`, "time_other 5.00 ms in all; no_steps; no_memory; other_kernel; no_operators;"},
		{"a long event", `{"traceEvents":[{"ph":"X","name":"` + strings.Repeat("x", maxEvent) + `"},` + kernel + `]}`, "time_products 5.00 ms in all; long_events; no_steps; no_memory; no_operators;"},
		{"nothing", `{}`, "error: the file has no event of a trace"},
		{"empty", `{"traceEvents":[]}`, "error: the file has no event of a trace"},
		{"cut at once", `{"traceEv`, "error: byte 9: the trace ends before its first event"},
		{"depth", `{"a":` + deep, "error: byte 5: more than 256 levels of nesting"},
		{"no JSON", `{"traceEvents":[}`, "error: byte 16: '}' where an event must stand"},
		{"no colon", `{"a" 5}`, "error: byte 5: '5' where ':' must stand"},
		{"no name", `{5:5}`, "error: byte 1: '5' where a field's name must stand"},
	} {
		tr, err := ReadTrace(strings.NewReader(c.text))
		got := ""
		if err != nil {
			got = "error: " + err.Error()
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Fix == "" {
				t.Errorf("%s: no fix in %v", c.name, err)
			}
		} else {
			got = told(tr.Log())
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestUnion: the time in which any kernel ran is that of a slow twin, in any order within the window.
func TestUnion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var u union
		ran := make([]bool, 400)
		for range rng.IntN(60) {
			begin, n := rng.IntN(350), rng.IntN(50)
			u.add(float64(begin), float64(n))
			for i := begin; i < begin+n; i++ {
				ran[i] = true
			}
		}
		want := 0.0
		for _, r := range ran {
			if r {
				want++
			}
		}
		if got, known := u.close(); got != want || !known {
			t.Fatalf("%v, %v, want %v", got, known, want)
		}
	}
	var u union
	for i := range mostWaiting + 2 {
		u.add(float64(10+i), 1)
	}
	u.add(0, 1)
	if _, known := u.close(); known {
		t.Error("one that came far too late was summed up")
	}
}

// TestSummary: both layouts, and their units, all of 1,024.
func TestSummary(t *testing.T) {
	for name, want := range map[string]string{
		"summary-2.8.txt": "memory_allocated_now 16200 MiB; memory_allocated_peak 71000 MiB; memory_active_now 16200 MiB; " +
			"memory_active_peak 71010 MiB; memory_requested_now 16190 MiB; memory_requested_peak 70890 MiB; " +
			"memory_reserved_now 78848 MiB; memory_reserved_peak 78848 MiB; memory_inactive_split_now 660 MiB; " +
			"memory_inactive_split_peak 1830 MiB; retries;",
		"summary-1.7.txt": "memory_allocated_now 2720 MiB; memory_allocated_peak 2967 MiB; memory_active_now 2720 MiB; " +
			"memory_active_peak 2967 MiB; memory_reserved_now 3054 MiB; memory_reserved_peak 3054 MiB; " +
			"memory_inactive_split_now 0.77 MiB; memory_inactive_split_peak 84.00 MiB; ran_out;",
	} {
		l, err := startuptest.Read(bytes.NewReader(file(t, name)), &SummaryReader{})
		if err != nil || told(l) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, told(l), want)
		}
	}
}

// TestStats: the flat form and the nested one say the same; what is neither is refused with its place.
func TestStats(t *testing.T) {
	flat, err := ReadStats(bytes.NewReader(file(t, "stats.json")))
	if err != nil || len(flat.Figures) != 10 || flat.Find("memory_allocated_peak").Value != 71000 || !flat.Noted("num_alloc_retries") {
		t.Errorf("%s, %v", told(flat), err)
	}
	nested, err := ReadStats(strings.NewReader(`{"allocated_bytes":{"all":{"current":1048576,"peak":2097152}},"reserved_bytes":{"all":{"peak":4194304}}}`))
	if err != nil || told(nested) != "memory_allocated_now 1.00 MiB; memory_allocated_peak 2.00 MiB; memory_reserved_peak 4.00 MiB;" {
		t.Errorf("%s, %v", told(nested), err)
	}
	for text, want := range map[string]string{`{"allocated_bytes.all.peak":`: "byte 28: the statistics are not JSON", `{"allocated_bytes.all.peak":-5}`: "the statistics have none of the allocator's counters", strings.Repeat(" ", maxStats+1): "byte 1048576: the statistics of one device are shorter"} {
		if _, err := ReadStats(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSniff: files by their first bytes.
func TestSniff(t *testing.T) {
	for head, want := range map[string]Kind{
		"\x1f\x8b\x08": GZip, "\x80\x04\x95": Pickle, "\x80\x02}q": Pickle, "PK\x03\x04": Archive, "{\n  \"schemaVersion\": 1": TraceFile,
		"[{": TraceFile, "\ufeff {": TraceFile,
		`{"allocated_bytes.all.peak": 1}`: StatsFile, `{"traceEvents":[{"name":"allocated_bytes"`: TraceFile, "[2025-10-16 09:06:09] server_args=": Text, "{model=x}": Text, "INFO 01-01": Text, "": Text, "\x80": Text,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q is %d, want %d", head, got, want)
		}
	}
	if e, ok := errors.AsType[*fault.Error](Refused(Archive)); !ok || !strings.Contains(e.Problem, "never") ||
		!strings.Contains(e.Fix, "_dump_snapshot") {
		t.Errorf("%+v", e)
	}
	if Refused(Text) != nil || Refused(GZip) != nil || Refused(Pickle) != nil {
		t.Error("a text is refused")
	}
}

// FuzzTrace: whatever a file holds, reading ends, and no time or size is below zero.
func FuzzTrace(f *testing.F) {
	f.Add(file(f, "training.json"))
	f.Add([]byte("[" + kernel + "]"))
	for _, args := range []string{`,"Input Dims":[[8,4],[4,16]],"Input Strides":[[4,1],[1,4]],"Input type":["float","float"]`, `,"Input Dims":[[],[[1]]]`, ""} {
		f.Add(fmt.Appendf(nil, "["+hostEvent+","+kernelEvent+","+kernelEvent+"]", "aten::mm", 1, 3, args, 3, 9, 4, 4))
	}
	f.Add([]byte(`[{"ph":"X","cat":"kernel","name":"nccl","ts":1,"dur":5,"args":{"External id":1,"Collective name":"allreduce","In msg nelems":5,"Group size":2,"dtype":"Float"}}]`))
	f.Add([]byte(`{"deviceProperties":[{"name":"x"}],"distributedInfo":{"world_size":8},"traceEvents":[{"ph":"i","name":"[memory]","args":{"Device Id":0,"Device Type":1,"Total Allocated":7}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := ReadTrace(bytes.NewReader(text))
		if err != nil {
			return
		}
		l := tr.Log()
		for _, x := range l.Figures {
			if !(x.Value >= 0) || math.IsInf(x.Value, 0) {
				t.Errorf("%+v", x)
			}
		}
		sums := map[string]float64{}
		for _, o := range l.Operators {
			if sums["time_"+o.Class] += o.MS; !(o.MS >= 0) || o.Calls < 0 || o.Product != nil && !(o.Product.FLOPs() > 0) ||
				o.Message != nil && o.Message.Bytes < 0 {
				t.Errorf("%+v", o)
			}
		}
		for id, sum := range sums {
			if x := l.Find(id); x == nil || math.Abs(x.Value-sum) > 1e-9*(1+sum) {
				t.Errorf("operators of %s are %g of %+v", id, sum, x)
			}
		}
		if len(l.Figures) > startup.MaxFigures+int(classes) || len(l.Notes) > 64 {
			t.Errorf("%d figures, %d notes", len(l.Figures), len(l.Notes))
		}
	})
}

// FuzzSummary: whatever a text holds.
func FuzzSummary(f *testing.F) {
	f.Add(file(f, "summary-2.8.txt"))
	f.Add(file(f, "summary-1.7.txt"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := startuptest.Read(bytes.NewReader(text), &SummaryReader{})
		if err != nil {
			return
		}
		for _, x := range l.Figures {
			if !(x.Value >= 0) || len(x.Device) > 32 {
				t.Errorf("%+v", x)
			}
		}
	})
}

// FuzzStats: whatever a file holds.
func FuzzStats(f *testing.F) {
	f.Add(file(f, "stats.json"))
	f.Add([]byte(`{"allocated_bytes":{"all":{"peak":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ReadStats(bytes.NewReader(text))
		if err == nil && len(l.Figures) == 0 {
			t.Error("no figure and no error")
		}
	})
}

func BenchmarkTrace(b *testing.B) {
	text := file(b, "training.json")
	events := text[bytes.Index(text, []byte(`"traceEvents": [`))+len(`"traceEvents": [`) : bytes.LastIndexByte(text, ']')]
	many := append([]byte("["), bytes.Repeat(append(bytes.TrimSpace(events), ",\n"...), 500)...)
	many = append(many[:len(many)-2], ']')
	b.SetBytes(int64(len(many)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadTrace(bytes.NewReader(many)); err != nil {
			b.Fatal(err)
		}
	}
}
