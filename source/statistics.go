package source

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/quant"
)

// OpenStatistics reads statistics of the inputs of a model's matrices: an importance matrix of llama.cpp, and a
// safetensors file of activations; either may be "". Activations are read lazily until the closer is closed.
func OpenStatistics(importance, activations string) (*quant.Statistics, io.Closer, error) {
	s, w := &quant.Statistics{}, &weightFiles{}
	var err error
	if importance != "" {
		if s.Importance, err = readImportance(importance); err != nil {
			return nil, nil, err
		}
	}
	if activations != "" {
		if err := w.file(&disk{}, home(filepath.ToSlash(activations))); err != nil {
			_ = w.Close() // the earlier error takes precedence
			return nil, nil, err
		}
		s.Activations = map[string]*quant.Tensor{}
		for _, t := range w.Tensors {
			if why := unreadable(t); why != "" {
				_ = w.Close() // as above
				return nil, nil, badFile(path.Base(activations), t.Name, fmt.Sprintf("tensor %s %s", format.Quote(t.Name), why), "save inputs as tensors of tokens and columns, in f32, f16 or bf16")
			}
			s.Activations[inputOf(t.Name)] = t
		}
	}
	d := &disk{}
	for _, name := range []string{importance, activations} {
		if name != "" {
			file := home(filepath.ToSlash(name))
			s.Identity += d.identity(path.Dir(file)+"/", []string{path.Base(file)})
		}
	}
	return s, w, nil
}

func readImportance(name string) (map[string][]float32, error) {
	f, size, err := (&disk{}).file(home(filepath.ToSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := quant.ReadImportance(f, size)
	if err != nil {
		return nil, badFile(path.Base(name), "", err.Error(), "make it with llama-imatrix")
	}
	return v, nil
}

// inputOf returns the matrix that activations are inputs of.
func inputOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".input"), ".weight")
}

// unreadable returns why a tensor cannot hold inputs.
func unreadable(t *quant.Tensor) string {
	switch {
	case t.Dims < 2:
		return "is not a list of inputs"
	case t.Elements() == 0:
		return "is empty"
	case !t.Readable():
		return "is of a type that is not read"
	}
	return ""
}
