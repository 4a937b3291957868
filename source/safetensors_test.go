package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
	"github.com/memwall/memwall/unit"
)

// llamaFolder writes the first network into a folder after letting change see its tensors.
func llamaFolder(t *testing.T, config string, change func(b *safetensorstest.Builder, x tensorLine) bool) string {
	t.Helper()
	dir := t.TempDir()
	if config != "" {
		text(t, filepath.Join(dir, "config.json"), config)
	}
	b := &safetensorstest.Builder{}
	for _, x := range tensorLines(networks[0].hub) {
		if change == nil || !change(b, x) {
			b.Tensor(x.name, "BF16", 16, x.shape...)
		}
	}
	write(t, filepath.Join(dir, "model.safetensors"), b.File())
	return dir
}

// quantisedConfig is the first network with a quantization_config.
func quantisedConfig(q string) string {
	return strings.TrimSuffix(networks[0].config, "}") + `,"quantization_config":` + q + "}"
}

// isBlockLinear: the matrices inside the layers.
func isBlockLinear(x tensorLine) bool { return strings.Contains(x.name, "_proj.") }

// TestQuantisedFiles: tensors of quantised checkpoints, companions included, add up to what the file holds;
// the recipe of the configuration promises the same bytes for each of them.
func TestQuantisedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		add    func(b *safetensorstest.Builder, module string, rows, cols int64)
		recipe string
	}{
		"fp8 blocks": {`{"quant_method":"fp8","weight_block_size":[32,32]}`, func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".weight", "F8_E4M3", 8, rows, cols).Tensor(m+".weight_scale_inv", "F32", 32, unit.CeilDiv(rows, 32), unit.CeilDiv(cols, 32))
		}, "fp8-block (config.json)"},
		"fp8 channels": {compressed("float-quantized", `"num_bits":8,"type":"float","strategy":"channel"`, `{"dynamic":true}`), func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".weight", "F8_E4M3", 8, rows, cols).Tensor(m+".weight_scale", "BF16", 16, rows, 1)
		}, "fp8"},
		"int4 packed": {compressed("pack-quantized", `"num_bits":4,"type":"int","strategy":"group","group_size":32`, "null"), func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".weight_packed", "I32", 32, rows, cols/8).Tensor(m+".weight_scale", "BF16", 16, rows, cols/32).Tensor(m+".weight_shape", "I64", 64, 2)
		}, "int4-g32"},
		"nvfp4": {`{"quant_method":"modelopt","quant_algo":"NVFP4","ignore":["lm_head"]}`, func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".weight", "U8", 8, rows, cols/2).Tensor(m+".weight_scale", "F8_E4M3", 8, rows, cols/16).Tensor(m+".weight_scale_2", "F32", 32).Tensor(m+".input_scale", "F32", 32)
		}, "nvfp4"},
		"gptq": {`{"quant_method":"gptq","bits":4,"group_size":32,"desc_act":true}`, func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".qweight", "I32", 32, cols/8, rows).Tensor(m+".qzeros", "I32", 32, cols/32, rows/8).Tensor(m+".scales", "F16", 16, cols/32, rows).Tensor(m+".g_idx", "I32", 32, cols)
		}, "gptq-g32"},
		"awq": {`{"quant_method":"awq","bits":4,"group_size":32}`, func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".qweight", "I32", 32, cols, rows/8).Tensor(m+".qzeros", "I32", 32, cols/32, rows/8).Tensor(m+".scales", "F16", 16, cols/32, rows)
		}, "awq-int4-g32"},
		"bitsandbytes 8": {`{"quant_method":"bitsandbytes","load_in_8bit":true}`, func(b *safetensorstest.Builder, m string, rows, cols int64) {
			b.Tensor(m+".weight", "I8", 8, rows, cols).Tensor(m+".SCB", "F32", 32, rows).Tensor(m+".weight_format", "U8", 8)
		}, "bnb-int8"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := llamaFolder(t, quantisedConfig(c.config), func(b *safetensorstest.Builder, x tensorLine) bool {
				if !isBlockLinear(x) {
					return false
				}
				c.add(b, strings.TrimSuffix(x.name, ".weight"), x.shape[0], x.shape[1])
				return true
			})
			r := resolve(t, dir)
			if r.Recipe != c.recipe {
				t.Errorf("recipe %q, want %q", r.Recipe, c.recipe)
			}
			recipe := r.Scheme
			if recipe == nil {
				recipe = dtype.FindRecipe(r.Recipe)
			}
			if got, want := r.Weights.Bytes(), r.Model.Store(recipe).Bytes(); got != want || r.Weights.Extra != 0 || got != dataBytes(t, dir) {
				t.Errorf("%d bytes (%d unused) by the files, %d by the recipe, %d of data", got, r.Weights.Extra, want, dataBytes(t, dir))
			}
			everyScheme(t, r)
		})
	}
}

func compressed(format, weights, inputs string) string {
	return fmt.Sprintf(`{"quant_method":"compressed-tensors","format":%q,"ignore":["lm_head"],"config_groups":{"group_0":{"targets":["Linear"],"weights":{%s},"input_activations":%s}}}`, format, weights, inputs)
}

// dataBytes is what a folder's one safetensors file holds behind its header.
func dataBytes(t *testing.T, dir string) unit.Bytes {
	t.Helper()
	r, err := New(Options{}).Model(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, size, err := (&disk{}).file(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 8)
	if _, err := f.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	header := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	if r.FileBytes != unit.Bytes(size) {
		t.Errorf("FileBytes %d of a file of %d", r.FileBytes, size)
	}
	return unit.Bytes(size - 8 - header)
}

// TestFourBitBitsAndBytes: the text of the quantisation state counts with its tensor, though no recipe tells
// its length.
func TestFourBitBitsAndBytes(t *testing.T) {
	dir := llamaFolder(t, quantisedConfig(`{"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true}`), func(b *safetensorstest.Builder, x tensorLine) bool {
		if !isBlockLinear(x) {
			return false
		}
		n := x.shape[0] * x.shape[1]
		b.Tensor(x.name, "U8", 8, n/2, 1).Tensor(x.name+".absmax", "U8", 8, n/64).Tensor(x.name+".nested_absmax", "F32", 32, unit.CeilDiv(n, 64*256))
		b.Tensor(x.name+".nested_quant_map", "F32", 32, 256).Tensor(x.name+".quant_map", "F32", 32, 16).Tensor(x.name+".quant_state.bitsandbytes__nf4", "U8", 8, 173)
		return true
	})
	r := resolve(t, dir)
	if r.Recipe != "nf4" || r.Weights.Extra != 0 || r.Weights.Bytes() != dataBytes(t, dir) {
		t.Errorf("recipe %s, %d bytes (%d unused) of %d", r.Recipe, r.Weights.Bytes(), r.Weights.Extra, dataBytes(t, dir))
	}
}

// TestPackedExperts: gpt-oss keeps gate and up of all experts in one tensor of blocks and one of scales.
func TestPackedExperts(t *testing.T) {
	n := networks[5]
	dir := t.TempDir()
	text(t, filepath.Join(dir, "config.json"), strings.TrimSuffix(n.config, "}")+`,"quantization_config":{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router","model.embed_tokens","lm_head"]}}`)
	b := &safetensorstest.Builder{}
	for _, x := range tensorLines(n.hub) {
		if s := x.shape; strings.HasSuffix(x.name, "_proj") {
			b.Tensor(x.name+"_blocks", "U8", 8, s[0], s[2], s[1]/32, 16).Tensor(x.name+"_scales", "U8", 8, s[0], s[2], s[1]/32)
			continue
		}
		b.Tensor(x.name, "BF16", 16, x.shape...)
	}
	write(t, filepath.Join(dir, "model.safetensors"), b.File())
	r := resolve(t, dir)
	if r.Recipe != "mxfp4" || r.Scheme != nil || r.Weights.Extra != 0 || r.Weights.Bytes() != dataBytes(t, dir) {
		t.Errorf("recipe %s, %d bytes (%d unused) of %d", r.Recipe, r.Weights.Bytes(), r.Weights.Extra, dataBytes(t, dir))
	}
	everyScheme(t, r)
}

// TestHeads: a tied head may stand in the files a second time; an untied one may be missing (embedding
// models).
func TestHeads(t *testing.T) {
	tied := strings.Replace(networks[0].config, `"tie_word_embeddings":false`, `"tie_word_embeddings":true`, 1)
	twice := resolve(t, llamaFolder(t, tied, nil))
	if twice.Weights.Extra != 256*64*2 || !hasNote(twice, "duplicate_head") || !hasNote(twice, "unused_tensors") {
		t.Errorf("a tied head stored twice: %d unused bytes, %v", twice.Weights.Extra, twice.Notes)
	}
	without := func(b *safetensorstest.Builder, x tensorLine) bool { return x.name == "lm_head.weight" }
	if once := resolve(t, llamaFolder(t, tied, without)); once.Weights.Extra != 0 || once.Weights.Bytes() != twice.Weights.Bytes()-256*64*2 || len(once.Notes) != 0 {
		t.Errorf("a tied head stored once: %d bytes, %v", once.Weights.Bytes(), once.Notes)
	}
	none := resolve(t, llamaFolder(t, networks[0].config, without))
	if !none.Spec.NoHead || !hasNote(none, "no_head") {
		t.Errorf("no head: %v, %v", none.Spec.NoHead, none.Notes)
	}
}

func hasNote(r *Resolved, code string) bool {
	for _, n := range r.Notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

// TestWithoutConfig: the weights are exact all the same.
func TestWithoutConfig(t *testing.T) {
	for _, config := range []string{"", `{"architectures":["NeverHeardOfForCausalLM"],"model_type":"never"}`} {
		r := resolve(t, llamaFolder(t, config, nil))
		if r.UnknownArch == "" || r.Spec != nil || r.Weights.Bytes() != sumOf(networks[0].hub, 2) || r.Layers != 2 || r.Parameters != int64(sumOf(networks[0].hub, 1)) {
			t.Errorf("%q: %d bytes, %d layers, %d parameters", r.UnknownArch, r.Weights.Bytes(), r.Layers, r.Parameters)
		}
	}
}

// TestUnusedTensors: what no operator uses is counted, and the largest are named.
func TestUnusedTensors(t *testing.T) {
	dir := llamaFolder(t, networks[0].config, func(b *safetensorstest.Builder, x tensorLine) bool {
		if strings.HasSuffix(x.name, "q_proj.weight") {
			b.Tensor(strings.Replace(x.name, "q_proj.weight", "rotary_emb.inv_freq", 1), "F32", 32, 8)
		}
		if x.name == "model.norm.weight" {
			b.Tensor("audio_tower.layers.0.self_attn.q_proj.weight", "BF16", 16, 100).Tensor("model.layers.1.self_attn.mask", "BF16", 16, 10)
		}
		return false
	})
	r := resolve(t, dir)
	if want := unit.Bytes(2*8*4 + 200 + 20); r.Weights.Extra != want || r.Weights.Bytes() != dataBytes(t, dir) {
		t.Errorf("%d unused bytes, want %d", r.Weights.Extra, want)
	}
	for i, n := range r.Notes {
		if n.Code == "unused_tensors" && strings.Count(n.Text, ".") < 6 || i > 0 {
			t.Errorf("notes: %v", r.Notes)
		}
		if !strings.Contains(n.Text, `4 tensors`) || !strings.Contains(n.Text, `"audio_tower.layers.0.self_attn.q_proj.weight"`) || !strings.Contains(n.Text, "…") {
			t.Errorf("note: %s", n.Text)
		}
	}
}

// TestFilesAgainstConfig: tensors that are missing or of another size are errors that name them.
func TestFilesAgainstConfig(t *testing.T) {
	f := New(Options{})
	lacking := llamaFolder(t, networks[0].config, func(b *safetensorstest.Builder, x tensorLine) bool { return strings.Contains(x.name, "layers.1.") })
	check(t, refused(t, f, lacking), memwall.BadFile, "num_hidden_layers = 2", "9 are not among them", "layers.1.self_attn.q_proj.weight", "…")
	wrong := llamaFolder(t, networks[0].config, func(b *safetensorstest.Builder, x tensorLine) bool {
		if x.name != "model.layers.1.mlp.up_proj.weight" {
			return false
		}
		b.Tensor(x.name, "BF16", 16, 160, 63)
		return true
	})
	check(t, refused(t, f, wrong), memwall.BadFile, "model.layers.1.mlp.up_proj.weight", "10,080", "10,240")
	packed := llamaFolder(t, networks[0].config, func(b *safetensorstest.Builder, x tensorLine) bool {
		if x.name != "model.layers.1.mlp.up_proj.weight" {
			return false
		}
		b.Tensor("model.layers.1.mlp.up_proj.qweight", "I32", 32, 160, 7)
		return true
	})
	check(t, refused(t, f, packed), memwall.BadFile, "up_proj.qweight")
}

// TestShards: what can be wrong with the files of one model.
func TestShards(t *testing.T) {
	f := New(Options{})
	n := &networks[0]
	dir := t.TempDir()
	text(t, filepath.Join(dir, "config.json"), n.config)
	n.sharded(t, dir, 3)
	for _, ref := range []string{dir, filepath.Join(dir, shardName(1, 3)), filepath.Join(dir, indexName)} {
		if r := resolve(t, ref); r.Weights.Bytes() != sumOf(n.hub, 2) || !strings.Contains(r.Provenance, "3 safetensors files: 21 tensors") {
			t.Errorf("%s: %d bytes, %s", ref, r.Weights.Bytes(), r.Provenance)
		}
	}
	second := filepath.Join(dir, shardName(1, 3))
	kept := second + ".kept"
	if err := os.Rename(second, kept); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{dir, filepath.Join(dir, shardName(0, 3))} {
		check(t, refused(t, f, ref), memwall.BadFile, "of 3 files these are missing: model-00002-of-00003.safetensors", "fetch")
	}
	write(t, second, (&safetensorstest.Builder{}).File())
	check(t, refused(t, f, dir), memwall.BadFile, "tensors of the index are not in its files")
	if err := os.Truncate(second, 5); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, f, dir), memwall.BadFile, shardName(1, 3))

	if err := os.Rename(kept, second); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, indexName)); err != nil {
		t.Fatal(err)
	}
	if r := resolve(t, dir); r.Weights.Bytes() != sumOf(n.hub, 2) {
		t.Errorf("without an index: %d bytes", r.Weights.Bytes())
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, shardName(0, 3)), second); err != nil {
		t.Fatal(err)
	}
	check(t, refused(t, f, dir), memwall.BadFile, "is in model-00001-of-00003.safetensors too")
	write(t, filepath.Join(dir, "other.safetensors"), n.tensors().File())
	check(t, refused(t, f, dir), memwall.UnknownModel, "2 models")
	if r := resolve(t, filepath.Join(dir, "other.safetensors")); r.ID != "other" || r.Weights.Bytes() != sumOf(n.hub, 2) {
		t.Errorf("one file by name: %s, %d bytes", r.ID, r.Weights.Bytes())
	}
}

// TestTruncated: every cut of a file gives an error that names the file, and none a panic.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	text(t, filepath.Join(dir, "config.json"), networks[0].config)
	for _, name := range []string{"model.safetensors", "model.gguf"} {
		file := filepath.Join(t.TempDir(), name)
		text(t, filepath.Join(filepath.Dir(file), "config.json"), networks[0].config)
		sparse := networks[0].tensors().File()
		if name == "model.gguf" {
			sparse = networks[0].file().File()
		}
		for cut := int64(0); cut < sparse.Len; cut += 1 + sparse.Len/97 {
			write(t, file, sparse)
			if err := os.Truncate(file, cut); err != nil {
				t.Fatal(err)
			}
			e := refused(t, New(Options{}), file)
			check(t, e, memwall.BadFile, name+": ")
		}
	}
}

// TestNoPartsInFiles: towers and prediction layers that the files leave out whole are left out, with a note.
func TestNoPartsInFiles(t *testing.T) {
	n := networks[4]
	dir := t.TempDir()
	text(t, filepath.Join(dir, "config.json"), n.config)
	b := &safetensorstest.Builder{}
	for _, x := range tensorLines(n.hub) {
		if strings.HasPrefix(x.name, "language_model.") {
			b.Tensor(x.name, "BF16", 16, x.shape...)
		}
	}
	write(t, filepath.Join(dir, "model.safetensors"), b.File())
	if r := resolve(t, dir); r.Spec.Vision != nil || !hasNote(r, "no_tower") || r.Weights.Bytes() != dataBytes(t, dir) {
		t.Errorf("tower %v, %v", r.Spec.Vision, r.Notes)
	}
}
