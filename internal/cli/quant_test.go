package cli_test

import (
	"encoding/binary"
	"fmt"
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
	inputs := []quanttest.Tensor{{Name: "model.layers.0.self_attn.q_proj.input", Shape: []int{300, 256}, X: quanttest.Heavy(300*256, 1, 3)}, {Name: "model.layers.1.mlp.up_proj", Shape: []int{10, 256}, X: quanttest.Heavy(2560, 1, 4)}}
	loud := []quanttest.Tensor{}
	for _, name := range []string{"blk.0.attn_q", "blk.0.ffn_gate"} {
		x := quanttest.Normal(300*256, 1, 8)
		for i := range x {
			if i%64 == 5 {
				x[i] *= 32
			}
		}
		loud = append(loud, quanttest.Tensor{Name: name, Shape: []int{300, 256}, X: x})
	}
	wrong := []quanttest.Tensor{{Name: "model.layers.0.self_attn.q_proj", Shape: []int{4, 8}, X: quanttest.Heavy(32, 1, 3)}}
	const config = `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":256,"intermediate_size":512,"num_attention_heads":4,"num_key_value_heads":1,"num_hidden_layers":2,"vocab_size":512,"max_position_embeddings":4096,"torch_dtype":"bfloat16","rms_norm_eps":1e-5}`
	for name, data := range map[string][]byte{
		"small.safetensors": small, "folder/model.safetensors": small, "small.imatrix": importance(2, 256), "inputs.safetensors": quanttest.Safetensors(inputs), "loud.safetensors": quanttest.Safetensors(loud), "wrong.safetensors": quanttest.Safetensors(wrong),
		"folder/config.json": []byte(config), "small.gguf": quanttest.GGUF(quanttest.Llama(2, 256)),
		"cache.safetensors":  quanttest.Safetensors(quanttest.Cache(2, 2, 300, 64)),
		"cut.safetensors":    small[:len(small)-1000],
		"broken.safetensors": quanttest.Safetensors([]quanttest.Tensor{{Name: "a", Shape: []int{2, 256}, X: quanttest.Normal(512, 1, 2)}, {Name: "b", Shape: []int{2, 256}, X: broken}}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// importance is an importance matrix of quanttest.Llama's layers, as older versions of llama.cpp wrote it.
func importance(layers, width int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(7*layers))
	for l := range layers {
		for _, role := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
			name, n := fmt.Sprintf("blk.%d.%s.weight", l, role), width
			if role == "ffn_down" {
				n = 2 * width
			}
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(name))), name...)
			b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, 1), uint32(n))
			for i := range n {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(1+i%7*i%5)))
			}
		}
	}
	return b
}
