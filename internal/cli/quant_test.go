package cli_test

import (
	"math"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/quant/quanttest"
)

// quantFiles writes the models that quant.txtar reads.
func quantFiles(dir string) error {
	small := quanttest.Safetensors(quanttest.Llama(2, 256))
	broken := quanttest.Normal(512, 1, 1)
	broken[7], broken[8], broken[300] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"small.safetensors": small, "folder/model.safetensors": small, "cut.safetensors": small[:len(small)-1000],
		"broken.safetensors": quanttest.Safetensors([]quanttest.Tensor{{Name: "a", Shape: []int{2, 256}, X: quanttest.Normal(512, 1, 2)}, {Name: "b", Shape: []int{2, 256}, X: broken}}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
