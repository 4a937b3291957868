package rows

import (
	"errors"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/source/regular"
)

// Stated is what a file of figures does not contain itself.
type Stated struct {
	Source, Licence string
	Given           calibrate.Given
}

// Load reads rows, or makes them of the result of a benchmark, which states neither its source nor its licence.
func Load(data []byte, s *Stated, models memwall.ModelSource) ([]*Row, []calibrate.Refusal, error) {
	if Is(data) {
		out, err := Read(data)
		return out, nil, err
	}
	file, err := calibrate.Read(data)
	switch {
	case err != nil:
		return nil, nil, &Error{At: "the file", Why: "cannot be used: " + err.Error(), Fix: calibrate.Hint}
	case s.Source == "" || s.Licence == "":
		return nil, nil, &Error{At: "a row", Field: "source", Why: "states its source and its licence",
			Fix: "--source own --licence CC0-1.0, or the address and the licence of who published it"}
	}
	file.With(s.Given)
	return Imported(file, models, s.Source, s.Licence)
}

// Failed converts an error of a rows file into an api error; nil for nil.
func Failed(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &memwall.Error{Code: memwall.BadFile, Field: e.Field, Value: e.Value, Message: name + ": " + e.Error(), Hint: e.Fix}
	}
	if e, ok := errors.AsType[*memwall.Error](err); ok {
		return e
	}
	return &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: fmt.Sprintf("%s: %v", name, regular.Cause(err)),
		Hint: "nothing was changed; free some room or name another folder by XDG_CONFIG_HOME, and try again"}
}
