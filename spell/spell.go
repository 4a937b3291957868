// Package spell finds names similar to a misspelled word, for "did you mean".
package spell

import (
	"slices"
	"sort"
	"strings"
)

const most = 64 // letters compared

// Distance returns the Levenshtein distance (1966) between the first 64 bytes of two words.
func Distance(a, b string) int {
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	var row [most + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// Nearest returns up to three names within a third of the word's letters, nearest first, ties in the given order. Case
// is ignored.
func Nearest(word string, names []string) []string {
	type hit struct {
		name string
		d    int
	}
	var hits []hit
	w := strings.ToLower(word)
	far := max(2, len(w)/3)
	have := letters(w)
	for _, n := range names {
		if len(w)-len(n) > far || len(n)-len(w) > far {
			continue // the lengths differ too much: avoids work on very long words
		}
		if distanceBound(&have, strings.ToLower(n)) > far {
			continue
		}
		if d := Distance(w, strings.ToLower(n)); d <= far {
			hits = append(hits, hit{n, d})
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].d < hits[j].d })
	var out []string
	for _, h := range hits {
		if len(out) < 3 && !slices.Contains(out, h.name) {
			out = append(out, h.name)
		}
	}
	return out
}

// letters counts the first letters of a word, by their codes modulo 64.
func letters(w string) (n [64]int8) {
	for i := range min(len(w), most) {
		n[w[i]&63]++
	}
	return n
}

// distanceBound returns a lower bound of the distance: the larger number of letters that only one of the words has.
func distanceBound(have *[64]int8, w string) int {
	left := *have
	more := 0
	for i := range min(len(w), most) {
		c := w[i] & 63
		if left[c] > 0 {
			left[c]--
		} else {
			more++
		}
	}
	less := 0
	for _, n := range left {
		less += int(n)
	}
	return max(more, less)
}
