package ledger

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/memwall/memwall/unit"
)

// Eval evaluates a printed formula with its printed inputs. It shares no code with Book, so that each checks the other.
func Eval(text string, inputs []Input) (float64, error) {
	e := evaluator{in: map[string]float64{}, rest: text}
	for _, i := range inputs {
		e.in[i.Name] = i.Value
	}
	v := e.sum()
	e.space()
	if e.err == nil && e.rest != "" {
		e.fail("unexpected %q", e.rest)
	}
	return v, e.err
}

type evaluator struct {
	in   map[string]float64
	rest string
	err  error
}

func (e *evaluator) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("formula: "+format, args...)
	}
}

func (e *evaluator) space() { e.rest = strings.TrimLeft(e.rest, " ") }

func (e *evaluator) accept(s string) bool {
	e.space()
	rest, ok := strings.CutPrefix(e.rest, s)
	if ok {
		e.rest = rest
	}
	return ok
}

func (e *evaluator) sum() float64 {
	v := e.product()
	for e.err == nil {
		switch {
		case e.accept("+ "):
			v += e.product()
		case e.accept("- "):
			v -= e.product()
		default:
			return v
		}
	}
	return v
}

func (e *evaluator) product() float64 {
	v := e.atom()
	for e.err == nil {
		switch {
		case e.accept("×"):
			v *= e.atom()
		case e.accept("/"):
			v /= e.atom()
		default:
			return v
		}
	}
	return v
}

func (e *evaluator) atom() float64 {
	if e.accept("(") {
		v := e.sum()
		e.closing()
		return v
	}
	word := e.word()
	if e.accept("(") {
		return e.call(word)
	}
	if v, ok := e.in[word]; ok {
		return v
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		e.fail("no input called %q", word)
	}
	return v
}

func (e *evaluator) closing() {
	if !e.accept(")") {
		e.fail("missing ) before %q", e.rest)
	}
}

func (e *evaluator) word() string {
	e.space()
	i := strings.IndexFunc(e.rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.+-", r)
	})
	if i < 0 {
		i = len(e.rest)
	}
	w := e.rest[:i]
	e.rest = e.rest[i:]
	return w
}

func (e *evaluator) call(name string) float64 {
	args := []float64{e.sum()}
	for e.accept(",") {
		args = append(args, e.sum())
	}
	e.closing()
	switch {
	case name == "floor" && len(args) == 1:
		return math.Floor(args[0])
	case name == "ceil" && len(args) == 1:
		return math.Ceil(args[0])
	}
	if len(args) != 2 {
		e.fail("%s with %d arguments", name, len(args))
		return 0
	}
	return e.binary(name, args[0], args[1])
}

func (e *evaluator) binary(name string, a, b float64) float64 {
	switch name {
	case "max":
		return math.Max(a, b)
	case "min":
		return math.Min(a, b)
	case "pow":
		return math.Pow(a, b)
	case "hypot":
		return math.Hypot(a, b)
	case "overlap": // mostly overlapping durations: the fourth root of the sum of fourth powers
		return math.Sqrt(math.Hypot(a*a, b*b))
	case "pad":
		return float64(unit.PadUp(int64(a), int64(b)))
	case "ceil_div":
		return math.Ceil(a / b)
	}
	e.fail("no function called %q", name)
	return 0
}
