package learn

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/internal/packtext"
)

// pack carries lessons/ and questions/ compressed: go test ./learn -update writes it after a text changed, and a
// test fails until then.
//
//go:embed texts.gz
var pack []byte

// begins precedes the name of a text in the pack.
const begins = "=== "

// texts returns the pack's texts by name, "lessons/kv-cache", unpacked on first use.
var texts = sync.OnceValue(func() map[string]string { return unpacked(pack) })

func unpacked(data []byte) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+packtext.Unpack(data), "\n"+begins) {
		if name, text, ok := strings.Cut(part, "\n"); ok && name != "" {
			out[name] = text
		}
	}
	return out
}

// packed compresses texts, deterministically.
func packed(texts map[string]string) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.WriteString(begins + name + "\n" + strings.TrimRight(texts[name], "\n") + "\n")
	}
	return packtext.Pack(b.String())
}

// files returns the names of texts in a folder.
func files(dir string) (out []string) {
	for name := range texts() {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}
