package dtype

import "testing"

// TestLoose: every loose word means a recipe of GGUF files, and on hubs one that is none of theirs.
func TestLoose(t *testing.T) {
	for word, l := range loose {
		if r := l.For(true); r == nil || r.InGGUF() == nil {
			t.Errorf("%s: %+v is not a recipe of GGUF files", word, l)
		}
		if r := l.For(false); l.OnHub != "" && (r == nil || r.Store == GGUF) {
			t.Errorf("%s: %+v", word, l)
		}
	}
	for text, want := range map[string]string{"Q4": "q4_k_m", "4-bit": "q4_k_m", "4 bit": "q4_k_m", "INT4": "q4_k_m", "q4_k_m": ""} {
		l := FindLoose(text)
		if want == "" && l != nil || want != "" && (l == nil || l.InGGUF != want) {
			t.Errorf("%q: %+v", text, l)
		}
	}
}
