package desk

import (
	"errors"
	"fmt"

	"github.com/memwall/memwall"
)

// Decode reads a request that was sent to the place of a question: its ask may be left out, and is no other. The error
// is a *memwall.Error that names a field, "body" where it is of no field.
func Decode(ask string, data []byte) (*memwall.Request, error) {
	r, err := memwall.Decode(data)
	var e *memwall.Error
	switch {
	case errors.As(err, &e) && e.Field == "":
		named := *e
		named.Field = "body"
		return nil, &named
	case err != nil:
		return nil, err
	case r.Ask == "":
		r.Ask = ask
	case r.Ask != ask:
		return nil, &memwall.Error{Code: memwall.BadField, Field: "ask", Value: r.Ask,
			Message: fmt.Sprintf("ask = %s, and this is the place of %s", r.Ask, ask),
			Hint:    "leave ask out, or send the request to " + r.Ask}
	}
	return r, nil
}
