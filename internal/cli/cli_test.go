package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
)

// Every field of a request has its flag, but for those that a command line says otherwise; and every flag
// that is not a field is known.
func TestFlagsAndFields(t *testing.T) {
	a := &app{Config: Config{}.filled()}
	flags := a.fit().Flags()
	owned := map[string]bool{"also": true}
	for name := range inParts {
		owned[name] = true
	}
	for _, f := range memwall.Fields() {
		if f.Flag == "" {
			if elsewhere[f.Name] == "" && inParts[f.Name] == "" {
				t.Errorf("field %s has no flag, and no reason for it", f.Name)
			}
			continue
		}
		if !f.OfAsk("fit") {
			continue
		}
		owned[f.Flag] = true
		p := flags.Lookup(f.Flag)
		if p == nil {
			t.Errorf("field %s: no flag --%s", f.Name, f.Flag)
			continue
		}
		if p.Usage != f.Doc || p.Usage == "" {
			t.Errorf("--%s says %q, the field %q", f.Flag, p.Usage, f.Doc)
		}
		if operand(p) == "" && p.NoOptDefVal == "" {
			t.Errorf("--%s does not say what it takes", f.Flag)
		}
		if q := flags.Lookup(f.Name); q != p {
			t.Errorf("--%s is not --%s", f.Name, f.Flag)
		}
	}
	extra := []string{"from", "calibration", "quality", "explain", "layers", "notes", "by", "emit", "svg", "roofline", "check", "help"}
	flags.VisitAll(func(p *pflag.Flag) {
		if !owned[p.Name] && !strings.Contains(" "+strings.Join(extra, " ")+" ", " "+p.Name+" ") {
			t.Errorf("--%s is not a field", p.Name)
		}
	})
}

// askOf is a question that has the field.
func askOf(f *memwall.Field) string {
	if len(f.Asks) > 0 {
		return f.Asks[0]
	}
	return "fit"
}

// Every flag sets its field and nothing else.
func TestFlagsSetFields(t *testing.T) {
	values := map[string]string{"SHARE": "0.5", "SIZE": "2GiB", "NAME=N": "layers=3", "TOKENS": "4k", "N": "3", "": "true"}
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		if f.Flag == "" {
			continue
		}
		var r memwall.Request
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		requestFlags(flags, &r, askOf(f))
		value, ok := values[operand(flags.Lookup(f.Flag))]
		if !ok {
			value = "x"
			if len(f.Enum) > 0 {
				value = f.Enum[0]
			}
		}
		if err := flags.Set(f.Flag, value); err != nil {
			t.Errorf("--%s %s: %v", f.Flag, value, err)
			continue
		}
		for j := range memwall.Fields() {
			g := &memwall.Fields()[j]
			if set := !g.Value(&r).IsZero(); set != (g.Name == f.Name) {
				t.Errorf("--%s %s: field %s set: %v", f.Flag, value, g.Name, set)
			}
		}
		var onto memwall.Request
		overlay(flags, &r, &onto)
		if f.Value(&onto).IsZero() {
			t.Errorf("--%s is not laid over a request", f.Flag)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		flag, value string
		want        any
	}{
		{"ctx", "32k", 32768}, {"ctx", "8192", 8192}, {"prompt", "1M", 1 << 20}, {"tp", "8", 8}, {"users", "4", 4}, {"max-num-batched-tokens", "8k", 8192},
		{"reserve", "2GiB", 2 << 30}, {"reserve", "2GB", 2_000_000_000}, {"reserve", "1024", 1024}, {"gpu-layers", "-1", -1}, {"acceptance", "0.75", 0.75},
		{"mmap", "off", false}, {"swa-full", "true", true}, {"attention", "eager", "eager"},
	} {
		var r memwall.Request
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		requestFlags(flags, &r, "fit")
		if err := flags.Set(c.flag, c.value); err != nil {
			t.Errorf("--%s %s: %v", c.flag, c.value, err)
			continue
		}
		for i := range memwall.Fields() {
			f := &memwall.Fields()[i]
			if f.Flag != c.flag {
				continue
			}
			v := f.Value(&r)
			for v.Kind().String() == "ptr" {
				v = v.Elem()
			}
			if got := fmt.Sprint(v.Interface()); got != fmt.Sprint(c.want) {
				t.Errorf("--%s %s is %s, not %v", c.flag, c.value, got, c.want)
			}
		}
	}
	for flag, value := range map[string]string{"ctx": "-1", "tp": "1.5", "reserve": "1.5", "users": "1e3x", "acceptance": "nan", "mmap": "maybe", "split-mode": "diagonal", "set": "=1"} {
		var r memwall.Request
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		requestFlags(flags, &r, "fit")
		if flags.Set(flag, value) == nil {
			t.Errorf("--%s %s is taken", flag, value)
		}
	}
}

// Answers come in the order of the lines, whatever each of them takes.
func TestBatchOrder(t *testing.T) {
	models := []string{"llama-3.1-8b", "deepseek-v3", "qwen3-8b", "gemma-3-27b", "lama"}
	var in strings.Builder
	for i := range 500 {
		fmt.Fprintf(&in, `{"ask":"fit","model":%q,"hardware":"h100","context":%d}`+"\n", models[i%len(models)], 1024+i)
	}
	var out bytes.Buffer
	if code := Run(Config{Args: []string{"batch"}, Stdin: strings.NewReader(in.String()), Stdout: &out, Stderr: io.Discard}); code != 0 {
		t.Fatal(code)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 500 {
		t.Fatalf("%d answers", len(lines))
	}
	for i, l := range lines {
		want := fmt.Sprintf(`"context":%d,`, 1024+i)
		if models[i%len(models)] == "lama" {
			want = `"unknown_model"`
		}
		if !strings.Contains(l, want) {
			t.Fatalf("line %d is not about %s: %.200s", i+1, want, l)
		}
	}
}

// An answer is written as soon as it is there, not when the input ends.
func TestBatchStreams(t *testing.T) {
	in, feedIn := io.Pipe()
	readOut, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Run(Config{Args: []string{"batch"}, Stdin: in, Stdout: out, Stderr: io.Discard})
		out.Close()
	}()
	answers := make(chan string)
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := readOut.Read(buf)
			if n > 0 {
				answers <- string(buf[:n])
			}
			if err != nil {
				close(answers)
				return
			}
		}
	}()
	for range 3 {
		io.WriteString(feedIn, `{"ask":"fit","model":"llama-3.1-8b"}`+"\n")
		select {
		case s := <-answers:
			if !strings.HasPrefix(s, "{") {
				t.Fatalf("%.80q", s)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no answer while the input is open")
		}
	}
	feedIn.Close()
	for range answers {
	}
	if code := <-done; code != 0 {
		t.Fatal(code)
	}
}

// failing is an output that breaks, as a pipe does when its reader goes.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBatchStopsWhenNobodyReads(t *testing.T) {
	line := `{"ask":"fit","model":"llama-3.1-8b"}` + "\n"
	if code := Run(Config{Args: []string{"batch"}, Stdin: strings.NewReader(strings.Repeat(line, 5000)), Stdout: failing{}, Stderr: io.Discard}); code != unanswered {
		t.Errorf("exit %d", code)
	}
}

func BenchmarkFit(b *testing.B) {
	for b.Loop() {
		Run(Config{Args: []string{"fit", "llama-3.1-70b", "--on", "2xh100"}, Stdout: io.Discard, Stderr: io.Discard})
	}
}
