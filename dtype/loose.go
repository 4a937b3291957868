package dtype

// Loose is the usual meaning of a word that is not the name of a format: a GGUF mixture, or a hub checkpoint.
type Loose struct{ InGGUF, OnHub string }

// loose holds such words without punctuation; "q4" belongs to GGUF files, "4 bit" to both.
var loose = map[string]Loose{
	"q2": {"q2_k", ""}, "q3": {"q3_k_m", ""}, "q4": {"q4_k_m", ""}, "q5": {"q5_k_m", ""}, "q6": {"q6_k", ""}, "q8": {"q8_0", ""},
	"2bit": {"q2_k", ""}, "3bit": {"q3_k_m", ""}, "4bit": {"q4_k_m", "int4"}, "5bit": {"q5_k_m", ""}, "6bit": {"q6_k", ""},
	"8bit":  {"q8_0", "int8"},
	"2bits": {"q2_k", ""}, "3bits": {"q3_k_m", ""}, "4bits": {"q4_k_m", "int4"}, "5bits": {"q5_k_m", ""}, "6bits": {"q6_k", ""},
	"8bits": {"q8_0", "int8"},
	"int4":  {"q4_k_m", "int4"}, "int8": {"q8_0", "int8"}, "i4": {"q4_k_m", "int4"}, "i8": {"q8_0", "int8"}, "iq4": {"iq4_xs", ""},
	"iq3": {"iq3_m", ""}, "iq2": {"iq2_m", ""},
	"half": {"f16", "f16"}, "full": {"bf16", "bf16"}, "gguf": {"q4_k_m", ""}, "quantized": {"q4_k_m", "int4"},
}

// FindLoose returns the meaning of such a word, or nil.
func FindLoose(word string) *Loose {
	if l, ok := loose[fold(word)]; ok {
		return &l
	}
	return nil
}

// For returns the recipe for an engine that does or does not read GGUF files; nil if the word means nothing there.
func (l *Loose) For(gguf bool) *Recipe {
	if gguf {
		return FindRecipe(l.InGGUF)
	}
	return FindRecipe(l.OnHub)
}
