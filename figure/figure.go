// Package figure computes with answers: an expression such as
//
//	one.ledger.kv_cache.bytes / one.usable
//
// takes numbers by their paths out of the JSON of answers and catalogs. Lessons (package learn) and the marks of
// the documentation are written in it. Open path.go for what a path is.
package figure

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/memwall/memwall/ledger"
)

// Names gives what the first step of a path means: an answer or a row of a catalog, as encoding/json decodes it.
type Names func(name string) (any, error)

// Value of an expression: a number in bytes, seconds or what it counts, or words such as a verdict; of a truth, yes or no.
type Value struct {
	Number float64
	Words  string // "" for a number
}

var (
	pointer = regexp.MustCompile(`[a-z]\w*(?:\.[\w-]+)+`)
	snake   = regexp.MustCompile(`^[a-z_]+$`)
)

// Eval computes an expression: one of ledger.Eval over paths, or a single path that leads to words. A path
// that leads nowhere is a *MissingError.
func (n Names) Eval(expr string) (Value, error) {
	var inputs []ledger.Input
	for _, p := range pointer.FindAllString(expr, -1) {
		v, err := n.Look(p)
		if err != nil {
			return Value{}, err
		}
		switch v := v.(type) {
		case string:
			return Value{Words: inWords(v)}, nil
		case bool:
			return Value{Words: map[bool]string{true: "yes", false: "no"}[v]}, nil
		case float64:
			inputs = append(inputs, ledger.Input{Name: p, Value: v})
		default:
			return Value{}, fmt.Errorf("%s is neither a number nor a text", p)
		}
	}
	v, err := ledger.Eval(expr, inputs)
	if err != nil {
		return Value{}, fmt.Errorf("%s: %w", expr, err)
	}
	return Value{Number: v}, nil
}

// inWords turns does_not_fit into words.
func inWords(s string) string {
	if snake.MatchString(s) {
		return strings.ReplaceAll(s, "_", " ")
	}
	return s
}
