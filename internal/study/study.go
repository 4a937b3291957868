// Package study parses study files: lists of models, hardware, plan fields, workloads, goals and seeds, whose Cartesian
// product is a set of questions. It does no I/O: what a study names is resolved by its runner (farm/internal/farm).
//
// See study.go for what a study is, read.go for the parser, expand.go for its questions and their keys.
package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"github.com/memwall/memwall"
)

// Study is a set of questions: all ways to take one level of each factor. A study is not changed once it is read, and
// serves many at once.
type Study struct {
	Name string
	// Ask is the question: fit, plan, train or sim.
	Ask string
	// Factors in the order in which they turn: the last one turns fastest.
	Factors []Factor
	fixed   []setting // what all questions have in common
	points  *big.Int
	traces  map[string]string // digests of the traces by the names that the file gives them; nil until they are known
}

// Factor is something that a study varies.
type Factor struct {
	// Name is that of the list or the field: model, hardware, tp, workload, workload.rate, trace, goal, seed.
	Name   string
	levels []level
	// Numbers in a row stand for themselves: seeds 1..1000 are not a thousand levels in memory.
	first, count int64
}

// level is one of a factor's: how it is called, and what a question with it has.
type level struct {
	text string
	set  []setting
}

// setting gives a field of a request, or one of its workload, a value in JSON.
type setting struct {
	field string
	inner string // of workload; "" for a field of the request itself
	value json.RawMessage
}

func (s *setting) path() string {
	if s.inner == "" {
		return s.field
	}
	return s.field + "." + s.inner
}

// Levels is how many a factor has.
func (f *Factor) Levels() int64 {
	if f.count > 0 {
		return f.count
	}
	return int64(len(f.levels))
}

// Level is the name of the i-th.
func (f *Factor) Level(i int64) string {
	if f.count > 0 {
		return strconv.FormatInt(f.first+i, 10)
	}
	return f.levels[i].text
}

// settings of the i-th level.
func (f *Factor) settings(i int64) []setting {
	if f.count > 0 {
		return []setting{{"workload", "seed", strconv.AppendInt(nil, f.first+i, 10)}}
	}
	return f.levels[i].set
}

// Points is how many questions there are, which Within has found to be a number that can be counted to.
func (s *Study) Points() int64 { return s.points.Int64() }

// MostPoints is the default limit on the points of a study.
const MostPoints = 100_000

// Within refuses a study of more questions than most.
func (s *Study) Within(most int64) error {
	if s.points.Cmp(big.NewInt(most)) <= 0 {
		return nil
	}
	hint := "fewer or shorter lists, or --max " + s.points.String()
	if !s.points.IsInt64() {
		hint = "fewer or shorter lists: there is a limit"
	}
	return &memwall.Error{Code: memwall.Limit, Field: "study", Value: s.points.String(),
		Message: fmt.Sprintf("the study has %s questions (%s), more than %d", s.points, s.product(), most), Hint: hint}
}

// product shows where the number comes from: 4 model x 10 seed.
func (s *Study) product() (out string) {
	for i := range s.Factors {
		if i > 0 {
			out += " x "
		}
		out += fmt.Sprintf("%d %s", s.Factors[i].Levels(), s.Factors[i].Name)
	}
	return out
}

// ID tells a study from others: by its questions in their order, whatever its name, and by the tables that answer them.
// Traces must be known.
func (s *Study) ID(tables string) string {
	h := sha256.New()
	write := func(words ...string) {
		for _, w := range words {
			fmt.Fprintf(h, "%d:%s", len(w), w)
		}
	}
	write(tables, s.Ask)
	each := func(all []setting) {
		for i := range all {
			write(all[i].path(), string(s.value(&all[i])))
		}
	}
	each(s.fixed)
	for i := range s.Factors {
		f := &s.Factors[i]
		write("factor", f.Name, strconv.FormatInt(f.first, 10), strconv.FormatInt(f.count, 10))
		for j := range f.levels {
			write("level", f.levels[j].text)
			each(f.levels[j].set)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
