// Package figure evaluates expressions over answers. An expression such as
//
//	one.ledger.kv_cache.bytes / one.usable
//
// refers to numbers by their paths in the JSON of answers and catalogs. Lessons (package learn) and placeholders in the
// documentation use it. See path.go for the syntax of paths.
package figure

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/memwall/memwall/ledger"
)

// Names returns what the first step of a path refers to, an answer or a catalog row, as decoded by encoding/json.
type Names func(name string) (any, error)

// Value is the result of an expression: a number in bytes, seconds or a count, or a text such as a verdict; a truth
// value is yes or no.
type Value struct {
	Number float64
	Words  string // "" for a number
}

var (
	pointer = regexp.MustCompile(`[a-z]\w*(?:\.[\w-]+)+`)
	snake   = regexp.MustCompile(`^[a-z_]+$`)
)

// Eval evaluates an expression: one of ledger.Eval over paths, or a single path to a text. An unresolved path is a
// *MissingError.
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
