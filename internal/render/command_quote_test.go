package render

import (
	"strings"
	"testing"
)

// TestBrokenQuotes: a shell reads a broken command as the whole one, JSON in single quotes too, at each width.
func TestBrokenQuotes(t *testing.T) {
	const json = `{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`
	for width := 3; width < 120; width++ {
		text := strings.Join(BrokenLines("vllm serve m --kv-transfer-config '"+json+"'", "  ", width), "\n")
		if width < 24 { // only that it ends
			continue
		}
		joined := strings.ReplaceAll(strings.ReplaceAll(text, "'\\\n'", ""), " \\\n   ", "")
		if joined != "  vllm serve m --kv-transfer-config '"+json+"'" {
			t.Fatalf("width %d:\n%s", width, text)
		}
	}
}
