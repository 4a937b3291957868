package runfile

import (
	"errors"
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
	message, fix := Unnamed(Builds, "", "run.sh", notes)
	if !strings.HasSuffix(message, "m.sh, which it reads in and which is not opened; --num-layers = ${N}; ${OPTS}, which the script does not say") || !strings.Contains(fix, "run.sh 8B 1") {
		t.Errorf("%s\n%s", message, fix)
	}
	message, fix = Unnamed("transformers", "${ORG:-x}/${MODEL}", "run.sh", nil)
	if !Unsaid("${MODEL}") || Unsaid("a/b") || !strings.Contains(message, "${ORG:-x}/${MODEL}") || !strings.Contains(fix, "'ORG=Qwen/Qwen3-8B run.sh'") {
		t.Errorf("%s; %s", message, fix)
	}
	if message, _ = Unnamed("axolotl", "", "a.yaml", nil); !strings.Contains(message, "known by its name") {
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

// TestGather: a file counts over what it takes settings from, which is beside it or in a folder around; none is read twice, and what is
// not there is left out.
func TestGather(t *testing.T) {
	files := map[string]string{
		"recipes/llm/a.yaml": "defaults: ../base.yaml\npolicy: {}\n", "recipes/base.yaml": "defaults: llm/a.yaml\n",
		"run.sh":             "#!/bin/bash\nsource ${DIR}/env.sh\nsource gone.sh\ntorchrun train.py --num-layers ${LAYERS}\n",
		"env.sh":             "#!/bin/bash\nLAYERS=2\n",
		"ci/job/start.sh":    "llamafactory-cli train examples/b.yaml\n",
		"ci/examples/b.yaml": "model_name_or_path: a/b\nstage: sft\nfinetuning_type: full\n",
	}
	open := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}
	for file, want := range map[string]string{
		"recipes/llm/a.yaml": "recipes/base.yaml", "run.sh": "env.sh", "X=1 bash run.sh 8B": "env.sh", "ci/job/start.sh": "ci/examples/b.yaml", "env.sh": "",
	} {
		name := file
		if called, _ := Call(file); called != "" {
			name = called
		}
		texts, read := Gather(file, []byte(files[name]), open)
		if got := strings.Join(read, " "); got != want || len(texts) == 0 {
			t.Errorf("%s takes settings from %q, want %q: %q", file, got, want, texts)
		}
	}
}

// TestReadsIn: what a recipe changes, what a script sources, and what a program is given; not the files of data.
func TestReadsIn(t *testing.T) {
	for text, want := range map[string]string{
		"defaults: ../base.yaml\npolicy:\n  model_name: a/b\n":                                 "../base.yaml",
		"defaults:\n  - model: llama\n  - _self_\n":                                            "",
		"#!/bin/bash\nsource \"${SCRIPT_DIR}/models/7b.sh\"\ntorchrun train.py --a 1\n":        "${SCRIPT_DIR}/models/7b.sh",
		"FORCE_TORCHRUN=1 llamafactory-cli train examples/train_lora/a.yaml\n":                 "examples/train_lora/a.yaml",
		"accelerate launch -m axolotl.cli.train a.yml\n":                                       "a.yml",
		"tune run --nproc_per_node 2 lora_finetune_distributed --config=llama3/8B_lora.yaml\n": "llama3/8B_lora.yaml",
		"python train.py --data data.yaml\n":                                                   "",
		"base_model: a/b\n":                                                                    "",
	} {
		if got := strings.Join(readsIn([]byte(text)), " "); got != want {
			t.Errorf("%q reads in %q, want %q", text, got, want)
		}
	}
}
