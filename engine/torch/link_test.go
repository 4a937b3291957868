package torch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
)

func logOf(t testing.TB, text string) *startup.Log {
	t.Helper()
	tr, err := ReadTrace(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return tr.Log()
}

// launchedBy says what each operator of a log is, and its milliseconds.
func launchedBy(l *startup.Log) map[string]float64 {
	out := map[string]float64{}
	for _, o := range l.Operators {
		key := o.Class + " " + o.Name
		if p := o.Product; p != nil {
			key += fmt.Sprintf(" %dx%dx%dx%d pass %d %s", p.Batch, p.M, p.N, p.K, p.Pass, p.Type)
		}
		if m := o.Message; m != nil {
			key += fmt.Sprintf(" %d bytes of %d", m.Bytes, m.Group)
		}
		out[key] += math.Round(o.MS*1e3) / 1e3
	}
	return out
}

// TestOperators: the composed step's operators with their shapes and passes.
func TestOperators(t *testing.T) {
	l := logOf(t, string(unpacked(t, "operators.json.gz")))
	got := launchedBy(l)
	for key, want := range map[string]float64{
		"products aten::mm 1x16384x14336x4096 pass 1 c10::BFloat16":  186.584,
		"products aten::mm 1x16384x4096x14336 pass 1 c10::BFloat16":  93.292,
		"products aten::mm 1x16384x4096x14336 pass 2 c10::BFloat16":  186.584,
		"products aten::mm 1x14336x4096x16384 pass 3 c10::BFloat16":  186.584,
		"products aten::mm 1x128256x4096x16384 pass 3 c10::BFloat16": 26.082, "attention aten::_flash_attention_backward": 476.8,
		"norms aten::_fused_rms_norm": 7.158, "loss aten::_log_softmax": 7.004, "optimizer aten::_fused_adamw_": 11.711,
		"collectives _allgather_base 436224000 bytes of 8": 134.4, "collectives _reduce_scatter_base 872448000 bytes of 8": 137.6,
	} {
		if got[key] != want {
			t.Errorf("%s: %g ms, want %g", key, got[key], want)
		}
	}
	for _, o := range l.Operators {
		if o.Name == "aten::_flash_attention_backward" && o.Calls != 32 || o.Name == "_allgather_base" && o.Calls != 64 {
			t.Errorf("%+v", o)
		}
	}
	if l.Noted("no_operators") || l.Noted("no_shapes") || l.Noted("no_strides") || l.Noted("few_operators") {
		t.Errorf("%+v", l.Notes)
	}
}

// TestOperatorsAddUp: those of a class take what its kernels take, in the order of the file, backwards and in any other.
func TestOperatorsAddUp(t *testing.T) {
	var whole struct {
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(unpacked(t, "operators.json.gz"), &whole); err != nil {
		t.Fatal(err)
	}
	events, want := whole.TraceEvents, twin(t, whole.TraceEvents)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		text := append(append([]byte(`{"traceEvents":[`), bytes.Join(rawBytes(events), []byte(","))...), "]}"...)
		l := logOf(t, string(text))
		sums := map[string]float64{}
		for _, o := range l.Operators {
			sums["time_"+o.Class] += o.MS
		}
		for id, sum := range sums {
			if f := l.Find(id); f == nil || math.Abs(f.Value-sum) > 1e-6*sum {
				t.Errorf("operators of %s take %g ms, its kernels %+v", id, sum, f)
			}
		}
		if got := launchedBy(l); !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 0.01 }) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	}
}

func rawBytes(events []json.RawMessage) (out [][]byte) {
	for _, e := range events {
		out = append(out, e)
	}
	return out
}

// twin reads all events into memory and looks each kernel's operator up.
func twin(t *testing.T, events []json.RawMessage) map[string]float64 {
	type event struct {
		Cat, Name string
		Dur       float64
		Args      struct {
			ID      int64     `json:"External id"`
			Dims    [][]int64 `json:"Input Dims"`
			Strides [][]int64 `json:"Input Strides"`
			In      int64     `json:"In msg nelems"`
			Out     int64     `json:"Out msg nelems"`
			Group   int64     `json:"Group size"`
			Type    string    `json:"dtype"`
			Sends   string    `json:"Collective name"`
		}
	}
	ops, kernels, out := map[int64]event{}, []event{}, map[string]float64{}
	for _, raw := range events {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Cat {
		case "cpu_op":
			ops[e.Args.ID] = e
		case "kernel":
			kernels = append(kernels, e)
		}
	}
	for _, k := range kernels {
		op := ops[k.Args.ID]
		key := ids[classOf([]byte(k.Name))] + " " + op.Name
		if d, s := op.Args.Dims, op.Args.Strides; op.Name == "aten::mm" {
			pass := 2
			switch {
			case s[1][0] == 1:
				pass = 1
			case s[0][0] == 1:
				pass = 3
			}
			key += fmt.Sprintf(" 1x%dx%dx%d pass %d c10::BFloat16", d[0][0], d[1][1], d[0][1], pass)
		}
		if a := k.Args; a.Sends != "" {
			key = fmt.Sprintf("collectives %s %d bytes of %d", a.Sends,
				max(a.In, a.Out)*map[string]int64{"BFloat16": 2, "Float": 4}[a.Type], a.Group)
		}
		out[key] += k.Dur / 1e3
	}
	return out
}

const (
	hostEvent   = `{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":%d,"ts":5,"dur":1,"args":{"External id":%d%s}}`
	kernelEvent = `{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":1000,"args":{"External id":%d,"correlation":%d}}`
)

func told4(t *testing.T, events ...string) string {
	l := logOf(t, "["+strings.Join(events, ",")+"]")
	var b strings.Builder
	for _, o := range l.Operators {
		p := ""
		if o.Product != nil {
			p = fmt.Sprintf(" %dx%dx%d pass %d", o.Product.M, o.Product.N, o.Product.K, o.Product.Pass)
		}
		fmt.Fprintf(&b, "%s%s: %g of %g; ", o.Name, p, o.MS, o.Calls)
	}
	for _, n := range l.Notes {
		if strings.Contains(n.Code, "operators") || n.Code == "no_shapes" || n.Code == "no_strides" {
			b.WriteString(n.Code + "; ")
		}
	}
	return strings.TrimSpace(b.String())
}

// TestLinks: what traces of other programs and settings say of who launched a kernel.
func TestLinks(t *testing.T) {
	op := func(name string, thread, id int, args string) string {
		return fmt.Sprintf(hostEvent, name, thread, id, args)
	}
	k := func(id, correlation int) string { return fmt.Sprintf(kernelEvent, id, correlation) }
	const dims = `,"Input Dims":[[8,4],[4,16]]`
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"strides say the pass", []string{op("aten::mm", 1, 3, dims+`,"Input Strides":[[4,1],[1,4]]`), k(3, 9)}, "aten::mm 8x16x4 pass 1: 1 of 1;"},
		{"two kernels of one call", []string{op("aten::mm", 1, 3, dims+`,"Input Strides":[[4,1],[1,4]]`), k(3, 9), k(3, 10)}, "aten::mm 8x16x4 pass 1: 2 of 1;"},
		{"the kernel first", []string{k(3, 9), op("aten::mm", 1, 3, dims+`,"Input Strides":[[4,1],[16,1]]`)}, "aten::mm 8x16x4 pass 2: 1 of 1;"},
		{"no strides, no thread of autograd", []string{op("aten::mm", 1, 3, dims), k(3, 9)}, "aten::mm 8x16x4 pass 0: 1 of 1; no_strides;"},
		{"no strides, on the thread of autograd", []string{op("autograd::engine::evaluate_function: MmBackward0", 2, 2, ""),
			op("aten::mm", 2, 3, dims), op("aten::mm", 1, 4, dims), k(3, 9), k(4, 10), k(4, 11)},
			"aten::mm 8x16x4 pass 1: 2 of 1; aten::mm 8x16x4 pass 4: 1 of 1; no_strides;"},
		{"no shapes", []string{op("aten::mm", 1, 3, ""), k(3, 9)}, "aten::mm: 1 of 1; no_shapes;"},
		{"shapes that do not fit", []string{op("aten::mm", 1, 3, `,"Input Dims":[[8,4],[5,16]]`), k(3, 9)}, "aten::mm: 1 of 1; no_shapes;"},
		{"a correlation for want of an operator", []string{op("aten::mm", 1, 9, dims), k(9, 9)}, "no_operators;"},
		{"an operator that is not there", []string{op("aten::mm", 1, 4, dims), k(3, 9)}, "no_operators;"},
		{"a graph beside operators", []string{`{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":7}}`, op("aten::bmm", 1, 3, ""), k(3, 9), k(7, 7), k(7, 7)}, ": 2 of 0; aten::bmm: 1 of 1; few_operators; no_shapes;"},
		{"a sum with its bias", []string{op("aten::addmm", 1, 3, `,"Input Dims":[[16],[8,4],[4,16],[],[]],"Input Strides":[[1],[4,1],[1,4],[],[]]`), k(3, 9)}, "aten::addmm 8x16x4 pass 1: 1 of 1;"},
		{"three axes", []string{op("aten::linear", 1, 3, `,"Input Dims":[[2,4,8],[16,8],[16]]`), k(3, 9)}, "aten::linear 8x16x8 pass 1: 1 of 1;"},
		{"lists of tensors", []string{op("aten::mm", 1, 3, `,"Input Dims":[[[8,4],[4,16]],[8,4]]`), k(3, 9)}, "aten::mm: 1 of 1; no_shapes;"},
		{"huge sides", []string{op("aten::mm", 1, 3, `,"Input Dims":[[99999999999999999999,4],[4,16]]`), k(3, 9)}, "aten::mm: 1 of 1; no_shapes;"},
	} {
		if got := told4(t, c.events...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestLinksAreBounded: of ids far apart, of operators that all differ and of kernels without one no more is kept than
// there is room for, and what is left out is said.
func TestLinksAreBounded(t *testing.T) {
	l := newLinks()
	for i := range uint64(maxPages + 10) {
		l.slot(i*pageIDs*7, true)
	}
	if len(l.pages) != maxPages {
		t.Errorf("%d pages", len(l.pages))
	}
	for i := range maxSigns + 10 {
		l.sign([]byte(fmt.Sprint("op ", i)), nil)
	}
	if len(l.list) != maxSigns || len(l.signs) != maxSigns-1 {
		t.Errorf("%d operators that differ", len(l.list))
	}
	for i := range maxWaiting + 10 {
		l.kernel(Products, 1, fmt.Appendf(nil, `{"External id":%d}`, 1<<40+i))
	}
	if len(l.waits) != maxWaiting || l.dropped != 10 || l.time[tallied{Products, 0}] != 10 {
		t.Errorf("%d kernels wait, %d are dropped: %v", len(l.waits), l.dropped, l.time)
	}
	for i := range maxThreads + 10 {
		l.thread(fmt.Appendf(nil, `{"tid":%d}`, i))
	}
	if len(l.backward) != maxThreads {
		t.Errorf("%d threads", len(l.backward))
	}
	var all strings.Builder
	for i := range maxSigns + 10 {
		fmt.Fprintf(&all, hostEvent+","+kernelEvent+",", fmt.Sprint("op", i), 1, i+1, "", i+1, 1<<30+i)
	}
	log := logOf(t, "["+all.String()+"]")
	if !log.Noted("operators_dropped") || len(log.Operators) != maxSigns {
		t.Errorf("%d operators, %v", len(log.Operators), log.Notes)
	}
}

// TestSizes: what stands in "Input Dims".
func TestSizes(t *testing.T) {
	for text, want := range map[string][][]int64{
		"[[2048, 4096], [], [7]]": {{2048, 4096}, nil, {7}}, "[]": nil, "": nil, "[[[1,2],[3]],[4]]": {nil, {4}},
		"[[1,2,3,4,5]]": {{1, 2, 3, 4, 5}},
	} {
		got, _ := sizesOf([]byte(text))
		for i := range got {
			var w []int64
			if i < len(want) {
				w = want[i]
			}
			if len(got[i])+len(w) > 0 && !reflect.DeepEqual(got[i], w) {
				t.Errorf("%s: tensor %d is %v, want %v", text, i, got[i], w)
			}
		}
	}
	if p, ok := multiplied([]int64{3, 5, 7}, []int64{3, 7, 11}, false); !ok || p.Batch != 3 || p.M != 5 || p.N != 11 || p.K != 7 {
		t.Errorf("%+v, %v", p, ok)
	}
	if got := typeOf([]byte(`["float", "c10::BFloat16"]`), 1); got != "c10::BFloat16" {
		t.Error(got)
	}
}
