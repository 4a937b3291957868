package workload

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGuide: the examples of the guide are read as it says, and its tables name fields and formats that there are.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/guides/bring-your-own-trace.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 5 {
		t.Fatalf("%d examples", len(blocks))
	}
	rs, tr, err := read(blocks[0][1], ReadOptions{})
	if err != nil || len(rs) != 3 || len(tr.Unread()) != 0 || rs[2].Shared() != 810 {
		t.Error(rs, err)
	}
	agents, _, err := read(blocks[1][1], ReadOptions{})
	if err != nil || len(agents) != 1 {
		t.Error(agents, err)
	}
	for _, b := range blocks[2:] {
		var s Spec
		d := json.NewDecoder(strings.NewReader(b[1]))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			t.Error(err)
		} else if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	_, _, err = read(
		"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n\n{\"timestamp\":0,\"input_length\":-4,\"output_length\":1}\n",
		ReadOptions{})
	if !strings.Contains(page, "```text\n"+err.Error()+"\n```") {
		t.Errorf("the guide does not show %q", err)
	}
	checkTables(t, page)
}

// checkTables: fields of the first table are known to the reader, names of the second are formats, all of them.
func checkTables(t *testing.T, page string) {
	t.Helper()
	name := regexp.MustCompile("(?m)^\\| `([a-z_]+)`(?:, `([a-z_]+)`)? \\|")
	fields, formats, _ := strings.Cut(page, "## Other formats")
	seen := 0
	for _, m := range name.FindAllStringSubmatch(fields, -1) {
		for _, key := range m[1:] {
			if key == "" {
				continue
			}
			seen++
			_, tr, _ := read(`{"arrival_s":0,"`+key+`":1}`, ReadOptions{})
			if u := tr.Unread(); len(u) > 0 {
				t.Errorf("no field %s", key)
			}
		}
	}
	if seen != 13 {
		t.Errorf("%d fields", seen)
	}
	var named []string
	for _, m := range name.FindAllStringSubmatch(formats, -1) {
		named = append(named, m[1])
	}
	if got := strings.Join(named, " "); got != formatNames {
		t.Errorf("formats %s, want %s", got, formatNames)
	}
}
