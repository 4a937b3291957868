package source

import (
	"github.com/memwall/memwall/unit"
)

// vocabulary compares a file's tokens with the rows of its embedding. A file with fewer tokens is inconsistent: both
// llama.cpp's and Ollama's converters pad them. Ollama's may leave more (convert/convert.go, "vocabulary is larger than
// expected"), which its own engine loads but llama.cpp does not (llama-model.cpp checks the rows of token_embd).
func (h *header) vocabulary(r *Resolved) error {
	rows := h.dims["token_embd.weight"]
	if len(rows) < 2 {
		return nil
	}
	for _, key := range []string{"tokenizer.ggml.tokens", h.Arch("vocab_size")} {
		n, ok := h.ArrayLen(key)
		if !ok {
			n, ok = h.Int(key)
		}
		switch {
		case ok && n < rows[1]:
			return contradiction([]number{{key, -1, n}}, shown(h.find("token_embd.weight")), "", fetchOrConvert)
		case ok && n > rows[1]:
			note(r, "more_tokens", "%s names %s tokens, and token_embd.weight has %s rows: llama.cpp loads no such file", key, unit.Count(n), unit.Count(rows[1]))
			return nil
		}
	}
	return nil
}
