package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/quant/quanttest"
)

func TestOpenWeights(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "model.safetensors")
	if err := os.WriteFile(file, quanttest.Safetensors(quanttest.Llama(2, 128)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{file, dir} {
		m, files, err := OpenWeights(ref)
		if err != nil {
			t.Fatal(err)
		}
		roles := map[dtype.Role]int{}
		for _, x := range m.Tensors {
			roles[x.Role]++
			if x.Role == dtype.FFNUp && (x.Rows != 256 || x.Cols != 128 || x.Batch != 1 || x.Layer < 0) {
				t.Errorf("%+v", x)
			}
		}
		for role, want := range map[dtype.Role]int{dtype.TokenEmbd: 1, dtype.Output: 1, dtype.AttnQ: 2, dtype.AttnK: 2, dtype.AttnV: 2, dtype.AttnOutput: 2, dtype.FFNGate: 2, dtype.FFNUp: 2, dtype.FFNDown: 2, dtype.AttnNorm: 2, dtype.OutputNorm: 1} {
			if roles[role] != want {
				t.Errorf("%d tensors are %s, want %d", roles[role], role, want)
			}
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := OpenWeights(filepath.Join(dir, "absent.gguf")); err == nil {
		t.Error("a file that is not there is open")
	}
	var e *memwall.Error
	if _, _, err := OpenWeights(t.TempDir()); !errors.As(err, &e) {
		t.Fatalf("an empty folder gives %v", err)
	}
	check(t, e, memwall.UnknownModel, "folder", "weights")
}

func TestOpenWeightsGGUF(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.gguf")
	write(t, file, networks[0].file().File())
	m, files, err := OpenWeights(file)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	layers := 0
	for _, x := range m.Tensors {
		if x.Role == dtype.AttnQ {
			layers++
		}
		if x.Role == "" {
			t.Errorf("%s has no role", x.Name)
		}
	}
	if layers == 0 {
		t.Error("no queries")
	}
}
