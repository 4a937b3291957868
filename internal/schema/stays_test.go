package schema

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "add new members to the list of those that stay")

// stays lists the members of memwall/1: definition, member and type.
const stays = "testdata/memwall-1.txt"

// TestMembersStay: within memwall/1 members are added; none is removed, renamed or given another type.
func TestMembersStay(t *testing.T) {
	now := map[string]bool{}
	for _, which := range []string{"request", "answer"} {
		v, _ := load(t, which)
		for name, d := range v.defs {
			properties, _ := d.(map[string]any)["properties"].(map[string]any)
			for member, p := range properties {
				now[strings.Join([]string{which, name, member, typeOf(p.(map[string]any))}, " ")] = true
			}
		}
	}
	text, err := os.ReadFile(stays)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, member := range kept {
		if !now[member] {
			t.Errorf("%s is gone: memwall/1 promises it; keep it beside what replaces it, marked as deprecated", member)
		}
		delete(now, member)
	}
	added := slices.Sorted(maps.Keys(now))
	if *update {
		all := slices.Sorted(slices.Values(append(kept, added...)))
		if err := os.WriteFile(stays, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(added) > 0 {
		t.Errorf("%d new members, such as %s: go test ./internal/schema -run MembersStay -update", len(added), added[0])
	}
}

// typeOf names what a member may be, as the schema says it.
func typeOf(p map[string]any) string {
	switch x := p["type"].(type) {
	case string:
		return x
	case nil:
		if ref, ok := p["$ref"].(string); ok {
			return ref
		}
		return "any"
	}
	return "several"
}
