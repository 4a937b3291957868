package render

import (
	"strings"
	"testing"
)

// TestScriptLines: a command with a file before it is shown so that it can be pasted: the file stands as it is.
func TestScriptLines(t *testing.T) {
	const script = "cat > Modelfile <<'EOF'\nFROM a model.gguf\nPARAMETER num_ctx 8192\nEOF\nOLLAMA_CONTEXT_LENGTH=8192 OLLAMA_NUM_PARALLEL=1 OLLAMA_FLASH_ATTENTION=1 ollama serve &\nollama create a -f Modelfile"
	want := []string{
		"cat > Modelfile <<'EOF'", "FROM a model.gguf", "PARAMETER num_ctx 8192", "EOF",
		"OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_NUM_PARALLEL=1 \\", "    OLLAMA_FLASH_ATTENTION=1 ollama serve &", "ollama create a -f Modelfile",
	}
	if got := commandLines(script, 60); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := commandLines("a -b 1", 60); len(got) != 1 || got[0] != "  a -b 1" {
		t.Errorf("%q", got)
	}
}
