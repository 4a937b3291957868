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

// number is one that a file says of its network; of a list, that of one layer.
type number struct {
	key   string
	at    int // place in a list; -1 for a number alone
	value int64
}

func (n number) String() string {
	if n.at < 0 {
		return fmt.Sprintf("%s = %d", n.key, n.value)
	}
	return fmt.Sprintf("%s[%d] = %d", n.key, n.at, n.value)
}

// telling is what describes a network by numbers: the header of a GGUF file, a config.json.
type telling interface {
	// numbers that describe the network, of lists that of the layer.
	numbers(layer int) []number
	// with reads the network again, with another value of a number.
	with(n number, value int64) (*family.Spec, error)
}

// place is what a model has somewhere, as text: the shape of a tensor, "" for no tensor.
type place func(*model.Model) string

// blame finds the numbers of a file that decide what a model has at a place, by trying others. Those that decide as well
// what fits are left out, unless no other is left and doubt is true.
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

// others are values to try in place of one. What is zero is tried as counts that heads are of; a count of layers as one that
// has the layer.
func others(value int64, layer int) []int64 {
	out := []int64{value + 1, 2 * value, 3 * value, value / 2, int64(layer) + 1}
	if value == 0 {
		out = []int64{1, 2, 4, 8, 16, 32, 64, 128, int64(layer) + 1}
	}
	return slices.DeleteFunc(out, func(v int64) bool { return v == value || v <= 0 })
}

// mostNumbers is how many numbers an error names.
const mostNumbers = 6

// contradiction is the error of numbers that a tensor of the file gives the lie.
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

// shownTensor is a tensor with its shape.
func shownTensor(name string, dims []int64) string {
	return "tensor " + format.Quote(name) + " = " + dimensions(dims...)
}

// dimensions writes a shape without ones.
func dimensions(dims ...int64) string {
	dims = slices.DeleteFunc(slices.Clone(dims), func(n int64) bool { return n == 1 })
	if len(dims) == 0 {
		return "[1]"
	}
	return strings.ReplaceAll(fmt.Sprint(dims), " ", ", ")
}
