package source

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf/gguftest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestAsk: a question about a file, through to the answer. Asking again with the plan of the answer gives
// the same answer.
func TestAsk(t *testing.T) {
	dir := llamaFolder(t, quantisedConfig(compressedIgnoring(`"model.layers.1.mlp.up_proj"`)), nil)
	config := t.TempDir()
	text(t, filepath.Join(config, "config.json"), quantisedConfig(compressedIgnoring(`"model.layers.1.mlp.up_proj"`)))
	file := filepath.Join(t.TempDir(), "small.gguf")
	write(t, file, networks[0].file().File())
	a := &memwall.Asker{Models: New(Options{})}
	for _, ref := range []string{dir, config, file} {
		r := memwall.Request{Ask: "fit", Model: ref, Hardware: "h100", Plan: plan.Plan{Engine: "vllm", Context: 256}}
		if ref == file {
			r.Engine = "generic"
		}
		first, err := a.Ask(&r)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		again, err := a.Ask(first.Plan)
		if err != nil {
			t.Fatalf("%s, asked again with %q: %v", ref, first.Plan.Weights, err)
		}
		if first.Model.WeightsBytes != again.Model.WeightsBytes || first.Devices[0].Needed != again.Devices[0].Needed {
			t.Errorf("%s: %d and %d bytes of weights", ref, first.Model.WeightsBytes, again.Model.WeightsBytes)
		}
	}
}

// TestAskUnknown: an architecture that no family reads has its weights, and no verdict.
func TestAskUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "strange.gguf")
	write(t, file, gguftest.New("strange").Set("strange.block_count", gguftest.U32(7)).Tensor("a.weight", dtype.F16, 1024, 1024).File())
	folder := llamaFolder(t, "", nil)
	a := &memwall.Asker{Models: New(Options{})}
	for ref, want := range map[string]unit.Bytes{file: 2 << 20, folder: sumOf(networks[0].hub, 2)} {
		for _, e := range append(memwall.Engines(), "") {
			got, err := a.Ask(&memwall.Request{Ask: "fit", Model: ref, Hardware: "2xh100", Plan: plan.Plan{Engine: e}})
			if ref == folder && err != nil && strings.Contains(err.Error(), "GGUF") {
				continue // an engine that reads GGUF files alone
			}
			if err != nil {
				t.Errorf("%s with %q: %v", ref, e, err)
				continue
			}
			if got.Model.WeightsBytes != want || got.Verdict != memwall.Unknown {
				t.Errorf("%s with %q: %d bytes, verdict %s", ref, e, got.Model.WeightsBytes, got.Verdict)
			}
		}
	}
}
