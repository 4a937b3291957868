package cli

import (
	"bufio"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
)

// Any value of any flag is read or refused with an error that names the flag.
func FuzzFlags(f *testing.F) {
	f.Add(uint8(3), "32k")
	f.Add(uint8(9), "1e400")
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		field := &memwall.Fields()[int(which)%len(memwall.Fields())]
		if field.Flag == "" {
			return
		}
		var r memwall.Request
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		requestFlags(flags, &r, askOf(field))
		if err := flags.Set(field.Flag, value); err != nil && !strings.Contains(err.Error(), "--"+field.Flag) {
			t.Errorf("--%s %q: %v", field.Flag, value, err)
		}
	})
}

// Lines come out as they went in, however they fall into the buffer.
func FuzzReadLine(f *testing.F) {
	f.Add("a\nb\n\nc")
	f.Fuzz(func(t *testing.T, text string) {
		in := bufio.NewReaderSize(strings.NewReader(text), 16)
		var lines []string
		for {
			line, tooLong, err := readLine(in)
			if tooLong {
				t.Fatal("too long")
			}
			if err != nil {
				if len(line) > 0 {
					lines = append(lines, string(line))
				}
				break
			}
			lines = append(lines, string(line)+"\n")
		}
		if got := strings.Join(lines, ""); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
