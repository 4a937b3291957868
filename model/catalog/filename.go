package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// said takes names of files and of benchmark tables apart, the whole first: "qwen3 32B Q8_0 /
// Qwen3-32B-Q8_0" is the name of a file after its label, "baidu_ERNIE-4.5-21B-A3B-PT-Q4_K_M" an
// organisation, a model and a quantisation, "Phi 4 Mini 3.8B" a model and its size. Each comes with the
// billions of parameters that were cut off, 0 for none.
func said(name string) (tries []sized) {
	if _, file, ok := strings.Cut(name, " / "); ok {
		name = file
	}
	if i := strings.LastIndexByte(name, '/'); strings.HasPrefix(name, "/") && i >= 0 {
		name = name[i+1:]
	}
	if i := strings.IndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		name = strings.TrimSpace(name[:i])
	}
	name = withoutWeights(name)
	tries = append(tries, sized{name, 0})
	if org, model, ok := strings.Cut(name, "_"); ok && org != "" {
		tries = append(tries, sized{org + "/" + model, 0}, sized{model, 0})
	}
	for i, n := 0, len(tries); i < n; i++ {
		if rest, size, ok := withoutSize(tries[i].name); ok {
			tries = append(tries, sized{rest, size})
		}
	}
	return tries
}

type sized struct {
	name     string
	billions float64
}

// withoutWeights cuts the quantisation off the end of a file's name, and marks of how it was made.
func withoutWeights(name string) string {
	name = strings.TrimSuffix(name, ".gguf")
	for {
		i := strings.LastIndexAny(name, "-. ")
		if i <= 0 || !quantisation(name[i+1:]) {
			return name
		}
		name = strings.TrimRight(name[:i], "- ")
	}
}

// quantisation reports whether a word names how weights are stored: "Q4_K_M", "UD", "IQ2_XXS", "BF16".
func quantisation(word string) bool {
	w := strings.ToLower(word)
	switch w {
	case "ud", "qat", "moe":
		return true
	}
	w = strings.TrimSuffix(strings.TrimSuffix(w, "_xl"), "_k")
	return dtype.FindRecipe(w) != nil || dtype.FindRecipe(w+"_0") != nil && strings.HasPrefix(w, "q")
}

// withoutSize cuts the number of parameters off the end of a name: "30B-A3B", "14B".
func withoutSize(name string) (rest string, billions float64, ok bool) {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' })
	if len(words) < 2 {
		return "", 0, false
	}
	size, _, _ := strings.Cut(strings.ToLower(words[len(words)-1]), "-a")
	b, isB := strings.CutSuffix(size, "b")
	n, err := strconv.ParseFloat(b, 64)
	if !isB || err != nil || n <= 0 {
		return "", 0, false
	}
	return strings.Join(words[:len(words)-1], " "), n, true
}

// holds reports whether an entry has about so many billions of parameters; names round.
func (e *Entry) holds(billions float64) bool {
	spec, err := e.Spec()
	if err != nil {
		return false
	}
	m := spec.Model(e.ID)
	return math.Abs(float64(m.Params())/1e9/billions-1) < 0.08
}
