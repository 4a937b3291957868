package api

import (
	"errors"
	"strings"
	"testing"
)

// TestErrorsQuoteBriefly: what an error quotes is cut, a path later than other values, and what is short is left.
func TestErrorsQuoteBriefly(t *testing.T) {
	long := strings.Repeat("x", 300)
	short := Shorten(long)
	path := "/" + strings.Repeat("folder/", 28) + "model.gguf"
	for _, c := range []struct{ given, want Error }{
		{Error{Code: BadField, Field: "kv", Value: "f8", Message: `kv = "f8" is not known`}, Error{Code: BadField, Field: "kv", Value: "f8", Message: `kv = "f8" is not known`}},
		{Error{Code: BadField, Value: long, Message: `kv = "` + long + `" is not known`}, Error{Code: BadField, Value: short, Message: `kv = "` + short + `" is not known`}},
		{Error{Code: BadField, Value: "vllm@" + long, Message: long + " is not a version", Hint: "plan " + long},
			Error{Code: BadField, Value: Shorten("vllm@" + long), Message: short + " is not a version", Hint: "plan " + short}},
		{Error{Code: BadField, Value: strings.Repeat("a b ", 99), Message: strings.Repeat("a b ", 99) + "is too long"},
			Error{Code: BadField, Value: Shorten(strings.Repeat("a b ", 99)), Message: Shorten(strings.Repeat("a b ", 99)) + "is too long"}},
		{Error{Code: BadFile, Value: path, Message: path + ": cannot be read"}, Error{Code: BadFile, Value: path, Message: path + ": cannot be read"}},
		{Error{Code: BadFile, Field: long, Message: long + ": cannot be read"}, Error{Code: BadFile, Field: short, Message: short + ": cannot be read"}},
	} {
		given := c.given
		if got := AsError(&given); *got != c.want || given != c.given {
			t.Errorf("%.60q gives\n%+v, not\n%+v", c.given.Message, *got, c.want)
		}
	}
	if got := AsError(errors.New("lost " + long)); got.Message != "lost "+short {
		t.Errorf("%q", got.Message)
	}
}
