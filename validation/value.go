package validation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Value is a measured figure. As a JSON number it is exact; as a string such as "7.09 GiB" or "33.47" it
// was printed with so many digits, and is known to half a step of the last one.
type Value struct {
	Text string
	Mid  float64 // bytes where the text has a unit of bytes
	Half float64 // half a step of the last digit
}

// UnmarshalJSON reads a number or a string.
func (v *Value) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		v.Text = string(data)
		return json.Unmarshal(data, &v.Mid)
	}
	if err := json.Unmarshal(data, &v.Text); err != nil {
		return err
	}
	digits, name, _ := strings.Cut(v.Text, " ")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number with a unit", v.Text)
	}
	scale, step := 1.0, 1.0
	if name != "" {
		one, err := unit.ParseBytes("1" + name)
		if err != nil {
			return fmt.Errorf("%q: %w", v.Text, err)
		}
		scale = float64(one)
	}
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		for range len(digits) - i - 1 {
			step /= 10
		}
	}
	v.Mid, v.Half = x*scale, step*scale/2
	return nil
}

// Low is the least that was measured, before it was rounded for print.
func (v Value) Low() float64 { return v.Mid - v.Half }

// High is the most that was measured, before it was rounded for print.
func (v Value) High() float64 { return v.Mid + v.Half }
