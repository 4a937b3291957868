package launch

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
)

var draft = flag.Bool("draft", false, "print what texts of the corpus are read as, for those whose reading is ?")

// pasted is a text and the reading that somebody wrote down for it.
type pasted struct {
	at, text, want string
}

// corpus are the texts of testdata/*.txt: a text, then a line "=> READING" that ends it. A reading is the engine, the model and
// the fields of the request (a level that is one is left out), then " | " and what is listed as not read; or "! " and a part
// of the error.
func corpus(t *testing.T) (out []pasted) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		line := 0
		for l := range strings.Lines(string(data)) {
			line++
			want, ends := strings.CutPrefix(l, "=> ")
			switch {
			case ends:
				out = append(out, pasted{fmt.Sprintf("%s:%d", filepath.Base(name), line), text.String(), strings.TrimSpace(want)})
				text.Reset()
			case strings.HasPrefix(l, "## "): // a heading
			default:
				text.WriteString(l)
			}
		}
	}
	return out
}

// TestCorpus: texts in the shapes in which people paste them are read as somebody who knows the engines reads them.
func TestCorpus(t *testing.T) {
	texts := corpus(t)
	for _, c := range texts {
		got := reading(c.text)
		if *draft && c.want == "?" {
			t.Logf("%s: %s", c.at, got)
		}
		part, fails := strings.CutPrefix(c.want, "! ")
		message, failed := strings.CutPrefix(got, "! ")
		if fails && (!failed || !strings.Contains(message, part)) || !fails && got != c.want {
			t.Errorf("%s: %.90q\n got  %s\n want %s", c.at, c.text, got, c.want)
		}
	}
	t.Logf("%d texts", len(texts))
}

// reading of a text as the corpus writes it.
func reading(text string) string {
	r, unread, err := FromCommand(text)
	if err != nil {
		return "! " + err.Error()
	}
	words := append([]string{r.Engine, r.Model}, fieldsOf(r)...)
	if r.Model == "" {
		words[1] = "?"
	}
	out := strings.Join(words, " ")
	if len(unread) > 0 {
		out += " | " + strings.Join(unread, "; ")
	}
	return out
}

func fieldsOf(r *api.Request) (out []string) {
	data, _ := json.Marshal(r)
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(data, &all)
	for _, known := range []string{"ask", "engine", "model", "engine_args"} {
		delete(all, known)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := string(all[name])
		if one := value == "1"; one && slices.Contains([]string{"tp", "pp", "dp"}, name) {
			continue
		}
		out = append(out, name+"="+strings.Trim(value, `"`))
	}
	return out
}

// around are what people paste a line in; %s is the line.
var around = []string{
	"$ %s", "```bash\n%s\n```", "Run this:\n\n```\n$ %s\n```\n", "nohup %s > log 2>&1 &", "sudo %s", "env FOO=1 %s", "exec %s", "time %s", "FOO=1 %s", "cd /srv && %s", "source .venv/bin/activate\n%s",
	"set -e\nexport FOO=1\n%s", "srun -N 1 -n 1 %s", "mpirun -n 1 %s", "kubectl exec -it pod-0 -- %s", "docker exec -it box %s",
	"bash -c '%s'", "bash -lc '%s'", "ssh gpu01 '%s'", "tmux new-session -d -s llm '%s'", "apptainer exec --nv image.sif %s",
	"[Service]\nExecStart=%s\nRestart=always\n", "FROM scratch\nRUN true\nCMD %s\n", "%s   # comment", "# before\n%s\n# behind\n",
	"numactl -N 0 %s", "./run.sh exec %s",
}

// TestAround: what stands around a line of the corpus changes nothing of its reading.
func TestAround(t *testing.T) {
	n := 0
	for _, c := range corpus(t) {
		line := strings.TrimSpace(c.text)
		if strings.ContainsAny(line, "\n'\"$<>`#\\[") || strings.HasPrefix(c.want, "!") || !plainStart(line) {
			continue
		}
		for _, form := range around {
			n++
			if got := reading(fmt.Sprintf(form, line)); got != c.want {
				t.Errorf("%s in %q:\n got  %s\n want %s", c.at, form, got, c.want)
			}
		}
	}
	t.Logf("%d texts", n)
}

// plainStart: lines whose first word is a server's program.
func plainStart(line string) bool {
	for _, start := range []string{"vllm serve ", "python3 -m sglang", "llama-server ", "trtllm-serve "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}
