package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/safetensors/safetensorstest"
	"github.com/memwall/memwall/plan"
)

// modelsHere writes models of every kind below the working folder.
func modelsHere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"it's a folder", "split", "hub", "parts"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"plain.gguf", "-dashed.gguf", "it's a folder/$x `y`.gguf"} {
		write(t, name, networks[0].file().File())
	}
	splitGGUF(t, "split", &networks[0], 3)
	for _, dir := range []string{"hub", "parts"} {
		text(t, dir+"/config.json", networks[0].config)
		var files [2]safetensorstest.Builder
		for i, x := range tensorLines(networks[0].hub) {
			at := 0
			if dir == "parts" {
				at = i % 2
			}
			files[at].Tensor(x.name, "BF16", 16, x.shape...)
		}
		if dir == "hub" {
			write(t, "hub/model.safetensors", files[0].File())
			continue
		}
		write(t, "parts/model-00001-of-00002.safetensors", files[0].File())
		write(t, "parts/model-00002-of-00002.safetensors", files[1].File())
	}
}

// TestCommandsNameTheFile: the command of every engine names the file or folder that was given, of several files the first, quoted so
// that a shell reads it back; and it is there.
func TestCommandsNameTheFile(t *testing.T) {
	modelsHere(t)
	here, _ := os.Getwd()
	for given, want := range map[string]string{
		"plain.gguf": "plain.gguf", "./plain.gguf": "./plain.gguf", here + "/plain.gguf": filepath.ToSlash(here) + "/plain.gguf", "-dashed.gguf": "./-dashed.gguf",
		"it's a folder": "it's a folder/$x `y`.gguf", "split": "split/small-00001-of-00003.gguf", "./split/small-00002-of-00003.gguf": "./split/small-00001-of-00003.gguf",
		"hub": "hub", "./hub/": "./hub", "./hub/model.safetensors": "./hub", "parts/model-00002-of-00002.safetensors": "parts",
	} {
		asker := &memwall.Asker{Models: New(Options{})}
		for _, e := range []string{"llama-server", "llama.cpp", "ollama", "vllm", "sglang", "transformers"} {
			ofGGUF := strings.HasSuffix(want, ".gguf")
			if ofGGUF == (e == "transformers") || !ofGGUF && (strings.HasPrefix(e, "llama") || e == "ollama") {
				continue // engines that read other files
			}
			a, err := asker.Ask(&memwall.Request{Ask: "fit", Model: given, Hardware: "h100", Plan: plan.Plan{Engine: e, Context: 512}})
			if err != nil {
				t.Errorf("%s with %s: %v", given, e, err)
				continue
			}
			for _, command := range a.Flags {
				if !names(command, want) {
					t.Errorf("%s with %s: %s", given, e, command)
				}
			}
			if _, err := os.Stat(filepath.FromSlash(want)); err != nil || len(a.Flags) == 0 {
				t.Errorf("%s with %s: %v", given, e, err)
			}
		}
	}
}

// names reports whether a command has a word, as a shell reads it, as Python does, or as a Modelfile begins from it.
func names(command, word string) bool {
	return strings.Contains(command+" ", " "+argv.Quote(word)+" ") || strings.Contains(command, `("`+word+`"`) || strings.Contains(command, "\nFROM "+word+"\n")
}

// TestAnotherFormatIsAnotherFile: a plan in another format than the file's does not name the file.
func TestAnotherFormatIsAnotherFile(t *testing.T) {
	modelsHere(t)
	a, err := (&memwall.Asker{Models: New(Options{})}).Ask(&memwall.Request{Ask: "fit", Model: "plain.gguf", Hardware: "h100", Plan: plan.Plan{Engine: "llama-server", Weights: "q8_0"}})
	if err != nil || !strings.HasPrefix(a.Flags["llama-server"], "llama-server -m plain-q8_0.gguf ") {
		t.Errorf("%v, %v", a.Flags, err)
	}
}
