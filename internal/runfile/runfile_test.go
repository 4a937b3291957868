package runfile

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
)

// TestCall: a script is told from a command, and its arguments and environment are set before it.
func TestCall(t *testing.T) {
	for text, want := range map[string]string{
		"bash a/run.sh 8B 1": "a/run.sh|#!/bin/sh\nset -- 8B 1\n", "X=1 run.sh": "run.sh|#!/bin/sh\nexport X=1\nset -- \n",
		"torchrun run.sh": "|", "--x run.sh": "|", "": "|",
	} {
		file, before := Call(text)
		if got := file + "|" + before; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestUnnamed: what a model hangs on comes before what it may hang on, and paths of data are left out.
func TestUnnamed(t *testing.T) {
	notes := []api.Note{{Code: "unread_keys", Text: "not counted: --save = ${OUT}; ${OPTS}, which the script does not say; --num-layers = ${N}; m.sh, which it reads in and which is not opened"}}
	message, fix := Unnamed(Builds, "run.sh", notes)
	if !strings.HasSuffix(message, "m.sh, which it reads in and which is not opened; --num-layers = ${N}; ${OPTS}, which the script does not say") || !strings.Contains(fix, "run.sh 8B 1") {
		t.Errorf("%s\n%s", message, fix)
	}
	if message, _ = Unnamed("axolotl", "a.yaml", nil); !strings.Contains(message, "known by its name") {
		t.Error(message)
	}
}

// TestNames: names of files, and commands of one word.
func TestNames(t *testing.T) {
	for text, want := range map[string]bool{"-": true, "@line": true, "./up.sh": true, "compose.yaml": true, "Modelfile.q4": true, "vllm": false, "": false,
		"vllm serve x.yaml": false} {
		if Names(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
