package argv

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // program, then arguments, of each command
	}{
		{"llama-server -m a.gguf -c 8192", []string{"llama-server|-m|a.gguf|-c|8192"}},
		{"  $ vllm serve X \\\n   --tp 2\n", []string{"vllm|serve|X|--tp|2"}},
		{"user@box:~/x$ ./build/bin/llama-cli -m m.gguf", []string{"llama-cli|-m|m.gguf"}},
		{`.\llama-server.exe -m D:\models\x.gguf -ngl 99`, []string{`llama-server|-m|D:\models\x.gguf|-ngl|99`}},
		{"llama-server `\r\n  -m x.gguf ^\n -c 1", []string{"llama-server|-m|x.gguf|-c|1"}},
		{`a 'b c' "d e" f\ g "h\"i" ''`, []string{`a|b c|d e|f g|h"i|`}},
		{"cd /srv && source venv/bin/activate; vllm serve X", []string{"cd|/srv", "source|venv/bin/activate", "vllm|serve|X"}},
		{"vllm serve X 2>&1 | tee log.txt", []string{"vllm|serve|X", "tee|log.txt"}},
		{"nohup vllm serve X > out.log 2> err.log &", []string{"vllm|serve|X"}},
		{"sudo -E env A=1 numactl -N 0 -m 0 taskset -c 0-3 vllm serve X", []string{"vllm|serve|X"}},
		{"python3 -m sglang.launch_server --model-path X", []string{"sglang.launch_server|--model-path|X"}},
		{"python -u launch.py --x", []string{"launch.py|--x"}},
		{"uv run --python 3.12 vllm serve X", []string{"vllm|serve|X"}},
		{"conda run -n env vllm serve X", []string{"vllm|serve|X"}},
		{`bash -c "vllm serve X -tp 2"`, []string{"vllm|serve|X|-tp|2"}},
		{"docker run --rm -it -p8000:8000 -v /a:/b --gpus=all vllm/vllm-openai:v0.9.2 --model X", []string{"vllm.entrypoints.openai.api_server|--model|X"}},
		{"docker run -e HF_TOKEN=x --shm-size 32g lmsysorg/sglang:v0.4.6.post1-cu124 python3 -m sglang.launch_server --model-path X", []string{"sglang.launch_server|--model-path|X"}},
		{"docker run --entrypoint vllm vllm/vllm-openai serve X", []string{"vllm|serve|X"}},
		{"podman run --device nvidia.com/gpu=all ghcr.io/ggml-org/llama.cpp:server-cuda-b5716 -m /models/x.gguf", []string{"llama-server|-m|/models/x.gguf"}},
		{"docker run -d ollama/ollama", []string{"ollama"}},
		{"docker exec -it ollama ollama run llama3.1:8b", []string{"ollama|run|llama3.1:8b"}},
		{"vllm serve X --gpu-memory-utilization $(echo 0.9) # comment", []string{"vllm|serve|X|--gpu-memory-utilization|$(echo 0.9)"}},
		{"export M=a/b\nvllm serve ${M} --x $UNSET", []string{"vllm|serve|a/b|--x|$UNSET"}},
		{`$env:M="a/b"; vllm serve $M`, []string{"vllm|serve|a/b"}},
		{"timeout 60 time -f %e vllm serve X", []string{"vllm|serve|X"}},
		{"", nil},
		{"A=1", nil},
		{"# only a comment", nil},
	} {
		cmds, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, x := range cmds {
			got = append(got, strings.Join(append([]string{x.Program}, x.Args...), "|"))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\n got  %q\n want %q", c.text, got, c.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	cmds, err := Parse("export A=1\nB=2 CUDA_VISIBLE_DEVICES=0,1,3 docker run -e C=3 --gpus 2 img:v1.2.3-cu124 prog x")
	if err != nil {
		t.Fatal(err)
	}
	c := cmds[0]
	for name, want := range map[string]string{"A": "1", "B": "2", "C": "3"} {
		if got, ok := c.Getenv(name); got != want || !ok {
			t.Errorf("%s = %q", name, got)
		}
	}
	if _, ok := c.Getenv("D"); ok {
		t.Error("D is set")
	}
	if c.Devices != 2 || c.Tag() != "1.2.3" || c.Program != "prog" {
		t.Errorf("%+v, tag %q", c, c.Tag())
	}
	for list, want := range map[string]int64{"0,1": 2, "0": 1, "": 0, "all": 0, "GPU-a,GPU-b": 2, "0,x": 0} {
		if n := countDevices(list); n != want {
			t.Errorf("%q: %d devices", list, n)
		}
	}
}

func TestTag(t *testing.T) {
	for image, want := range map[string]string{
		"vllm/vllm-openai:v0.9.2": "0.9.2", "vllm/vllm-openai:latest": "", "vllm/vllm-openai": "", "lmsysorg/sglang:v0.4.6.post1-cu124": "0.4.6.post1",
		"localhost:5000/x/y": "", "ghcr.io/ggml-org/llama.cpp:server-cuda-b5716": "b5716", "rocm/vllm:rocm6.4.1_vllm_0.9.1_20250715": "0.9.1",
		"ghcr.io/llm-d/llm-d-cuda:v0.5.0": "", "nvcr.io/nvidia/vllm:26.05-py3": "", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.0": "",
		"nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc0": "1.2.0rc0",
	} {
		if got := (&Command{Image: image}).Tag(); got != want {
			t.Errorf("%s: %q", image, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := "bash -c x"
	for range 8 {
		deep = "sudo " + deep
	}
	for _, c := range []struct{ text, want string }{
		{"vllm serve 'X", "opens a ' at byte 11"},
		{`vllm serve "X`, `opens a " at byte 11`},
		{"docker run -it", "names no image"},
		{strings.Repeat("a ", 5000), "more than 4096 words"},
		{strings.Repeat("a", 20000), "word of more than 16384 bytes"},
		{strings.Repeat(" ", MaxText+1), "has 65537 bytes"},
		{"A=" + strings.Repeat("x", 10000) + strings.Repeat(" $A", 100), "makes more than is followed"},
		{deep, "wrapped more than 4 times"},
	} {
		_, err := Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v", c.text, err)
		}
		if h, ok := err.(*Error); !ok || h.Hint() == "" {
			t.Errorf("%.40q: no fix", c.text)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "8192": 8192, "32k": 32000, "32K": 32768, "25.6k": 25600, "1M": 1 << 20, "1m": 1e6, "2.5K": 2560} {
		if n, err := Human[int64](text); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "k", "-1k", "x", "1e999k", "NaNk", "9999999999999999999", "-5"} {
		if n, err := Human[int64](text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
	for _, text := range []string{"0", "-0.1", "1.5", "x", "NaN", ""} {
		if _, err := Share(text); err == nil {
			t.Errorf("%q is a share", text)
		}
	}
}

// TestQuote: what is written as unknown reads back as the same words.
func TestQuote(t *testing.T) {
	for _, w := range []string{"a", "a b", "it's", "", "$x", "{\"a\":1}", "--x=y z", "a\nb"} {
		cmds, err := Parse("p " + Quote(w))
		if err != nil || len(cmds) != 1 || len(cmds[0].Args) != 1 || cmds[0].Args[0] != w {
			t.Errorf("%q -> %s: %+v %v", w, Quote(w), cmds, err)
		}
	}
}

// FuzzParse: no text makes Parse fail in another way than with an *Error, and words stay within the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"vllm serve X --tp 2", "docker run -it x y", `bash -c "a 'b' $(c)"`, "a=$a b=$b$b c", "\\", "'", "${", "`", "2>&1", "&>x", "$(("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cmds, err := Parse(text)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		for _, c := range cmds {
			if c.Program == "" && len(c.Args) == 0 && text == "" {
				t.Fatal("a command out of nothing")
			}
			_ = c.Tag()
			n := 0
			for _, a := range c.Args {
				n += len(a)
			}
			if n > maxWords*maxWord {
				t.Fatal("more words than text")
			}
		}
	})
}

// FuzzRead: every argument comes back in one way or another.
func FuzzRead(f *testing.F) {
	f.Add("--a 1 --b x y --c")
	f.Add("--a=--b=c -d -1 --e=")
	type target struct{ n int64 }
	table := []Flag[target]{
		{Names: "--alpha -a", Set: Into(Count[int64], func(t *target) *int64 { return &t.n })},
		{Names: "--list", Kind: List}, {Names: "--maybe", Kind: Maybe}, {Names: "--switch", Kind: Switch}, {Names: "--odd", Unread: true},
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &Command{Args: strings.Fields(text)}
		var got target
		beside, unknown, err := Read(c, Syntax{Dashes: true, Prefixes: true}, table, &got)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Argument == "" || e.Fix == "" {
				t.Fatalf("%v lacks its place or fix", err)
			}
			return
		}
		if len(beside)+len(unknown) > len(c.Args) {
			t.Fatal("arguments out of nothing")
		}
	})
}

func ExampleParse() {
	cmds, _ := Parse("CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen3-14B \\\n  -tp 2")
	fmt.Println(cmds[0].Program, cmds[0].Args, cmds[0].Devices)
	// Output: vllm [serve Qwen/Qwen3-14B -tp 2] 2
}

// TestSecrets: what is secret is not in what is shown, and what is not secret stays.
func TestSecrets(t *testing.T) {
	const key = "abcdefghij0123456789"
	for _, c := range []struct{ name, value, want string }{
		{"--api-key", "x", redacted}, {"--hf-token", key, redacted}, {"HF_TOKEN", key, redacted}, {"--password", "p", redacted}, {"--x", "hf_" + key, redacted}, {"--x", "sk-" + key, redacted},
		{"--header", "Authorization: Basic " + key, redacted}, {"--header", "authorization: bearer x", redacted}, {"-H", "X-Api-Key: 1", redacted}, {"--x", "AKIA" + key, redacted},
		{"--url", "https://me:" + key + "@host/a", "https://REDACTED@host/a"}, {"--url", "https://host/a?size=1&token=" + key, "https://host/a?size=1&token=REDACTED"},
		{"--max-num-batched-tokens", "8192", "8192"}, {"--tokenizer", "org/name", "org/name"}, {"--keyframes", "3", "3"}, {"--x", "sk-short", "sk-short"}, {"--url", "https://host/a@b?x=1", "https://host/a@b?x=1"}, {"--api-key", "", ""},
	} {
		if got := blot(c.name, c.value); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

// TestHereDocuments: files that a text writes are there for the commands behind it.
func TestHereDocuments(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"cat > a.yaml <<'EOF'\nx: 1\ny: 2\nEOF\nserve --config a.yaml", "a.yaml", "x: 1\ny: 2\n"},
		{"cat <<EOF > a.yaml\nx: 1\nEOF\nserve", "a.yaml", "x: 1\n"},
		{"cat >a.yaml << EOF\n\tx: 1\n\tEOF\nserve", "a.yaml", "\tx: 1\n"},
		{"cat <<-\"END\" >> a.yaml && serve\nx: 1\nEND", "a.yaml", "x: 1\n"},
		{"tee a.yaml <<EOF\nx\nEOF\nserve", "a.yaml", "x\n"},
		{"sudo tee a.yaml > /dev/null <<EOF\nx\nEOF\nserve", "a.yaml", "x\n"},
		{"cat > a.yaml <<EOF\nx: 1\nserve", "a.yaml", "x: 1\nserve"},
		{"bash -c \"cat > a.yaml <<EOF\nx\nEOF\nserve --config a.yaml\"", "a.yaml", "x\n"},
	} {
		got, err := Parse(c.text)
		open := !strings.Contains(c.text, "\nEOF") && !strings.Contains(c.text, "END") && !strings.Contains(c.text, "\tEOF")
		switch {
		case err != nil:
			t.Errorf("%q: %v", c.text, err)
		case open && len(got) != 0, !open && (len(got) != 1 || got[0].Program != "serve" || got[0].Files[c.name] != c.want):
			t.Errorf("%q: %+v, want one command and %q", c.text, got, c.want)
		}
	}
}
