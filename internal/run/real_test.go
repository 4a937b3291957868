package run

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/internal/bench"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/source"
)

// small is a network that llama.cpp loads: its tokens are the bytes, as GPT-2 writes them, and its weights are zero.
type small struct{ layers, embd, ff, heads, kvHeads int64 }

func (s small) file(t *testing.T) string {
	b := gguftest.New("llama").Set("general.name", gguftest.Str("Small")).
		Set("llama.block_count", gguftest.U32(s.layers)).
		Set("llama.context_length", gguftest.U32(8192)).
		Set("llama.embedding_length", gguftest.U32(s.embd)).
		Set("llama.feed_forward_length", gguftest.U32(s.ff)).
		Set("llama.attention.head_count", gguftest.U32(s.heads)).
		Set("llama.attention.head_count_kv", gguftest.U32(s.kvHeads)).
		Set("llama.rope.freq_base", gguftest.F32(10000)).
		Set("llama.attention.layer_norm_rms_epsilon", gguftest.F32(1e-5)).
		Set("general.file_type", gguftest.U32(7)).
		Set("general.quantization_version", gguftest.U32(2)).
		Set("tokenizer.ggml.model", gguftest.Str("gpt2")).
		Set("tokenizer.ggml.pre", gguftest.Str("gpt-2")).
		Set("tokenizer.ggml.tokens", byteTokens()).
		Set("tokenizer.ggml.token_type", kinds(256, 2)).
		Set("tokenizer.ggml.merges", gguftest.Array[gguftest.Str]{"a b"}).
		Set("tokenizer.ggml.bos_token_id", gguftest.U32(256)).
		Set("tokenizer.ggml.eos_token_id", gguftest.U32(257))
	s.tensors(b)
	name := filepath.Join(t.TempDir(), "small-Q8_0.gguf")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	whole := b.File()
	if _, err := io.Copy(f, io.NewSectionReader(whole, 0, whole.Len)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s small) tensors(b *gguftest.Builder) {
	tokens, kv := int64(258), s.embd/s.heads*s.kvHeads
	b.Tensor("token_embd.weight", dtype.Q8_0, s.embd, tokens)
	b.Tensor("output_norm.weight", dtype.F32, s.embd)
	b.Tensor("output.weight", dtype.Q8_0, s.embd, tokens)
	for i := range s.layers {
		for _, x := range []struct {
			role string
			f    *dtype.Format
			dims []int64
		}{
			{"attn_norm", dtype.F32, []int64{s.embd}}, {"ffn_norm", dtype.F32, []int64{s.embd}},
			{"attn_q", dtype.Q8_0, []int64{s.embd, s.embd}}, {"attn_output", dtype.Q8_0, []int64{s.embd, s.embd}},
			{"attn_k", dtype.Q8_0, []int64{s.embd, kv}}, {"attn_v", dtype.Q8_0, []int64{s.embd, kv}},
			{"ffn_gate", dtype.Q8_0, []int64{s.embd, s.ff}}, {"ffn_up", dtype.Q8_0, []int64{s.embd, s.ff}},
			{"ffn_down", dtype.Q8_0, []int64{s.ff, s.embd}},
		} {
			b.Tensor(fmt.Sprintf("blk.%d.%s.weight", i, x.role), x.f, x.dims...)
		}
	}
}

// byteTokens are the 256 bytes in the letters that GPT-2's encoder gives them (encoder.py, bytes_to_unicode), then two of control.
func byteTokens() (out gguftest.Array[gguftest.Str]) {
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae && b <= 0xff {
			out = append(out, gguftest.Str(string(b)))
			continue
		}
		out = append(out, gguftest.Str(string(next)))
		next++
	}
	return append(out, "<s>", "</s>")
}

// kinds of tokens: plain ones, then some of control.
func kinds(plain, control int) (out gguftest.Array[gguftest.I32]) {
	for range plain {
		out = append(out, 1)
	}
	for range control {
		out = append(out, 3)
	}
	return out
}

// TestRealServer runs a llama-server of PATH with a file of ours: every buffer that it prints is what was predicted, its API answers, and
// it ends when it is asked to.
func TestRealServer(t *testing.T) {
	if _, err := exec.LookPath("llama-server"); err != nil {
		t.Skip("llama-server is not in PATH")
	}
	for _, c := range []struct {
		net  small
		plan memwall.Request
	}{
		{small{4, 512, 1024, 8, 4}, fit(2048, 1)},
		{small{6, 768, 2048, 12, 12}, fit(1024, 3)},
		{small{2, 256, 768, 4, 1}, fit(4096, 1)},
	} {
		r := c.plan
		r.Model = c.net.file(t)
		r.Hardware = "cpu,host=16GiB@40GB/s"
		shown := 0
		p := &Plan{Asker: &memwall.Asker{Models: source.New(source.Options{})}, Request: r, Port: freePort(t), Say: io.Discard, Once: true}
		p.Log = filepath.Join(t.TempDir(), "log")
		p.Show = func(a *memwall.Answer) error {
			shown++
			exact(t, &c.net, a)
			return nil
		}
		s, err := p.Server(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Serve(t.Context(), s); err != nil || shown != 1 {
			log, _ := os.ReadFile(p.Log)
			t.Errorf("%+v: %v, shown %d times\n%s", c.net, err, shown, log)
		}
	}
}

func fit(context, users int64) memwall.Request {
	r := memwall.Request{Ask: "fit"}
	r.Engine = "llama-server"
	r.Context, r.Sequences = plan.Int(context), plan.Int(users)
	return r
}

// exact: each figure that the server prints is ours, to the last digit that it prints.
func exact(t *testing.T, net *small, a *memwall.Answer) {
	t.Helper()
	seen := map[string]bool{}
	for _, l := range a.Compare {
		if l.Printed != nil && !l.Equal {
			t.Errorf("%+v: %s %s is %v, and %v was predicted", *net, l.Device, l.Name, *l.Printed, l.Ours)
		}
		seen[l.Name] = seen[l.Name] || l.Printed != nil
	}
	for _, name := range []string{"model buffer size", "KV buffer size", "compute buffer size"} {
		if !seen[name] {
			t.Errorf("%+v: %s was not printed", *net, name)
		}
	}
}

// TestRealBench measures such a server as users load it.
func TestRealBench(t *testing.T) {
	if _, err := exec.LookPath("llama-server"); err != nil {
		t.Skip("llama-server is not in PATH")
	}
	r := fit(1024, 2)
	r.Model, r.Hardware = small{2, 256, 768, 4, 1}.file(t), "cpu,host=16GiB@40GB/s"
	p := &Plan{Asker: &memwall.Asker{Models: source.New(source.Options{})}, Request: r, Port: freePort(t), Say: io.Discard}
	s, err := p.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	running, err := s.Start(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop(time.Minute)
	if err := running.Serves(t.Context()); err != nil {
		t.Fatal(err)
	}
	server, words := &bench.Server{Address: s.Address}, bench.NewWords(1)
	if err := words.Learn(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	l, err := server.Measure(t.Context(), 2, bench.Load{Prompt: 200, Answer: 16, Requests: 2}, words)
	if err != nil || l.Completed != 4 || l.Failed > 0 || l.TPOT == nil || l.TTFT.P50 <= 0 || l.Output <= 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if each := l.Prompt / l.Completed; each < 180 || each > 220 {
		t.Errorf("prompts have %d tokens, and 200 were asked for", each)
	}
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
