package torch

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write composed traces anew")

// TestComposed: operators.json.gz is what compose makes.
func TestComposed(t *testing.T) {
	name, want := filepath.Join("testdata", "operators.json.gz"), compose()
	if *update {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = w.Write(want)
		_ = w.Close()
		if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := unpacked(t, "operators.json.gz"); !bytes.Equal(got, want) {
		t.Error("the file is another one: go test ./engine/torch -update")
	}
}

func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// composer writes a trace in the order and with the fields of kineto: events of the host by their time, then launches,
// kernels and arrows. Sizes and order of operators are those of Llama 3.1 8B in PyTorch's eager mode; times are made up.
type composer struct {
	host, device bytes.Buffer
	id           int
	at, free     float64 // microseconds, of the host and of the device
	thread       int
}

const (
	forwardThread, backwardThread = 4242, 4300
	tokens, hidden                = 16384, 4096
	micro                         = 1e6
)

func (c *composer) event(b *bytes.Buffer, format string, args ...any) {
	if b.Len() > 0 {
		b.WriteString(",\n")
	}
	fmt.Fprintf(b, format, args...)
}

// op is an operator of the host.
func (c *composer) op(name, args string) int {
	c.id++
	c.at += 9.5
	c.event(&c.host, `{"ph":"X","cat":"cpu_op","name":"%s","pid":4242,"tid":%d,"ts":%.3f,"dur":8.250,"args":{"External id":%d,"Record function id":0%s,"Ev Idx":%d}}`, name, c.thread, c.at, c.id, args, c.id-1)
	return c.id
}

// kernel of an operator, which takes so many seconds.
func (c *composer) kernel(of int, name string, seconds float64, stream int, args string) {
	correlation := 70000 + 11*of
	c.free = max(c.free, c.at+4)
	c.event(&c.device, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4242,"tid":%d,"ts":%.3f,"dur":3.1,"args":{"External id":%d,"cbid":211,"correlation":%d}}`, c.thread, c.at+1, of, correlation)
	c.event(&c.device, `{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"External id":%d,"device":0,"stream":%d,"correlation":%d%s}}`, name, stream, c.free, seconds*micro, of, stream, correlation, args)
	if stream == 7 {
		c.free += seconds*micro + 1.5
	}
}

// mm multiplies m×k by k×n; lie says how the operands lie in memory: t is transposed.
func (c *composer) mm(m, n, k int, lie string) {
	a, b := fmt.Sprintf("[%d,1]", k), fmt.Sprintf("[%d,1]", n)
	if lie[0] == 't' {
		a = fmt.Sprintf("[1,%d]", m)
	}
	if lie[1] == 't' {
		b = fmt.Sprintf("[1,%d]", k)
	}
	of := c.op("aten::mm", fmt.Sprintf(`,"Concrete Inputs":["",""],"Input type":["c10::BFloat16","c10::BFloat16"],"Input Strides":[%s,%s],"Input Dims":[[%d,%d],[%d,%d]]`, a, b, m, k, k, n))
	reached := 0.66e15
	if min(m, n, k) <= 1024 {
		reached = 0.48e15
	}
	c.kernel(of, "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_"+map[string]string{"nt": "TNT", "nn": "NNT", "tn": "NTT"}[lie],
		2*float64(m)*float64(n)*float64(k)/reached, 7, "")
}

// cheap goes through so many bytes.
func (c *composer) cheap(name, kernel string, bytes float64) {
	c.kernel(c.op(name, ""), kernel, bytes/2.4e12, 7, "")
}

func (c *composer) element(name string, bytes float64) {
	c.cheap(name, "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "+
		"c10::BFloat16>, std::array<char*, 3ul> >(int)", bytes)
}

func (c *composer) collective(name, dtype string, in, out int, seconds float64) {
	said := fmt.Sprintf(`,"Collective name":%q,"In msg nelems":%d,"Out msg nelems":%d,"Group size":8,"dtype":%q,"Process Group Name":"0"`, name, in, out, dtype)
	c.kernel(c.op("record_param_comms", said), "ncclDevKernel_"+
		map[string]string{"_allgather_base": "AllGather_RING_LL", "_reduce_scatter_base": "ReduceScatter_Sum_f32_RING_LL"}[name]+
		"(ncclDevKernelArgsStorage<4096ul>)", seconds, 20, said)
}

// linear layers of a block: outputs and inputs.
var linears = [][2]int{{4096, 4096}, {1024, 4096}, {1024, 4096}, {4096, 4096}, {14336, 4096}, {14336, 4096}, {4096, 14336}}

func (c *composer) linear(n, k int) { c.op("aten::linear", ""); c.mm(tokens, n, k, "nt") }

func (c *composer) gradients(n, k int) {
	c.op("autograd::engine::evaluate_function: MmBackward0", "")
	c.op("MmBackward0", "")
	c.mm(n, k, tokens, "tn")
	c.mm(tokens, k, n, "nn")
}

const block, stream = 218112000, 2 * tokens * hidden // parameters of a block; bytes of the residual stream

func (c *composer) gather() { c.collective("_allgather_base", "BFloat16", block/8, block, 2.1e-3) }

func (c *composer) norm(name string, bytes float64) {
	c.cheap(name, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, true>(int, float)", bytes)
}

func (c *composer) forward() {
	c.gather()
	c.norm("aten::_fused_rms_norm", 2*stream)
	for i, l := range linears {
		c.linear(l[0], l[1])
		switch i {
		case 2:
			c.element("aten::mul", 2.5*stream)
			c.kernel(c.op("aten::_flash_attention_forward", ""),
				"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >(pytorch_flash::Flash_fwd_params)", 5.2e-3,
				7, "")
		case 3:
			c.element("aten::add", 3*stream)
			c.norm("aten::_fused_rms_norm", 2*stream)
		case 5:
			c.element("aten::silu", 7*stream)
			c.element("aten::mul", 10.5*stream)
		case 6:
			c.element("aten::add", 3*stream)
		}
	}
}

func (c *composer) backward() {
	c.gather()
	for i := len(linears) - 1; i >= 0; i-- {
		switch i {
		case 5:
			c.element("aten::mul", 21*stream)
			c.element("aten::silu_backward", 10.5*stream)
		case 3:
			c.norm("aten::_fused_rms_norm_backward", 4*stream)
		case 2:
			c.kernel(c.op("aten::_flash_attention_backward", ""),
				"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8> "+
					">(pytorch_flash::Flash_bwd_params)", 14.9e-3, 7, "")
			c.element("aten::mul", 5*stream)
		}
		c.gradients(linears[i][0], linears[i][1])
	}
	c.norm("aten::_fused_rms_norm_backward", 4*stream)
	c.element("aten::add", 3*stream)
	c.collective("_reduce_scatter_base", "Float", block, block/8, 4.3e-3)
}

// step of training: 32 blocks, the head and its loss, and the optimizer of an eighth of the parameters.
func (c *composer) step() {
	const layers, vocabulary, logits = 32, 128256, 4 * tokens * 128256
	c.thread = forwardThread
	c.cheap("aten::embedding", "void at::native::(anonymous namespace)::vectorized_gather_kernel<16, long>(char*, char*, long*)", 2*stream)
	for range layers {
		c.forward()
	}
	c.linear(vocabulary, hidden)
	c.cheap("aten::_log_softmax", "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, "+
		"at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*)", 2*logits)
	c.thread = backwardThread
	c.op("autograd::engine::evaluate_function: LogSoftmaxBackward0", "")
	c.cheap("aten::_log_softmax_backward_data", "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float, float, "+
		"at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*)", 3*logits)
	c.gradients(vocabulary, hidden)
	for range layers {
		c.backward()
	}
	c.thread = forwardThread
	c.cheap("aten::_fused_adamw_", "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "+
		"namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> >(int)",
		28*8030261248/8)
}

func compose() []byte {
	c := &composer{at: 1000, free: 1000}
	c.step()
	c.event(&c.host, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":4242,"tid":%d,"ts":1000.000,"dur":%.3f,"args":{"External id":%d}}`, forwardThread, c.free-1000+70000, c.id+1)
	return fmt.Appendf(nil, `{"schemaVersion":1,
"composedBy":"memwall: order, sizes and fields as PyTorch 2.8 writes them in eager mode, times made up",
"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}],
"distributedInfo":{"backend":"nccl","rank":0,"world_size":8},
"record_shapes":1,
"traceEvents":[
%s,
%s
]}
`, c.host.Bytes(), c.device.Bytes())
}
