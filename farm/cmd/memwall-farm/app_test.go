package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/memwall/memwall/farm/internal/farm"
)

// TestOthersNames: what others call themselves does nothing to a terminal, whether it is said, listed or JSON.
func TestOthersNames(t *testing.T) {
	const name = "evil\x1b[2J\u009b31m\u202e\r\x07\U000e0041"
	var out, err bytes.Buffer
	a := &app{out: &out, err: &err, env: func(string) string { return "" }}
	all := []farm.Status{{ID: name, Name: name, State: name, Progress: &farm.Progress{Refused: []string{name}}}}
	a.say(name)
	a.show(name)
	a.clear()
	if err := a.list(all); err != nil {
		t.Fatal(err)
	}
	a.exit(bad("study", name, name, name))
	a.json = true
	if err := a.list(all); err != nil {
		t.Fatal(err)
	}
	talk := strings.ReplaceAll(err.String(), "\r\x1b[K", "") // the line of progress is ours
	for _, text := range []string{out.String(), talk} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != 0xe0041 && !unicode.IsPrint(r) }); i >= 0 ||
			!strings.Contains(text, "evil") {
			t.Errorf("%q", text)
		}
	}
	_, object, _ := strings.Cut(out.String(), "[\n")
	var back []farm.Status
	if err := json.Unmarshal([]byte("["+object), &back); err != nil || back[0].Name != name {
		t.Errorf("%+v, %v", back, err)
	}
}
