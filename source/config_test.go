package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/model/family"
)

// TestBadConfigs: a wrong value in any field that counts gives an error that names the file, the field and
// the value.
func TestBadConfigs(t *testing.T) {
	fields := []string{"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size", "max_position_embeddings"}
	values := map[string]string{"negative": "-4", "float": "2.5", "string": `"64"`, "huge": "1e30", "huge integer": "99999999999999999999", "list": "[1]", "object": "{}", "true": "true"}
	for _, field := range fields {
		for what, value := range values {
			badConfig(t, field, what, with(t, networks[0].config, field, value))
		}
	}
	for _, field := range fields[:4] {
		badConfig(t, field, "zero", with(t, networks[0].config, field, "0"))
	}
	for _, field := range []string{"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"} {
		badConfig(t, field, "missing", with(t, networks[0].config, field, ""))
		badConfig(t, field, "null", with(t, networks[0].config, field, "null"))
	}
}

func badConfig(t *testing.T, field, what, config string) {
	t.Helper()
	_, err := Config("m", []byte(config))
	var e *memwall.Error
	if !errors.As(err, &e) {
		t.Errorf("%s %s: accepted, or %v", field, what, err)
		return
	}
	if e.Code != memwall.BadFile || !strings.Contains(e.Message, "config.json: ") || !strings.Contains(e.Message, field) || e.Hint == "" {
		t.Errorf("%s %s: %+v", field, what, e)
	}
}

// with replaces a field of a JSON object, or deletes it for "".
func with(t *testing.T, config, field, value string) string {
	t.Helper()
	m := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(config), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, field)
	if value != "" {
		m[field] = json.RawMessage(value)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestImpossibleConfigs: fields that are fine alone and not together, and texts that are no configuration.
func TestImpossibleConfigs(t *testing.T) {
	base := networks[0].config
	for what, c := range map[string]struct{ config, has string }{
		"heads that do not divide the width":   {with(t, base, "num_attention_heads", "7"), "does not divide hidden_size"},
		"KV heads that do not divide":          {with(t, base, "num_key_value_heads", "3"), "do not divide the 4 attention heads"},
		"more experts used than there are":     {with(t, networks[1].config, "num_experts_per_tok", "9"), "more than the 4 experts"},
		"too many layers":                      {with(t, base, "num_hidden_layers", "1000000"), "more than the 4,096"},
		"a width beyond any":                   {with(t, base, "hidden_size", "4194304"), "larger than any model's"},
		"no architecture":                      {with(t, with(t, base, "architectures", ""), "model_type", ""), "architectures"},
		"an empty text":                        {"", "is not a JSON object"},
		"a list":                               {"[]", "is not a JSON object"},
		"null":                                 {"null", "is not a JSON object"},
		"half of one":                          {base[:len(base)/2], "is not a JSON object"},
		"a number without end":                 {`{"a":` + strings.Repeat("9", 9<<20) + "}", "larger than 8 MiB"},
		"depth without end":                    {strings.Repeat(`{"a":`, 1<<20), "is not a JSON object"},
		"a quantisation of no known method":    {quantisedConfig(`{"quant_method":"alchemy"}`), "alchemy"},
		"a quantisation that is a list":        {quantisedConfig(`[]`), "quantization_config"},
		"bits that nobody packs":               {quantisedConfig(`{"quant_method":"gptq","bits":7}`), "quantization_config.bits = 7"},
		"a group beyond any":                   {quantisedConfig(`{"quant_method":"awq","bits":4,"group_size":1e9}`), "group_size"},
		"a group below any":                    {quantisedConfig(`{"quant_method":"awq","bits":4,"group_size":-7}`), "is negative"},
		"an expression that does not compile":  {quantisedConfig(compressedIgnoring(`"re:(?!a)b"`)), "regular expression"},
		"more patterns than anyone could mean": {quantisedConfig(compressedIgnoring(strings.Repeat(`"*a*b*c*d*e",`, 40000) + `"x"`)), "are more than are matched"},
	} {
		_, err := Config("m", []byte(c.config))
		var e *memwall.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.has) || !strings.Contains(e.Message, "config.json: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func compressedIgnoring(list string) string {
	return fmt.Sprintf(`{"quant_method":"compressed-tensors","format":"pack-quantized","ignore":[%s],"config_groups":{"g":{"targets":["Linear"],"weights":{"num_bits":4,"type":"int","strategy":"channel"}}}}`, list)
}

// TestDtypes: what is not quantised is in the config's own format; where it names none, a note says what is
// assumed.
func TestDtypes(t *testing.T) {
	for value, want := range map[string]*dtype.Format{`"float16"`: dtype.F16, `"torch.float32"`: dtype.F32, "": dtype.BF16, `"float8_e4m3fn"`: dtype.BF16} {
		r, err := Config("m", []byte(with(t, networks[0].config, "torch_dtype", value)))
		if err != nil {
			t.Fatal(err)
		}
		if assumed := hasNote(r, "dtype_assumed"); r.Spec.Native != want || assumed != (want == dtype.BF16) {
			t.Errorf("%s: %s, notes %v", value, r.Spec.Native.Name, r.Notes)
		}
	}
}

// TestQuantisationBeside: settings in a file of their own count when the config.json has none.
func TestQuantisationBeside(t *testing.T) {
	for file, c := range map[string][2]string{
		"hf_quant_config.json": {`{"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4","group_size":16,"exclude_modules":["lm_head"]}}`, "nvfp4"},
		"quantize_config.json": {`{"bits":4,"group_size":128,"desc_act":false,"damp_percent":0.01}`, "gptq"},
		"quant_config.json":    {`{"zero_point":true,"q_group_size":128,"w_bit":4,"version":"GEMM"}`, "awq"},
	} {
		dir := t.TempDir()
		text(t, filepath.Join(dir, "config.json"), networks[0].config)
		text(t, filepath.Join(dir, file), c[0])
		if r := resolve(t, dir); r.Recipe != c[1] {
			t.Errorf("%s: recipe %q, want %q", file, r.Recipe, c[1])
		}
		text(t, filepath.Join(dir, "config.json"), quantisedConfig(`{"quant_method":"fp8","weight_block_size":[128,128]}`))
		if r := resolve(t, dir); r.Recipe != "fp8-block" {
			t.Errorf("%s beside a config that speaks: recipe %q", file, r.Recipe)
		}
	}
}

// TestPublishedConfigs: every published config.json of a supported family is read, and every quantised one
// has a recipe, whether or not its family is known.
func TestPublishedConfigs(t *testing.T) {
	if datatest.Path("") == "" {
		return
	}
	list, err := filepath.Glob(datatest.Path("configs/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	read, quantised := 0, 0
	for _, file := range list {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if hasRecipe(t, name, data) {
			quantised++
		}
		_, err = Config(name, data)
		var e *memwall.Error
		switch {
		case err == nil:
			read++
		case errors.As(err, &e) && (e.Code == memwall.Unsupported || containsAny(e.Message, "not described", "not public", "does not size", "does not give")):
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
	if read < 230 || quantised < 55 {
		t.Errorf("%d read and %d quantised of %d", read, quantised, len(list))
	}
}

func hasRecipe(t *testing.T, name string, data []byte) bool {
	t.Helper()
	c, err := family.ParseConfig(data)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	says := strings.Contains(string(data), `"quantization_config":`) || strings.Contains(string(data), `"quantization":`)
	q, err := readQuantisation(c, dtype.BF16)
	if err != nil || (q != nil) != says || q != nil && len(q.groups) == 0 {
		t.Errorf("%s: quantisation %+v, %v", name, q, err)
	}
	return q != nil
}
