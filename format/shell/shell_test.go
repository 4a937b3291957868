package shell

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// started are the words of the last command of a script.
func started(text string) []string {
	s := Follow(text)
	if len(s.Commands) == 0 {
		return nil
	}
	return s.Commands[len(s.Commands)-1].Words
}

// TestFollow: what a script starts, by the rules of bash (GNU Bash manual 5.3, 3.5 "Shell Expansions").
func TestFollow(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"run a  'b c' \"d\"e # f\n", "run|a|b c|de"},
		{"run a \\\n b; other", "other"},
		{"A=1\nrun $A ${A} \"$A\" '$A' \\$A", "run|1|1|1|$A|$A"},
		{"run ${B:-2} ${B-3} ${B:=4} $B", "run|2|3|4|4"},
		{"A=x; run ${A:+--y} ${C:+--z}end", "run|--y|end"},
		{"run $UNSET --n=${UNSET}", "run|${UNSET}|--n=${UNSET}"},
		{"L=$((2 * (3 + N))) \nN=4; M=$(( N/2 > 1 ? 8 : 9 )); run $L $M", "run|${((2*(3+N)))}|8"},
		{"A=(--x 1\n --y \"2 3\" # z\n)\nA+=(--w)\nrun ${A[@]} n=${#A[@]} ${A[1]}", "run|--x|1|--y|2|3|--w|n=5|1"},
		{"A=(--x \"2 3\")\nrun \"${A[@]}\"", "run|--x|2 3"},
		{"O=\" --x 1 \\\n   --y\"\nrun $O z", "run|--x|1|--y|z"},
		{"if [ $T = 8B ]; then L=32; elif [[ $T == 7* ]]; then L=80; else L=1; fi; run $L", "run|1"},
		{"T=70B; if [ $T = 8B ]; then L=32; elif [[ $T == 7* ]]; then L=80; else L=1; fi; run $L", "run|80"},
		{"T=$1; if [ $T = 8B ]; then L=32; O=\" --f 2\"; fi; run $L $O", "run|${L}|--${O}"},
		{"T=no; if [ $T = yes ]; then O=\" --f 2\"; L=3; fi; run $L $O", "run|${L}"},
		{"set -- 8B; T=$1; if [ $T = 8B ]; then L=32; fi; run $L $# ${2:-no}", "run|32|1|no"},
		{"if [ -z ${X} ]; then X=5; fi; [ -n \"$X\" ] && run $X", "run|5"},
		{"if [ $A -gt 3 -a $A != 7 ]; then :; fi; A=5; if [ $A -gt 3 -a $A != 7 ]; then run yes; fi", "run|yes"},
		{"case $M in a|b) L=1;; c*) L=2;; *) L=3;; esac; run $L", "run|3"},
		{"M=cd; case $M in a|b) L=1;; c*) L=2;; *) L=3;; esac; run $L", "run|2"},
		{"for i in 1 2; do run $i; done", "run|2"},
		{"while [ $# -gt 0 ]; do shift; done; run ok", "run|ok"},
		{"f() { run \"$1\" $2; }\nf a b", "run|a|b"},
		{"CMD=\"run --a $X\"; eval $CMD", "run|--a|${X}"},
		{"X=1; srun bash -c \"run $X\"", "run|1"},
		{"read -r -d '' O <<EOF\nrun \\\n --a 1\nEOF\n$O > log 2>&1 | tee x", "tee|x"},
		{"read -r -d '' O <<EOF\nrun \\\n --a 1\nEOF\n$O > log 2>&1", "run|--a|1"},
		{"cat > f <<'E'\nnot a command $\nE\nrun", "run"},
		{"#SBATCH --nodes=4 --x\nrun $SLURM_NNODES", "run|4"},
		{"P=/a/b.c; run ${P##*/} ${P%.*} ${P%/*} ${P/a/b}", "run|b.c|/a/b|/a|${P}"},
		{"N=`nproc` M=$(nproc); run $N $M", "run|${(…)}|${(…)}"},
		{"(( N = 2 * 3 )); run $N", "run|6"},
		{"", ""}, {"'open", "open"}, {"\\", "\\"}, {"if", ""}, {"fi )) } ;; run", "run"}, {"case", "case"}, {"${", "${…}"}, {"A=(", ""},
	} {
		if got := strings.Join(started(c.text), "|"); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestOpen: a condition that hangs on an argument is told by its line.
func TestOpen(t *testing.T) {
	if s := Follow("A=$1\nif [ $A = 1 ]; then B=2; fi\n"); !slices.Equal(s.Open, []int{2}) {
		t.Errorf("open at %v, want line 2", s.Open)
	}
}

// TestBounds: texts that double, loops and functions without an end, and deep nests are cut, in little time.
func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"doubling":  "A=aaaaaaaaaaaaaaaa\n" + strings.Repeat("A=$A$A\n", 64) + "run $A",
		"array":     "A=(a a a a)\n" + strings.Repeat("A=(${A[@]} ${A[@]})\n", 64),
		"loops":     strings.Repeat("for a in 1 2 3 4 5 6 7 8; do ", 20) + "run" + strings.Repeat("; done", 20),
		"recursion": "f() { f; f; }\nf",
	} {
		start := time.Now()
		if s := Follow(text); !s.Cut {
			t.Errorf("%s: was not cut", name)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
	for _, deep := range []string{"(", "{ ", "$((", "if ", "[ ! ", "${A:-", "case a in a) ", "$(( (", "! "} {
		start := time.Now()
		Follow(strings.Repeat(deep, 60_000/len(deep)))
		if d := time.Since(start); d > time.Second {
			t.Errorf("%q took %v", deep, d)
		}
	}
}

// FuzzFollow: no text makes it fail.
func FuzzFollow(f *testing.F) {
	for _, s := range []string{"A=(1 2)\nrun ${A[@]:-$B} $((1+2))", "if [ -z $X ]; then X=1; fi; run \"$X\" `a`", "case $1 in a*) b;; esac", "cat <<E\n$A\nE\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { Follow(text) })
}
