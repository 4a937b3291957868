// Package keys lists the configuration keys in the sources of training frameworks, one per line.
package keys

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// The lists of keys stand one key a line, sorted, under a line that names the framework's version and the files of
// its sources that the keys are from. Levels are parted by dots.
//
//go:embed *.txt
var lists embed.FS

// Known tells whether the sources of a framework have a key, at the version that Version names. Lists are parted by
// blanks: the keys of Hugging Face's TrainingArguments hold in every trainer made from it.
func Known(names, key string) bool {
	for name := range strings.FieldsSeq(names) {
		under, name := above(name)
		inner, below := strings.CutPrefix(key, under)
		if !below {
			continue
		}
		keys := parsed()[name].keys
		if _, found := slices.BinarySearch(keys, inner); found || open(keys, inner) {
			return true
		}
	}
	return false
}

// above parts "LoraConfig/peft": the keys of the list peft stand below LoraConfig.
func above(name string) (under, list string) {
	if i := strings.IndexByte(name, '/'); i >= 0 {
		return name[:i] + ".", name[i+1:]
	}
	return "", name
}

// open tells a key below one whose contents the sources leave open: "params.*".
func open(keys []string, key string) bool {
	for {
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return false
		}
		key = key[:i]
		if _, found := slices.BinarySearch(keys, key+".*"); found {
			return true
		}
	}
}

// Version is the framework and version of a list: "axolotl 0.18.0".
func Version(names string) string {
	first, _, _ := strings.Cut(names, " ")
	_, first = above(first)
	name, _, _ := strings.Cut(parsed()[first].head, ":")
	return name
}

// list is a file of keys.
type list struct {
	head string
	keys []string
}

// parsed are all lists by name, read when the first is asked for.
var parsed = sync.OnceValue(func() map[string]list {
	out := map[string]list{}
	files, err := lists.ReadDir(".")
	for _, f := range files {
		var text []byte
		if text, err = lists.ReadFile(f.Name()); err != nil {
			break
		}
		head, rest, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		out[strings.TrimSuffix(f.Name(), ".txt")] = list{head, strings.Split(strings.TrimSpace(rest), "\n")}
	}
	if err != nil {
		panic("keys: " + err.Error()) // files of the package itself
	}
	return out
})
