package hardware

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/spell"
)

// unknown returns the error for a name that matches nothing.
func unknown(name, problem string, candidates []string) *Error {
	e := &Error{Code: UnknownHardware, Field: "hardware", Value: name, Problem: problem, Candidates: candidates}
	if len(candidates) > 0 {
		e.Fix = "did you mean " + strings.Join(candidates, ", ") + "?"
	}
	return e
}

func severalMeant(name string, ids []string) *Error {
	e := unknown(name, "could be several devices", ids)
	e.Fix = "say which: " + strings.Join(ids, ", ")
	return e
}

const notThere = "is not in the catalog"

// missing returns the error for a name that no device has, with up to three candidates: the devices with all its words,
// else those closest in spelling.
func missing(name string, q query) error {
	k := key(q.words...)
	if hits := (query{words: q.words, cores: q.cores}).hits(k + q.cores); len(hits) > 0 {
		d := &hits[0].device
		e := unknown(name, "states what "+d.ID+" is not", []string{d.ID})
		e.Fix = d.ID + " has " + d.Memory.Value.String() + " of " + d.Kind
		if d.TDP.Known {
			e.Fix += " and " + strconv.Itoa(int(d.TDP.Value)) + " W"
		}
		return e
	}
	if c := containing(q.words); len(c) > 0 && len(c) <= 8 {
		return unknown(name, notThere, c)
	}
	e := unknown(name, notThere, nearest(k))
	if e.Fix == "" {
		e.Fix = "describe it: name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS"
	}
	return e
}

// containing returns the devices whose ids contain every word.
func containing(words []string) []string {
	var ids []string
	for id := range devices.lines() {
		have := strings.Split(id, "-")
		if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(have, w) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// nearest returns up to three ids at the smallest edit distance, if it is small.
func nearest(k string) []string {
	type scored struct {
		id   string
		dist int
	}
	var best []scored
	limit := min(3, len(k)/3)
	for id, r := range devices.lines() {
		dist := limit + 1
		eachName(r, func(name string) bool {
			dist = min(dist, distance(key(name), k, limit), distance(key(withoutMemory(name)), k, limit))
			return false
		})
		if dist <= limit {
			best = append(best, scored{id, dist})
		}
	}
	for name, r := range defaults.lines() {
		if dist := distance(key(name), k, limit); dist <= limit {
			best = append(best, scored{r.second(), dist})
		}
	}
	stable.Sort(best, func(a, b scored) int { return a.dist - b.dist })
	var ids []string
	for _, s := range best {
		if s.dist == best[0].dist && len(ids) < 3 && !slices.Contains(ids, s.id) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// distance returns the Levenshtein distance of a and b, or limit+1 if it is larger.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	return min(spell.Distance(a, b), limit+1)
}
