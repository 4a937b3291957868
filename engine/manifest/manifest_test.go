package manifest

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/unit"
)

func TestName(t *testing.T) {
	for model, want := range map[string]string{
		"meta-llama/Llama-3.1-8B": "llama-3-1-8b", `C:\models\My Model.gguf`: "my-model-gguf", "": "model", "7b": "model-7b", "日本": "model", "--x--": "x", strings.Repeat("ab-", 40): strings.Repeat("ab-", 16) + "ab",
	} {
		if got := Name(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

// TestScalars: any word comes back from YAML as it was, but for control characters.
func TestScalars(t *testing.T) {
	for _, s := range []string{"--host", "0.0.0.0", "8192", "true", "no", "null", "~", "-m", "-", "---", "a: b", "#x", "a #b", "'", `"`, "''", `\`, "{a}", "[1]", "*x", "&x", "!t", "%", "@a", "`", " lead", "trail ", "$HOME", "é", "1e3", "=", "--x=y", "", "|", ">", "?", ":", "a:", "- a", "https://x/y?z=1", "N", "0x1f", "2001-01-01"} {
		docs, err := decode("a:\n  - "+scalar(s)+"\n", 0)
		if err != nil || len(docs) != 1 {
			t.Errorf("%q as %s: %v", s, scalar(s), err)
			continue
		}
		if got := words(docs[0].At("a")); len(got) != 1 || got[0] != s {
			t.Errorf("%q as %s comes back as %q", s, scalar(s), got)
		}
	}
	if got := scalar("a\nb: c\x00"); strings.ContainsAny(got, "\n\x00") {
		t.Errorf("%q", got)
	}
}

// TestService: a service written in both forms is read as the command that it was made of.
func TestService(t *testing.T) {
	s := &Service{
		Name: "x", Image: "vllm/vllm-openai:v0.24.0", Entry: []string{"vllm", "serve"}, Args: []string{"org/m", "--a", "$5 'b'"}, Env: []argv.Variable{{Name: "A", Value: "1"}, {Name: "B", Value: "$x y"}},
		Files: []File{{Path: "c.yaml", Text: "a: $1\nb: 2\n"}}, After: []string{"ollama", "create", "y"}, Port: 8000, GPUs: 2, Vendor: "nvidia", Shared: unit.GiB, Memory: 3 * unit.GiB, Why: "so", Dir: "/models", Folder: ".", Mount: "/models",
	}
	claimed, queued, grouped := *s, *s, *s
	claimed.Claims, queued.Queue = &Claims{Memory: unit.GiB}, &Queue{}
	grouped.GPUs, grouped.Group = 1, &Group{Nodes: 2, Entry: s.Entry, Args: s.Args}
	for name, text := range map[string]string{"compose": Compose(s), "kubernetes": Kubernetes(s), "claims": Kubernetes(&claimed),
		"a queue": Kubernetes(&queued), "a group": firstOfGroup(Kubernetes(&grouped))} {
		if !Is(text) {
			t.Errorf("%s is not known as one:\n%s", name, text)
		}
		got, err := Read(text)
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %d commands, %v\n%s", name, len(got), err, text)
			continue
		}
		c := got[0]
		if v, _ := c.Getenv("B"); c.Program != "vllm" || strings.Join(c.Args, "|") != "serve|org/m|--a|$5 'b'" || v != "$x y" || c.Devices != 2 || c.Files["c.yaml"] != "a: $1\nb: 2\n" || c.Tag() != "0.24.0" {
			t.Errorf("%s: %+v\n%s", name, c, text)
		}
		if h := got[1]; h.Program != "ollama" || strings.Join(h.Args, " ") != "create y" {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestSettings(t *testing.T) {
	got, err := Settings("a:\n  b: 1\n  c: {d: x, e: [1, 2]}\nf: true\n")
	if err != nil || len(got) != 4 || got[0] != (argv.Variable{Name: "a.b", Value: "1"}) || got[2] != (argv.Variable{Name: "a.c.e", Value: "1,2"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{strings.Repeat("[", 100), "a: b: c: [", strings.Repeat("x", small.Bytes+1), "a: 1\na: 2"} {
		if got, err := Settings(bad); err == nil {
			t.Errorf("%.40q is read as %v", bad, got)
		}
	}
}

// TestEmptyDocument: containers behind a document with nothing in it, as a chart leaves one, are read.
func TestEmptyDocument(t *testing.T) {
	cmds, err := Read("---\n# of a chart\n---\napiVersion: v1\nkind: Pod\nspec: {containers: [{image: \"vllm/vllm-openai:v0.24.0\", args: [--model, org/m]}]}\n")
	if err != nil || len(cmds) != 1 || cmds[0].Tag() != "0.24.0" {
		t.Errorf("%+v, %v", cmds, err)
	}
}

// FuzzRead: any text is read or refused.
// TestDocuments: what is wrong in a later document is said by its line in the file; thousands of documents take no time for each
// other's lines.
func TestDocuments(t *testing.T) {
	if _, err := Read("kind: Pod\n---\na: 1\n---\nb: [1\n"); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("%v", err)
	}
	if cmds, err := Read("kind: Pod\n" + strings.Repeat("---\na: 1\n", 7000)); err != nil || len(cmds) > 0 {
		t.Errorf("%d commands, %v", len(cmds), err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"services:\n  a: {image: x, command: [y]}\n", "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: x}]}\n", "a: |\n  b\n", "? a\n: b", "- - - a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if cmds, err := Read(text); err == nil && len(cmds) > len(text) {
			t.Error(len(cmds), "commands")
		}
		if _, err := Settings(text); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// firstOfGroup leaves the leader of a LeaderWorkerSet: its workers run the same command.
func firstOfGroup(text string) string {
	from, rest, _ := strings.Cut(text, "    workerTemplate:")
	_, to, _ := strings.Cut(rest, "\n---\n")
	return from + "---\n" + to
}

// TestQuota: a queue's quota is of all devices and all memory that the replicas ask for.
func TestQuota(t *testing.T) {
	s := &Service{Name: "x", Image: "i:1", GPUs: 8, Vendor: "nvidia", Memory: unit.GiB, Why: "so", Replicas: 3, Queue: &Queue{},
		Group: &Group{Nodes: 2}}
	docs, err := decode(Kubernetes(s), 0)
	if err != nil {
		t.Fatal(err)
	}
	quota := map[string]string{}
	for _, d := range docs {
		for _, g := range d.At("spec", "resourceGroups").Items() {
			for _, r := range g.At("flavors").Items()[0].At("resources").Items() {
				quota[r.At("name").Value()] = r.At("nominalQuota").Value()
			}
		}
	}
	if quota["nvidia.com/gpu"] != "48" || quota["memory"] != "6144Mi" {
		t.Errorf("%v", quota)
	}
}
