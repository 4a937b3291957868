package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/quant/quanttest"
	"github.com/memwall/memwall/source"
)

// smallDisk holds so many bytes.
type smallDisk struct {
	File
	left int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return d.File.Write(b)
}

// TestFullDisk: a disk that fills up leaves nothing behind, under the final name or another, of weights and of measures alike.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "small.gguf")
	if err := os.WriteFile(in, quanttest.GGUF(quanttest.Llama(1, 256)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--write", filepath.Join(dir, "out.gguf")}, {"--save", filepath.Join(dir, "own.json")}} {
		var out, talk bytes.Buffer
		code := Run(Config{Args: append([]string{"quant", in, "--formats", "q8_0"}, args...), Stdout: &out, Stderr: &talk, Weights: source.OpenWeights, CreateFile: func(name string) (File, error) {
			f, err := createFile(name)
			return &smallDisk{f, 300}, err
		}})
		if code != unanswered || !strings.Contains(strings.Join(strings.Fields(talk.String()), " "), "no space left on device") {
			t.Errorf("%s: exit %d, %s", args[0], code, talk.String())
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("%s leaves %v, %v", args[0], left, err)
		}
	}
}
