package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
)

// Decode parses a request sent to the endpoint of a question: its ask may be omitted but not differ. The error is a
// *memwall.Error that names a field, or "body".
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

// Strict parses a body that is not a question, rejecting unknown fields; like is an example. The error is a
// *memwall.Error that names the field, or "body".
func Strict(data []byte, v any, like string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	out := &memwall.Error{Code: memwall.BadField, Field: "body", Hint: like,
		Message: "what was sent is wrong: " + strings.TrimPrefix(err.Error(), "json: ")}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		out.Field = strings.Trim(name, `"`)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		field := e.Field[strings.LastIndexByte(e.Field, '.')+1:]
		out.Field, out.Message = field, fmt.Sprintf("%s is a %s, and takes another kind", field, e.Value)
	}
	return out
}
