package remote

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/spell"
)

// Which file of a repository is meant.

const (
	indexFile  = "model.safetensors.index.json"
	singleFile = "model.safetensors"
)

// pick gives the path that package source shall read, "." for the whole repository.
func pick(r *reference, names []string) (string, error) {
	switch {
	case r.file != "":
		return named(r, names)
	case r.quant != "":
		return quantised(r, names)
	}
	for _, n := range []string{indexFile, singleFile} {
		if slices.Contains(names, n) {
			return n, nil
		}
	}
	models := sets(names)
	if len(models) == 0 || slices.ContainsFunc(names,
		func(n string) bool { return path.Ext(n) == ".safetensors" && !strings.Contains(n, "/") }) {
		return ".", nil
	}
	if len(models) > 1 {
		return "", severalQuants(r, models)
	}
	return models[0], nil
}

// named: the file that was asked for.
func named(r *reference, names []string) (string, error) {
	if slices.Contains(names, r.file) {
		return r.file, nil
	}
	hint := "the repository's page lists its files"
	if close := spell.Nearest(r.file, names); len(close) > 0 {
		hint = "did you mean: " + strings.Join(close, ", ")
	}
	return "", &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: r.given,
		Message: fmt.Sprintf("%s holds no file %s", r.repo, r.file), Hint: hint}
}

// sets are the GGUF models of a repository: each file, and of a split set its first. Projectors are none.
func sets(names []string) (out []string) {
	for _, n := range slices.Sorted(slices.Values(names)) {
		if !strings.EqualFold(path.Ext(n), ".gguf") || strings.Contains(strings.ToLower(path.Base(n)), "mmproj") {
			continue
		}
		if _, no, _, ok := gguf.SplitName(n); !ok || no == 1 {
			out = append(out, n)
		}
	}
	return out
}

// quantWord is how the names of GGUF files end: Q4_K_M, UD-IQ2_XXS, BF16.
var quantWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[-_.])((?:UD-)?(?:I?Q\d[A-Z0-9_]*|TQ\d_\d|MXFP4[A-Z_]*|NVFP4|BF16|FP?16|FP?32))$`)
})

// label is the quantisation that a file's name ends in, or the name.
func label(name string) string {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if prefix, _, _, ok := gguf.SplitName(path.Base(name)); ok {
		stem = prefix
	}
	if hit := quantWord().FindStringSubmatch(stem); hit != nil {
		return hit[1]
	}
	return stem
}

// quantised picks the model of a quantisation: by the label, else by how the name or its folder ends.
func quantised(r *reference, names []string) (string, error) {
	models := sets(names)
	if len(models) == 0 {
		return "", &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: r.given,
			Message: fmt.Sprintf("%s holds no GGUF file, and %s names a quantisation of one", r.repo, r.quant),
			Hint:    "without :" + r.quant + ", with --weights for a format; or name a repository of GGUF files"}
	}
	for _, fits := range []func(string) bool{
		func(n string) bool { return strings.EqualFold(label(n), r.quant) },
		func(n string) bool { return endsIn(n, r.quant) },
	} {
		hits := slices.DeleteFunc(slices.Clone(models), func(n string) bool { return !fits(n) })
		if len(hits) == 1 {
			return hits[0], nil
		}
		if len(hits) > 1 {
			return "", &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: r.given,
				Message: fmt.Sprintf("%d files of %s are %s: %s", len(hits), r.repo, r.quant, few(hits)),
				Hint:    "name the file: hf:" + r.repo + "/" + hits[0]}
		}
	}
	return "", severalQuants(r, models)
}

// endsIn: the name or its folder ends in a word.
func endsIn(name, word string) bool {
	stem := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if prefix, _, _, ok := gguf.SplitName(path.Base(name)); ok {
		stem = strings.ToLower(prefix)
	}
	word = strings.ToLower(word)
	rest, ok := strings.CutSuffix(stem, word)
	return ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "-_.")) || strings.EqualFold(path.Base(path.Dir(name)), word)
}

// severalQuants says which there are.
func severalQuants(r *reference, models []string) error {
	labels := map[string]bool{}
	for _, m := range models {
		labels[label(m)] = true
	}
	all := slices.Sorted(maps.Keys(labels))
	e := &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: r.given,
		Message: fmt.Sprintf("%s holds %d GGUF models: %s", r.repo, len(models), few(all)),
		Hint:    "name the one that is meant: " + strings.TrimPrefix(r.repo, "hf:") + ":" + all[0]}
	if slices.Contains(all, "Q4_K_M") {
		e.Hint = "name the one that is meant: " + r.repo + ":Q4_K_M"
	}
	if r.quant != "" {
		e.Message = fmt.Sprintf("%s holds no %s, but %s", r.repo, r.quant, few(all))
		if close := spell.Nearest(r.quant, all); len(close) > 0 {
			e.Hint = "did you mean: " + r.repo + ":" + close[0]
		}
	}
	return e
}

// few names for a message.
func few(names []string) string {
	const most = 24
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
