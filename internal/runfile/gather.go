package runfile

import (
	"path"
	"slices"
	"strings"

	"github.com/memwall/memwall/format/shell"
	"github.com/memwall/memwall/train/config"
)

// mostGathered bounds the files that one names, and those in turn; mostText is what a configuration has at most, in bytes.
const mostGathered, mostText = 8, 64 << 10

// Gather gives the texts of a run that one file configures: those of the files that it takes settings from, and last its own, as
// what is read later counts. open reads a file by its path. What cannot be opened is left to be named by who reads the texts. read are
// the paths of the others.
func Gather(file string, text []byte, open func(string) ([]byte, error)) (texts [][]byte, read []string) {
	if called, _ := Call(file); called != "" {
		file = called
	}
	g := gathering{open: open, seen: map[string]bool{path.Clean(file): true}}
	g.add(file, text)
	return telling(g.texts), g.read
}

type gathering struct {
	open  func(string) ([]byte, error)
	seen  map[string]bool
	texts [][]byte
	read  []string
}

func (g *gathering) add(file string, text []byte) {
	for _, name := range readsIn(text) {
		if at, data := g.find(path.Dir(file), name); data != nil {
			g.read = append(g.read, at)
			g.add(at, data)
		}
	}
	g.texts = append(g.texts, text)
}

// find looks for a file beside the one that names it, and in the folders around that, of which one is where the run is started.
// A folder that a script computes is taken for its own.
func (g *gathering) find(dir, name string) (at string, data []byte) {
	if _, rest, computed := strings.Cut(name, "}/"); computed && strings.HasPrefix(name, "${") {
		name = rest
	}
	if strings.Contains(name, "${") || path.IsAbs(name) {
		return "", nil
	}
	for range mostGathered {
		if len(g.read) >= mostGathered {
			return "", nil
		}
		at = path.Join(dir, name)
		if data, err := g.open(at); !g.seen[at] && err == nil {
			g.seen[at] = true
			return at, data
		}
		if dir == "." || dir == "/" || path.Base(dir) == ".." {
			return "", nil
		}
		dir = path.Dir(dir)
	}
	return "", nil
}

// telling are the texts that say something: a script that only starts what another file configures says nothing beside it.
func telling(texts [][]byte) [][]byte {
	if len(texts) < 2 {
		return texts
	}
	if _, err := config.Find(texts); err == nil {
		return texts
	}
	told := slices.DeleteFunc(slices.Clone(texts), func(text []byte) bool {
		_, err := config.Find([][]byte{text})
		return err != nil
	})
	if len(told) == 0 {
		return texts
	}
	return told
}

// readsIn names the files that a text takes settings from, each of which counts less than the text itself: the recipe that a recipe
// changes (NeMo RL's defaults), what a script sources, and the YAML that its command is given. Names are as the text has them; what a
// script computes of one stands as ${…}.
func readsIn(text []byte) (names []string) {
	if len(text) > mostText {
		return nil // which its reader refuses
	}
	if config.IsScript(text) {
		return slices.Compact(readByScript(text))
	}
	if base := config.Base(text); base != "" {
		names = append(names, base)
	}
	return names
}

// readByScript are the files of its commands: what is sourced, and YAML behind a program that trains from it.
func readByScript(text []byte) (names []string) {
	for _, c := range shell.Follow(string(text)).Commands {
		switch {
		case (c.Words[0] == "source" || c.Words[0] == ".") && len(c.Words) > 1:
			names = append(names, c.Words[1])
		case slices.ContainsFunc(c.Words, takesYAML):
			for _, w := range c.Words[1:] {
				if _, value, ok := strings.Cut(w, "="); ok {
					w = value // --config=train.yaml
				}
				if isYAMLName(w) {
					names = append(names, w)
				}
			}
		}
	}
	return names
}

var programs = []string{"llamafactory-cli", "axolotl", "axolotl.cli.train", "swift", "megatron", "trl", "tune", "litgpt"}

// takesYAML tells programs whose settings may all stand in a file that is named behind them.
func takesYAML(word string) bool {
	return slices.Contains(programs, word[strings.LastIndexByte(word, '/')+1:])
}

func isYAMLName(w string) bool { return strings.HasSuffix(w, ".yaml") || strings.HasSuffix(w, ".yml") }
