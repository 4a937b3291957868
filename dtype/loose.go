package dtype

// Loose is what a word that names no format means to those who use it: a mixture of GGUF files, or a checkpoint of the
// hub.
type Loose struct{ InGGUF, OnHub string }

// loose words, without marks; "q4" is a word of GGUF files, "4 bit" of both.
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

// FindLoose reads such a word; nil for others.
func FindLoose(word string) *Loose {
	if l, ok := loose[fold(word)]; ok {
		return &l
	}
	return nil
}

// For gives the recipe for an engine that reads GGUF files, or for one that does not; nil where the word is none of its.
func (l *Loose) For(gguf bool) *Recipe {
	if gguf {
		return FindRecipe(l.InGGUF)
	}
	return FindRecipe(l.OnHub)
}
