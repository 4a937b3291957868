package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
)

// Any value of any flag is read or refused with an error that names the flag.
func FuzzFlags(f *testing.F) {
	f.Add(uint8(3), "32k")
	f.Add(uint8(9), "1e400")
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		field := &memwall.Fields()[int(which)%len(memwall.Fields())]
		if field.Flag == "" {
			return
		}
		var r memwall.Request
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		requestFlags(flags, &r, askOf(field))
		if err := flags.Set(field.Flag, value); err != nil && !strings.Contains(err.Error(), "--"+field.Flag) {
			t.Errorf("--%s %q: %v", field.Flag, value, err)
		}
	})
}
