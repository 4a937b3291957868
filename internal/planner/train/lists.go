package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/train"
)

// takeLists removes lists from the fields of a request and returns the words of each. Unknown words are rejected.
func takeLists(r *api.Request) (map[string][]string, error) {
	out := map[string][]string{}
	for _, name := range api.TrainLists {
		f := api.FieldByName(name)
		list := wordsOf(f, f.Value(r).String())
		if len(list) == 1 {
			continue
		}
		list = slices.DeleteFunc(list, func(w string) bool { return w == "" })
		for _, w := range list {
			if err := knownWord(f, w); err != nil {
				return nil, err
			}
		}
		if name == "recompute" {
			list = leastFirst(list)
		}
		out[name] = list
		f.Value(r).SetString("")
	}
	return out, nil
}

// wordsOf returns the words of a field's text; any expands to all alternatives.
func wordsOf(f *api.Field, text string) []string {
	list := strings.Split(strings.ReplaceAll(text, " ", ""), ",")
	if any := api.AnyOf[f.Name]; any != nil && slices.Equal(list, []string{api.AnyHardware}) {
		return any
	}
	return list
}

// knownWord rejects words that no framework knows; a single word is checked where it is used.
func knownWord(f *api.Field, word string) error {
	if f.Name == "framework" {
		if name, _, _ := strings.Cut(word, "@"); train.FindFramework(name) == nil {
			return &api.Error{Code: api.BadField, Field: f.Name, Value: api.Shorten(word),
				Message: fmt.Sprintf("framework = %q is not known", api.Shorten(word)),
				Hint:    "one of " + strings.Join(train.Frameworks(), ", ")}
		}
		return nil
	}
	if f.Enum != nil && !slices.Contains(f.Enum, word) {
		return &api.Error{Code: api.BadField, Field: f.Name, Value: api.Shorten(word),
			Message: fmt.Sprintf("%s = %q is not known", f.Name, api.Shorten(word)), Hint: "one of " + strings.Join(f.Enum, ", ")}
	}
	return nil
}

// leastFirst sorts recomputation settings by what they keep in memory, without duplicates.
func leastFirst(words []string) []string {
	rank := map[string]int{"full": -1, "none": 1}
	out := slices.Clone(words)
	stable.Sort(out, func(a, b string) int { return rank[a] - rank[b] })
	return slices.Compact(out)
}
