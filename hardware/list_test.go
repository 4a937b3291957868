package hardware

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestList(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" , ", nil},
		{"h100", []string{"h100"}},
		{"h100,a100", []string{"h100", "a100"}},
		{"h100-sxm-80gb, a100-sxm-80gb", []string{"h100-sxm-80gb", "a100-sxm-80gb"}},
		{"64xh100,128xa100-sxm-80gb", []string{"64xh100", "128xa100-sxm-80gb"}},
		{"64xh100,256xh100,", []string{"64xh100", "256xh100"}},
		{"rtx-4090+rtx-3060,2xrtx-3090", []string{"rtx-4090+rtx-3060", "2xrtx-3090"}},
		{"2xp5.48xlarge,dgx-h100", []string{"2xp5.48xlarge", "dgx-h100"}},
		{"8xh100,link=nvlink:900GB/s", []string{"8xh100,link=nvlink:900GB/s"}},
		{"8xh100,link=nvlink:900GB/s,8xa100", []string{"8xh100,link=nvlink:900GB/s", "8xa100"}},
		{"16xh100,fabric=ib:50GB/s,per-node=4,a100,host=1TiB", []string{"16xh100,fabric=ib:50GB/s,per-node=4", "a100,host=1TiB"}},
		{"name=x,memory=24GiB", []string{"name=x,memory=24GiB"}},
		{"memory=24GiB,name=x", []string{"memory=24GiB,name=x"}},
		{"4xmemory=24GiB,name=x,h100", []string{"4xmemory=24GiB,name=x", "h100"}},
		{"name=x,memory=24GiB,name=y,memory=48GiB", []string{"name=x,memory=24GiB", "name=y,memory=48GiB"}},
		{"memory=24GiB,name=x,4xmemory=48GiB,name=y", []string{"memory=24GiB,name=x", "4xmemory=48GiB,name=y"}},
		{"h100,name=x,memory=24GiB", []string{"h100", "name=x,memory=24GiB"}},
		{"h100,4xname=x,memory=24GiB", []string{"h100", "4xname=x,memory=24GiB"}},
		// What is wrong stays with the machine that it was said of, and Parse says what is wrong.
		{"name=x,memory=lots", []string{"name=x,memory=lots"}},
		{"h100,lnk=nvlink:900GB/s,a100", []string{"h100,lnk=nvlink:900GB/s", "a100"}},
		{"h100,a1000", []string{"h100", "a1000"}},
	} {
		if got := List(c.text); !slices.Equal(got, c.want) {
			t.Errorf("List(%q) is %q, not %q", c.text, got, c.want)
		}
	}
}

// Each id and other name of the catalog is one machine, and two of them with a comma between are two.
func TestListNames(t *testing.T) {
	for id, r := range devices.lines() {
		for _, text := range []string{id, "8x" + id} {
			if got := List(text); len(got) != 1 {
				t.Errorf("List(%q) is %q", text, got)
			}
		}
		if got := List(id + ",2xrtx-4090"); len(got) != 2 || got[0] != id {
			t.Errorf("%s beside another is %q", id, got)
		}
		eachName(r, func(name string) bool {
			if _, _, err := Parse(name, 0); err == nil && len(List(name)) != 1 {
				t.Errorf("List(%q) is %q", name, List(name))
			}
			return false
		})
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{"h100,a100", "8xh100,link=nvlink:900GB/s,a100", "name=x,memory=24GiB,name=y,memory=1GiB",
		"Chip (8 cores, 16GB),t4", ",,=,x=,4xname=", ")("} {
		f.Add(s)
	}
	letters := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }), "")
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := List(text)
		if letters(strings.Join(got, "")) != letters(text) {
			t.Errorf("List(%q) loses text: %q", text, got)
		}
		if _, _, err := Parse(text, 0); err == nil && len(got) != 1 {
			t.Errorf("%q is one machine, and List gives %q", text, got)
		}
	})
}
