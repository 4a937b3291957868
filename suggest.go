package memwall

import (
	"cmp"
	"encoding/json"
	"slices"
)

const maxSuggestions = 6

// suggest tries the single changes of a search for plans and keeps those that help a plan that does not fit beyond
// doubt: first those that mend it, the cheapest first.
func (q *question) suggest(a *Answer) []Suggestion {
	if a.Verdict != Tight && a.Verdict != DoesNotFit || len(a.Devices) == 0 {
		return nil
	}
	all := q.near(a).ladder(nil)
	slices.SortStableFunc(all, func(x, y Candidate) int { return cmp.Compare(severity[x.Verdict]/3, severity[y.Verdict]/3) })
	var out []Suggestion
	for _, c := range all[:min(len(all), maxSuggestions)] {
		out = append(out, Suggestion{Change: c.Change, Patch: c.Patch, Saves: c.Saves, Verdict: c.Verdict, Speed: c.SpeedRatio, Quality: c.Quality})
	}
	return out
}

// near is a search for plans near the question's.
func (q *question) near(a *Answer) *planner {
	again := q.again()
	p := &planner{asker: again, asked: q.original, q: q, base: a, order: again.order(q), twice: pointsOfTwice[""], brief: true}
	p.asked.Explain = false
	if a.Host != nil {
		p.onHost = a.Host.Needed
	}
	return p
}

// faster is how many times as fast a user is served; nil when either is unknown.
func faster(a, b *Speed) *float64 {
	if a == nil || b == nil || a.Decode == nil || b.Decode == nil {
		return nil
	}
	x := *b.Decode / *a.Decode
	return &x
}

// again answers further questions about the question's model without resolving it anew, which may mean
// reading files.
func (q *question) again() *Asker {
	a := q.asker.remembering()
	a.memo.models[q.request.Model] = q.resolved
	return a
}

// Patch applies a JSON merge patch (RFC 7396) to a request.
func Patch(r *Request, patch map[string]any) (*Request, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	merge(m, patch)
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return Decode(data)
}

func merge(into map[string]any, patch map[string]any) {
	for k, v := range patch {
		sub, isMap := v.(map[string]any)
		have, had := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && had:
			merge(have, sub)
		default:
			into[k] = v
		}
	}
}
