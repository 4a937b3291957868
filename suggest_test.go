package memwall

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/plan"
)

// TestSuggestionsKeepTheirWord: every patch is applied, asked again and compared.
func TestSuggestionsKeepTheirWord(t *testing.T) {
	tried := 0
	for _, r := range []Request{
		{Model: "llama-3.1-70b", Hardware: "2xa100-40gb"},
		{Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 65536, Sequences: 8}},
		{Model: "gpt-oss-120b", Hardware: "h100"}, {Model: "qwen3-32b", Hardware: "rtx-4090"}, {Model: "deepseek-v3", Hardware: "8xh100"},
		{Model: "qwen3-32b", Hardware: "rtx-4090", Plan: plan.Plan{Weights: "q4_k_m", Context: 32768}},
	} {
		r.Ask = "fit"
		a, err := Ask(&r)
		if err != nil {
			t.Fatalf("%s: %v", r.Model, err)
		}
		if a.Verdict == Fits {
			continue
		}
		if len(a.Suggestions) == 0 {
			t.Errorf("%s on %s does not fit and nothing is suggested", r.Model, r.Hardware)
		}
		for _, s := range a.Suggestions {
			tried++
			p, err := Patch(&r, s.Patch)
			if err != nil {
				t.Fatalf("%v: %v", s.Patch, err)
			}
			b, err := Ask(p)
			if err != nil {
				t.Errorf("%s: %v", s.Change, err)
				continue
			}
			if b.Verdict != s.Verdict || a.Devices[0].Needed-b.Devices[0].Needed != s.Saves {
				t.Errorf("%s on %s, %s: %s and %d saved, promised %s and %d", r.Model, r.Hardware, s.Change, b.Verdict,
					a.Devices[0].Needed-b.Devices[0].Needed, s.Verdict, s.Saves)
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d suggestions were tried", tried)
	}
}

func TestPatch(t *testing.T) {
	r := &Request{Ask: "fit", Model: "m", Plan: plan.Plan{Context: 4096, TP: 2}}
	p, err := Patch(r, map[string]any{"context": 8192, "tp": nil, "kv": "fp8"})
	if err != nil || p.Context != 8192 || p.TP != 0 || p.KV != "fp8" || p.Model != "m" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Patch(r, map[string]any{"contxt": 1}); err == nil {
		t.Error("a patch with an unknown field is applied")
	}
}

// TestMoreDevicesKeepTheHost: twice the cards are in the same machine, whose host has no more memory for it.
func TestMoreDevicesKeepTheHost(t *testing.T) {
	off, experts := false, plan.Int(-1)
	r := &Request{Ask: "fit", Model: "qwen3-235b-a22b", Hardware: "rtx-4090,host=64GiB@90GB/s", Plan: plan.Plan{Weights: "q4_k_m"}}
	r.Mmap, r.CPUMoE = &off, &experts
	seen := false
	for _, s := range asked(t, api.AskPlan, *r).Ladder {
		to, ok := s.Patch["hardware"]
		if !ok || !strings.HasPrefix(to.(string), "2x") {
			continue
		}
		seen = true
		if to != "2xrtx-4090,host=64GiB@90GB/s" || s.Verdict != DoesNotFit {
			t.Errorf("%v: %s", to, s.Verdict)
		}
	}
	if !seen {
		t.Error("no other hardware was tried")
	}
}

// judged is a table of testdata/judged: its rows by the names of their columns.
func judged(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/judged/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case columns == nil:
			columns = cells
		case len(cells) != len(columns):
			t.Fatalf("%s: %d cells of %d: %q", name, len(cells), len(columns), line)
		default:
			row := map[string]string{}
			for i, c := range cells {
				row[columns[i]] = c
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// replaces reports whether a change needs other hardware or another program.
func replaces(s *api.Suggestion) bool { return s.Patch["hardware"] != nil || s.Patch["engine"] != nil }

// firstCure is what is said first: a change that fits, and one that is tight before others that need another machine or program.
func firstCure(all []api.Suggestion) *api.Suggestion {
	i := slices.IndexFunc(all, func(s api.Suggestion) bool { return s.Verdict == Fits && !s.Slow })
	if len(all) > 0 && all[0].Verdict == Tight && !replaces(&all[0]) && (i < 0 || replaces(&all[i])) {
		return &all[0]
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

// TestFirstCure: what is said first is what a practitioner would say, in nine situations of ten, and never what nobody would.
func TestFirstCure(t *testing.T) {
	t.Parallel()
	situations, absurd := judged(t, "fit.tsv"), judged(t, "absurd.tsv")
	one, agreed := asker().Remembering(), 0
	for _, c := range situations {
		r := Request{Ask: "fit", Model: c["model"], Hardware: c["on"]}
		for field := range strings.FieldsSeq(c["fields"]) {
			name, value, _ := strings.Cut(field, "=")
			if err := r.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		a, err := one.Ask(&r)
		if err != nil {
			t.Errorf("%s on %s: %v", c["model"], c["on"], err)
			continue
		}
		sets, said := "-", "nothing"
		if s := firstCure(a.Suggestions); s != nil {
			var to []string
			for _, field := range slices.Sorted(maps.Keys(s.Patch)) {
				to = append(to, fmt.Sprintf("%s=%v", field, s.Patch[field]))
			}
			sets, said = strings.Join(slices.Sorted(maps.Keys(s.Patch)), ","), strings.Join(to, " ")
		}
		if slices.Contains(strings.Split(c["sets"], "|"), sets) {
			agreed++
		} else {
			t.Logf("%s on %s %s: %s, want %s: %s", c["model"], c["on"], c["fields"], said, c["sets"], c["why"])
		}
		whole := fmt.Sprintf("%s on %s, %s: %s", c["model"], c["on"], c["fields"], said)
		for _, x := range absurd {
			if regexp.MustCompile(x["pattern"]).MatchString(whole) {
				t.Errorf("%s: %s", whole, x["why"])
			}
		}
		if c["source"] == "" {
			t.Errorf("%s on %s has no source", c["model"], c["on"])
		}
	}
	t.Logf("%d of %d", agreed, len(situations))
	if len(situations) < 150 || agreed*10 < len(situations)*9 {
		t.Errorf("%d first cures of %d are those of a practitioner", agreed, len(situations))
	}
}

// TestAbsurdCures: each pattern finds the change that it is there for.
func TestAbsurdCures(t *testing.T) {
	for whole, why := range map[string]string{
		"qwen3-32b on rtx-3060, : weights=iq2_xs":                                      "two bits",
		"llama-3.1-70b on rtx-4090, : hardware=8xrtx-4090":                             "eight cards",
		"gpt-oss-120b on m4-max-64gb, : hardware=2xm4-max-40-core-64gb":                "second device",
		"llama-3.1-8b on rtx-4090, sequences=64: engine=llama.cpp":                     "many users",
		"llama-3.1-70b on 2xh100, sequences=64: cpu_offload_bytes=47244640256":         "tens of GiB",
		"gpt-oss-120b on a100-40gb, engine=vllm: hardware=2xa100-sxm-40gb weights=awq": "four bits",
		"gpt-oss-20b on rtx-4080, engine=vllm: enforce_eager=true":                     "graphs",
		"deepseek-v3.1 on 8xh200, engine=vllm sequences=64: dp=1 ep=1 pp=8 tp=1":       "NVLink",
	} {
		if !slices.ContainsFunc(judged(t, "absurd.tsv"), func(x map[string]string) bool {
			return strings.Contains(x["why"], why) && regexp.MustCompile(x["pattern"]).MatchString(whole)
		}) {
			t.Errorf("%s is said: %s", whole, why)
		}
	}
}
