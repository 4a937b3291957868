package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// number is a number by which a file describes its network; of a list, the value for one layer.
type number struct {
	key   string
	at    int // index in a list; -1 if not in a list
	value int64
}

func (n number) String() string {
	if n.at < 0 {
		return fmt.Sprintf("%s = %d", n.key, n.value)
	}
	return fmt.Sprintf("%s[%d] = %d", n.key, n.at, n.value)
}

// telling is a numeric description of a network: a GGUF header or a config.json.
type telling interface {
	// numbers returns the numbers that describe the network; of lists, the value for the layer.
	numbers(layer int) []number
	// with rereads the network with another value for a number.
	with(n number, value int64) (*family.Spec, error)
}

// place describes something in a model as text, such as the shape of a tensor; "" if absent.
type place func(*model.Model) string

// blame returns the numbers of a file that determine what a model has at the odd place, found by varying them. Numbers
// that also determine places that fit are excluded, unless none would remain and doubt is true.
func blame(t telling, now *model.Model, layer int, odd place, fits []place, doubt bool) []number {
	var sole, all []number
	for _, n := range t.numbers(layer) {
		decides, elsewhere := false, false
		for _, v := range others(n.value, layer) {
			spec, err := t.with(n, v)
			if err != nil {
				continue
			}
			m := spec.Model("")
			if decides = odd(m) != odd(now); decides {
				elsewhere = slices.ContainsFunc(fits, func(p place) bool { return p(m) != p(now) })
				break
			}
		}
		if decides {
			all = append(all, n)
		}
		if decides && !elsewhere {
			sole = append(sole, n)
		}
	}
	if len(sole) == 0 && doubt {
		return all
	}
	return sole
}

// others returns alternative values to try for a number. Zero is replaced by typical head counts; a layer count by one
// that includes the layer.
func others(value int64, layer int) []int64 {
	out := []int64{value + 1, 2 * value, 3 * value, value / 2, int64(layer) + 1}
	if value == 0 {
		out = []int64{1, 2, 4, 8, 16, 32, 64, 128, int64(layer) + 1}
	}
	return slices.DeleteFunc(out, func(v int64) bool { return v == value || v <= 0 })
}

// mostNumbers is the maximum of numbers that an error names.
const mostNumbers = 6

// contradiction returns the error for numbers that contradict a tensor of the file.
func contradiction(of []number, tensor, problem, fix string) error {
	var said []string
	for _, n := range of[:min(len(of), mostNumbers)] {
		said = append(said, n.String())
	}
	text, verb := said[len(said)-1], " contradicts "
	if len(said) > 1 {
		text, verb = strings.Join(said[:len(said)-1], ", ")+" and "+text, " contradict "
	}
	return &memwall.Error{Code: memwall.BadFile, Field: of[0].key, Value: strconv.FormatInt(of[0].value, 10),
		Message: text + verb + tensor + problem, Hint: fix}
}

// shownTensor formats a tensor with its shape.
func shownTensor(name string, dims []int64) string {
	return "tensor " + format.Quote(name) + " = " + dimensions(dims...)
}

// dimensions formats a shape, omitting ones.
func dimensions(dims ...int64) string {
	dims = slices.DeleteFunc(slices.Clone(dims), func(n int64) bool { return n == 1 })
	if len(dims) == 0 {
		return "[1]"
	}
	return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ")
}
