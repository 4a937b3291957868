package shell

import (
	"runtime"
	"strings"
	"testing"
)

// commands are those of a script, and the quote that is open.
func commands(s *Script) string {
	var out []string
	for _, c := range s.Commands {
		out = append(out, strings.Join(c.Words, "|"))
	}
	if s.Quote != 0 {
		out = append(out, "open "+string(s.Quote))
	}
	return strings.Join(out, "; ")
}

// TestPasted: what people copy is followed where the text says what holds, and stays as it is written where it does not.
func TestPasted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`run D:\models\x.gguf "C:\a" -n 8 > log 2>&1`, `run|D:\models\x.gguf|C:\a|-n|8`},
		{"run a \\ \t\n b `\n c ^\r\n d", "run|a|b|c|d"},
		{"`run a` it's", "`run|a`|its; open '"},
		{"run <your model> --x {\"a\":1} (on 2 GPUs) $(nproc --all) $((2*4)) $((N*2))",
			`run|<your model>|--x|{a:1}|(on|2|GPUs)|$(nproc --all)|8|$((N*2))`},
		{"run $UNSET ${UNSET:?say} ${1:-x} ${1} \"$@\" $# ${L[@]} ${A:+--y $A}", "run|$UNSET|${UNSET:?say}|x|${1}|$@|$#|${L[@]}|${A:+--y $A}"},
		{"$env:M=\"a b\"; run $M \"$env:M\" $env:N", "run|a|b|a b|$env:N"},
		{"M=a; run $(M) ${M##*/}", "run|a|a"},
		{"f() {\n run \"$1\" \"$@\"\n}\nf x y", "run|x|x|y"},
		{"start-it() { run \"$@\"; }", "run|$@"},
		{"for p in 1 2; do run $p & done; wait", "run|1; run|2; wait"},
		{"for two cards\nrun a", "run|a"},
		{"case of two\nrun a", "case|of|two; run|a"},
		{"case \"$1\" in\n serve) run a ;;\n *) run b;; esac; run (c)", "run|a; run|b; run|(c)"},
		{"if nvidia-smi; then run a; else run b; fi", "nvidia-smi; run|a; run|b"},
		{"if command -v run; then run a; fi", "run|a"},
		{"if [ -n \"$X\" ]; then run a; fi; Y=1; [ -n \"$Y\" ] && run b || run c", "run|a; run|b; run|c"},
		{"until curl x; do sleep 1; done; run a", "curl|x; sleep|1; run|a"},
		{"(cd x && run a)", "cd|x; run|a"},
		{"A=(--x 1); A+=(--y \"2 3\"); run ${A[@]}", "run|--x|1|--y|2|3"},
	} {
		if got := commands(Pasted(c.text, nil)); got != c.want {
			t.Errorf("%q:\n got  %s\n want %s", c.text, got, c.want)
		}
	}
}

// TestPastedAround: what is set before a command, where its output goes, and the document that it reads.
func TestPastedAround(t *testing.T) {
	s := Pasted("export A=1\nB=2 run\ncat > f.yaml <<EOF\na: $A $B $C `x`\nEOF\ncat <<'E' >> g\n$A\nE\n", []Variable{{"Z", "0"}})
	if len(s.Commands) != 3 {
		t.Fatal(commands(s))
	}
	set := func(c Command) (out string) {
		for _, v := range c.Env {
			out += v.Name + v.Value
		}
		return out
	}
	run, f, g := s.Commands[0], s.Commands[1], s.Commands[2]
	if set(run) != "Z0A1B2" || set(f) != "Z0A1" {
		t.Errorf("set for run: %s, for cat: %s", set(run), set(f))
	}
	if f.To != "f.yaml" || f.Document != "a: 1 2 $C `x`\n" || g.To != "g" || g.Document != "$A\n" {
		t.Errorf("%q to %s, %q to %s", f.Document, f.To, g.Document, g.To)
	}
}

// TestFill: a text that is no shell's keeps its quotes and backslashes.
func TestFill(t *testing.T) {
	env := []Variable{{"A", "1"}, {"E", ""}}
	for text, want := range map[string]string{
		`"$A" '$(A)' \${A} $B $(B) ${E:-2} ${E-3} ${B:-"x y"} ${B:-{"l":3}} $`: `"1" '1' \1 $B $(B) 2  x y {"l":3} $`,
		"`${A}`": "`1`", "${": "${", "${A": "1",
	} {
		if got := Fill(text, env); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestPastedBounds: what a text sets is not copied for every command, and what has no end is cut.
func TestPastedBounds(t *testing.T) {
	for name, text := range map[string]string{
		"commands": strings.Repeat("A=1;x\n", 10_000),
		"prefixes": strings.Repeat("A=1\nB=2 x\n", 6_000),
		"cases":    strings.Repeat("case;", 12_000),
		"brackets": strings.Repeat("(", 60_000), "sentences": strings.Repeat("for ", 15_000), "functions": strings.Repeat("f() { ", 10_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Pasted(text, nil)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
	}
	if s := Pasted(strings.Repeat("A=1\nB=2 x\n", 6_000), nil); !s.Cut {
		t.Error("lists that are copied for each command were not cut")
	}
}

// FuzzPasted: no text makes it fail, and nothing of its own marks comes out.
func FuzzPasted(f *testing.F) {
	for _, s := range []string{"A=(1 2)\nrun ${A[@]:-$B} $((1+2)) <x y>",
		"f() { run `a`; }", "case $1 in a*) b;; esac (c)", "cat > f <<E\n$A\nE\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Pasted(text, []Variable{{"V", "1"}})
		all := commands(s)
		Fill(text, s.env())
		if words, ok := Words(text); ok {
			all += strings.Join(words, " ")
		}
		if strings.ContainsAny(all, openMark+closeMark+backquote) {
			t.Fatalf("%q", all)
		}
	})
}

func (s *Script) env() (out []Variable) {
	for _, c := range s.Commands {
		out = c.Env
	}
	return out
}
