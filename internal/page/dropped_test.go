package page

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// TestSnapshotPage: a snapshot is shown with its peak, its picture and what held it; half a file, and one that would run something, are
// told what is wrong.
func TestSnapshotPage(t *testing.T) {
	s := Site{Asker: &memwall.Asker{Models: memwall.Catalog{}}, OnePage: true}
	data, err := os.ReadFile("../../snapshot/testdata/training.pickle")
	if err != nil {
		t.Fatal(err)
	}
	shown := SnapshotPage(context.Background(), &s, strings.NewReader(string(data)))
	for _, words := range []string{"peak ", "<svg", "held at the peak", "optimizer"} {
		if !strings.Contains(shown.HTML, words) {
			t.Errorf("status %d, without %q", shown.Status, words)
		}
	}
	for name, text := range map[string]string{"half": string(data[:len(data)/2]), "a global": "\x80\x04cos\nsystem\n(S'ls'\ntR.", "empty": "", "no pickle": "<script>alert(1)</script>"} {
		got := SnapshotPage(context.Background(), &s, strings.NewReader(text))
		if got.Status != 422 || !strings.Contains(got.HTML, "fix: ") || strings.Contains(got.HTML, "<script>alert") {
			t.Errorf("%s: status %d, %.300s", name, got.Status, got.HTML[max(0, strings.Index(got.HTML, "<main")):])
		}
	}
}

// TestTrainingDropped: a configuration that is pasted or dropped is the page of training, whose address says all of it; a log that
// begins with a command is still a log.
func TestTrainingDropped(t *testing.T) {
	s := Site{Asker: &memwall.Asker{Models: memwall.Catalog{}}}
	text := "base_model: meta-llama/Llama-3.1-8B\nadapter: qlora\nload_in_4bit: true\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nlora_r: 32\nlora_target_modules:\n  - q_proj\n  - v_proj\n"
	got := s.Page(context.Background(), Pasted, "on=rtx-4090", text)
	at, _, _ := strings.Cut(got.HTML[strings.Index(got.HTML, `data-at="`)+9:], `"`)
	for _, words := range []string{"/train?", "micro-batch=2", "seq=4096", "method=qlora", "on=rtx-4090"} {
		if !strings.Contains(at, words) {
			t.Errorf("status %d, the address %s is without %s", got.Status, at, words)
		}
	}
	if got := s.Page(context.Background(), Pasted, "", exampleLog); !strings.Contains(got.HTML, "CUDA ran out of memory") {
		t.Error("a log is taken for a configuration")
	}
}
