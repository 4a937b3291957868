package render

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memwall/memwall/internal/term"
)

// TestScriptLines: a command with a file before it is shown so that it can be pasted: the file stands as it is.
func TestScriptLines(t *testing.T) {
	const script = "cat > Modelfile <<'EOF'\nFROM a model.gguf\nPARAMETER num_ctx 8192\nEOF\nOLLAMA_CONTEXT_LENGTH=8192 " +
		"OLLAMA_NUM_PARALLEL=1 OLLAMA_FLASH_ATTENTION=1 ollama serve &\nollama create a -f Modelfile"
	want := []string{
		"cat > Modelfile <<'EOF'", "FROM a model.gguf", "PARAMETER num_ctx 8192", "EOF",
		"OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_NUM_PARALLEL=1 \\", "    OLLAMA_FLASH_ATTENTION=1 ollama serve &",
		"ollama create a -f Modelfile",
	}
	if got := commandLines(script, 60); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := commandLines("a -b 1", 60); len(got) != 1 || got[0] != "  a -b 1" {
		t.Errorf("%q", got)
	}
}

// A broken command is the command again once a shell has joined its lines.
func FuzzCommandLines(f *testing.F) {
	f.Add("vllm serve x --tensor-parallel-size 2", 40)
	f.Add("llama-server -m 'a b.gguf' -c 4096", 60)
	f.Fuzz(func(t *testing.T, command string, width int) {
		first, _, _ := strings.Cut(command, " ")
		if width < term.MinWidth || width > term.MaxWidth || !utf8.ValidString(command) || strings.ContainsAny(command, "\\\n\t") ||
			strings.Contains(first, "(") {
			return
		}
		shell := strings.ReplaceAll(strings.Join(commandLines(command, width), "\n"), "\\\n", "")
		squeeze := strings.NewReplacer(" ", "", "'", "").Replace // a value in quotes is broken between quotes
		if squeeze(shell) != squeeze(command) {
			t.Errorf("%q became %q", command, shell)
		}
	})
}

// A shell reads a broken command as the one that was given.
func TestCommandLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		command := "vllm serve"
		for range r.IntN(10) {
			command += " --" + strings.Repeat("x", 1+r.IntN(30)) + " " + strings.Repeat("v", 1+r.IntN(70))
		}
		width := 40 + r.IntN(80)
		shell := ""
		for i, l := range commandLines(command, width) {
			if term.Cells(l) > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
			if i > 0 {
				shell += "\n"
			}
			shell += l
		}
		shell = strings.ReplaceAll(shell, "\\\n", "")
		if got := strings.Join(strings.Fields(shell), " "); got != command {
			t.Fatalf("%q became %q", command, got)
		}
	}
}
