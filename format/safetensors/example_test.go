package safetensors_test

import (
	"fmt"

	"github.com/memwall/memwall/format/safetensors"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
)

func ExampleRead() {
	file := new(safetensorstest.Builder).Meta("format", "pt").
		Tensor("model.norm.weight", "BF16", 16, 4096).
		Tensor("lm_head.weight", "F8_E4M3", 8, 128256, 4096).File()
	f, err := safetensors.Read(file, file.Len)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		fmt.Println(t.Name, t.Format.Name, t.Shape, t.Bytes())
	}
	// Output:
	// model.norm.weight bf16 [4096] 8192
	// lm_head.weight fp8_e4m3 [128256 4096] 525336576
}
