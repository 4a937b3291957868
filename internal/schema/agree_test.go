package schema

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
)

// contradictions are what disagrees in a value of an answer, wherever it stands.
func contradictions(at string, v any) (out []string) {
	switch x := v.(type) {
	case []any:
		for i, e := range x {
			out = append(out, contradictions(fmt.Sprintf("%s/%d", at, i), e)...)
		}
	case map[string]any:
		for name, e := range x {
			out = append(out, contradictions(at+"/"+name, e)...)
		}
		for _, wrong := range append(bands(x), sums(x)...) {
			out = append(out, at+": "+wrong)
		}
	}
	return out
}

// edges are the names of a figure's low and high edge.
func edges(name string) [][2]string {
	out := [][2]string{{name + "_low", name + "_high"}}
	if stem, ok := strings.CutSuffix(name, "bytes"); ok {
		out = append(out, [2]string{stem + "low_bytes", stem + "high_bytes"})
	}
	if name == "value" {
		out = append(out, [2]string{"low", "high"})
	}
	return out
}

// bands that are turned round, percentiles that fall, shares outside of 0 to 1, and sizes below 0.
func bands(x map[string]any) (out []string) {
	number := func(name string) (float64, bool) { n, ok := x[name].(float64); return n, ok }
	for name := range x {
		n, ok := number(name)
		if !ok {
			continue
		}
		for _, e := range edges(name) {
			low, hasLow := number(e[0])
			high, hasHigh := number(e[1])
			if slack := 1e-9 * max(n, -n, 1e-9); hasLow && low > n+slack || hasHigh && high < n-slack {
				out = append(out, fmt.Sprintf("%s = %v, from %v to %v", name, n, low, high))
			}
		}
		switch {
		case strings.HasSuffix(name, "bytes") && n < 0 && !mayFall[name]:
			out = append(out, fmt.Sprintf("%s = %v", name, n))
		case isShare[name] && (n < 0 || n > 1+1e-9):
			out = append(out, fmt.Sprintf("%s = %v is not a share", name, n))
		}
	}
	p50, ok := number("p50")
	p90, _ := number("p90")
	if p99, _ := number("p99"); ok && (p50 > p90 || p90 > p99) {
		out = append(out, fmt.Sprintf("percentiles %v, %v, %v", p50, p90, p99))
	}
	return out
}

// mayFall are differences of sizes; isShare are parts of a whole. bandwidth_fraction is none yet: its traffic counts experts as if they
// were chosen evenly, and its time does not.
var (
	mayFall = map[string]bool{"headroom_bytes": true, "saves_bytes": true, "change_bytes": true, "a_bytes": true, "b_bytes": true}
	isShare = map[string]bool{"peak_utilization": true, "mean_utilization": true, "prefix_hit_rate": true, "prompt_share": true,
		"goal_share": true, "mfu": true, "flops_fraction": true}
)

// sums of ledgers and of items.
func sums(x map[string]any) (out []string) {
	total := func(list any) (n float64, some bool) {
		for _, e := range listOf(list) {
			it := e.(map[string]any)
			if b, ok := it["bytes"].(float64); ok && it["id"] != "pool_unused" {
				n, some = n+b, true
			}
		}
		return n, some
	}
	if n, some := total(x["ledger"]); some {
		if needed, ok := x["needed_bytes"].(float64); ok && needed != n {
			out = append(out, fmt.Sprintf("the ledger's items are %v together, needed_bytes %v", n, needed))
		}
	}
	if n, some := total(x["items"]); some {
		if whole, ok := x["bytes"].(float64); ok && whole != n {
			out = append(out, fmt.Sprintf("%v: parts of %v, %v together", x["id"], n, whole))
		}
	}
	return out
}

func listOf(v any) []any { l, _ := v.([]any); return l }

// ofVerdict: what fits has its high edge within what may be used on every device, what is tight its middle, and what does not fit
// is beyond it on one, beyond the host, or beyond a pool whose size is given.
func ofVerdict(a *memwall.Answer) (out []string) {
	within, possible, over := true, true, a.KV != nil && a.KV.NeededBytes > a.KV.PoolBytes
	for i := range a.Devices {
		d := &a.Devices[i]
		if d.Usable == 0 && d.Capacity == 0 {
			continue // without bounds
		}
		within = within && d.NeededHigh <= d.Usable
		possible = possible && d.NeededLow <= d.Usable
		over = over || d.Needed > d.Usable
		if d.Usable > d.Capacity || d.Used < d.Needed && d.Needed <= d.Usable {
			out = append(out, fmt.Sprintf("%s: capacity %v, usable %v, used %v, needed %v", d.Name, d.Capacity, d.Usable, d.Used, d.Needed))
		}
	}
	for _, m := range []*memwall.Memory{a.Host, a.Disk, a.Pool} {
		over = over || m != nil && m.Capacity > 0 && m.Headroom < 0
	}
	if len(a.Devices) == 0 {
		return out
	}
	switch v := a.Verdict; {
	case v == memwall.Fits && !within, v == memwall.Tight && !possible, v == memwall.DoesNotFit && !over:
		out = append(out, fmt.Sprintf("verdict %s, high edges within %v, low edges within %v, beyond %v", v, within, possible, over))
	}
	return out
}
