package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
)

// qualityFlag is a file of measured errors, for questions that weigh formats.
func (f *fitFlags) qualityFlag(flags *pflag.FlagSet) {
	flags.StringVar(&f.quality, "quality", "", "what memwall quant --save wrote: formats are weighed by their errors on these weights, not by published rows")
	group(flags.Lookup("quality"), groupWhat)
}

// readQuality puts the errors of such a file into a request.
func (a *app) readQuality(name string, r *memwall.Request) error {
	if name == "" {
		return nil
	}
	bad := func(err error) error {
		return &memwall.Error{Code: memwall.BadFile, Field: "quality", Value: name, Message: fmt.Sprintf("%s: %v", name, plainError(err)), Hint: "memwall quant FILE --save " + name}
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

// saveQuant writes what was measured, for --quality.
func (a *app) saveQuant(name string, m *quant.Model, all []*quant.Measured) error {
	if name == "" {
		return nil
	}
	file, err := a.CreateFile(name)
	if err != nil {
		return cannotSave(name, err)
	}
	if err := writeJSON(file, quant.Save(m, all), false); err != nil {
		file.Abandon()
		return cannotSave(name, err)
	}
	if err := file.Commit(); err != nil {
		return cannotSave(name, err)
	}
	return nil
}

// writeRecipe writes the formats of modules.
func (a *app) writeRecipe(name string, r *quant.Report) error {
	switch {
	case name == "" || r.Stopped:
		return nil
	case r.Mix == nil || r.Mix.Config == nil:
		why := "it is of files of the hub"
		if r.Mix != nil && r.Mix.NoConfig != "" {
			why = r.Mix.NoConfig
		}
		return usage("recipe", name, "there is no recipe of this mixture: "+why, "--family hub, and formats that lie beside each other: --formats fp8,int4-g128,nvfp4")
	}
	if err := a.WriteFile(name, []byte(r.Mix.Config.YAML())); err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "recipe", Value: name, Message: fmt.Sprintf("%s is not written: %v", name, plainError(err)), Hint: "a file in a folder that exists and can be written"}
	}
	return nil
}

func cannotSave(name string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "save", Value: name, Message: fmt.Sprintf("%s is not written: %v", name, plainError(err)), Hint: "check the folder and the room on its disk"}
}
