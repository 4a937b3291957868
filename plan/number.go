package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/memwall/memwall/unit"
)

// Int is an integer that JSON may write like 1e9.
type Int int64

// UnmarshalJSON accepts any JSON number with an integral value.
func (n *Int) UnmarshalJSON(data []byte) error {
	x, err := wholeNumber(data)
	*n = Int(x)
	return err
}

// Size is a number of bytes. JSON may write it as a number or as a string such as "24GiB".
type Size unit.Bytes

// UnmarshalJSON accepts a number of bytes or a string with a unit.
func (s *Size) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte{'"'}) {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		b, err := unit.ParseBytes(text)
		*s = Size(b)
		return err
	}
	x, err := wholeNumber(data)
	*s = Size(x)
	return err
}

func wholeNumber(data []byte) (int64, error) {
	if n, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		return n, nil
	}
	x, err := strconv.ParseFloat(string(data), 64)
	switch {
	case err != nil || bytes.ContainsAny(data, "xXpP_nN"):
		return 0, fmt.Errorf("%s is not a number", data)
	case x != math.Trunc(x):
		return 0, fmt.Errorf("%s is not a whole number", data)
	case math.Abs(x) >= 1<<63:
		return 0, fmt.Errorf("%s is too large", data)
	}
	return int64(x), nil
}
