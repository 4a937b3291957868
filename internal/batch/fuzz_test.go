package batch

import (
	"bufio"
	"strings"
	"testing"
)

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
