package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/source/regular"
)

// qualityFlag adds a flag for a file of measured errors, for questions that weigh formats.
func (f *fitFlags) qualityFlag(flags *pflag.FlagSet) {
	flags.StringVar(&f.quality, "quality", "", "file from memwall quant --save: rank formats by their errors on these weights, not by published rows")
	group(flags.Lookup("quality"), groupWhat)
}

// readQuality reads such a file into a request.
func (a *app) readQuality(name string, r *memwall.Request) error {
	if name == "" {
		return nil
	}
	bad := func(err error) error {
		return &memwall.Error{Code: memwall.BadFile, Field: "quality", Value: name, Message: fmt.Sprintf("%s: %v", name, regular.Cause(err)), Hint: "memwall quant FILE --save " + name}
	}
	in, err := a.OpenFile(name)
	if err != nil {
		return bad(err)
	}
	defer in.Close()
	s, err := quant.ReadSaved(in)
	if err != nil {
		return bad(err)
	}
	r.Measured = s.Recipes
	return nil
}
