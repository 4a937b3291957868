package trust

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memwall/memwall"
)

// Bounds of one input, whatever numbers stand in it: bytes that are allocated, beside a multiple of its own; bytes of what is said of it.
const (
	mostBytes = 64 << 20
	mostTimes = 400
	mostWords = 4 << 10
)

// tally is what became of the inputs of a corpus.
type tally struct {
	name, what                string
	inputs, answered, refused int
	untold                    bool // which were answered
}

// try reads every input of a corpus. Each ends in an answer, or in an error that says something short; none fails memwall itself.
func try(t *testing.T, c *corpus) tally {
	n := tally{name: c.name, what: c.what, untold: c.untold}
	for in := range c.inputs {
		n.inputs++
		spent, err := read(c, in)
		said := ""
		if err == nil {
			n.answered++
		} else {
			n.refused++
			said = err.Error()
		}
		if wrong := c.wrong(in, spent, said, err); wrong != "" {
			t.Errorf("%s: %.300q: %s", c.name, in, wrong)
		}
	}
	if n.inputs < 100 {
		t.Errorf("%s: only %d inputs", c.name, n.inputs)
	}
	return n
}

// wrong says what must not be; "" for nothing.
func (c *corpus) wrong(in []byte, spent uint64, said string, err error) string {
	switch {
	case spent > mostBytes+mostTimes*uint64(len(in)):
		return fmt.Sprintf("%d bytes allocated for %d", spent, len(in))
	case err == nil:
		return ""
	case said == "" || len(said) > mostWords || !utf8.ValidString(said):
		return fmt.Sprintf("%d bytes are said: %.200q", len(said), said)
	case strings.Contains(said, "runtime error") || strings.Contains(said, "memwall itself"):
		return said
	case c.fix && !fixes(err):
		return fmt.Sprintf("%T without a fix: %.300q", err, said)
	}
	return ""
}

// fixes reports whether an error says what to do.
func fixes(err error) bool {
	if h, ok := err.(interface{ Hint() string }); ok {
		return h.Hint() != ""
	}
	v := reflect.Indirect(reflect.ValueOf(err))
	for _, name := range []string{"Hint", "Fix"} {
		if v.Kind() == reflect.Struct && v.FieldByName(name).IsValid() {
			return v.FieldByName(name).String() != ""
		}
	}
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return fixes(u.Unwrap())
	}
	return false
}

// read reads one input, and says how much was allocated for it.
func read(c *corpus, in []byte) (spent uint64, err error) {
	var before, after runtime.MemStats
	defer func() {
		if p := recover(); p != nil {
			err = &memwall.Error{Code: memwall.Internal, Message: fmt.Sprintf("memwall itself failed: %v", p)}
		}
	}()
	runtime.ReadMemStats(&before)
	err = c.read(in)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// TestReaders: every input of every corpus, and the page that says so.
func TestReaders(t *testing.T) {
	var all []tally
	for _, c := range corpora(t) {
		n := try(t, &c)
		t.Logf("%s: %d inputs, %d answered, %d refused", n.name, n.inputs, n.answered, n.refused)
		all = append(all, n)
	}
	if !t.Failed() {
		page(t, all)
	}
}
