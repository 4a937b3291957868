package quantize

import (
	"encoding/json"
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/source/regular"
)

// save writes what was measured, for --quality.
func (w *work) save(m *quant.Model, all []*quant.Measured) error {
	name := w.Save
	if name == "" {
		return nil
	}
	file, err := w.Create(name)
	if err != nil {
		return cannotSave(name, err)
	}
	if err := json.NewEncoder(file).Encode(quant.Save(m, all)); err != nil {
		file.Abandon()
		return cannotSave(name, err)
	}
	if err := file.Commit(); err != nil {
		return cannotSave(name, err)
	}
	return nil
}

// recipe writes the formats of modules.
func (w *work) recipe(r *quant.Report) error {
	name := w.Recipe
	switch {
	case name == "":
		return nil
	case r.Mix == nil || r.Mix.Config == nil:
		why := "it is of files of the hub"
		if r.Mix != nil && r.Mix.NoConfig != "" {
			why = r.Mix.NoConfig
		}
		return bad("recipe", name, "there is no recipe of this mixture: "+why,
			"--family hub, and formats that lie beside each other: --formats fp8,int4-g128,nvfp4")
	}
	if err := w.WriteFile(name, []byte(r.Mix.Config.YAML())); err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "recipe", Value: name,
			Message: fmt.Sprintf("%s is not written: %v", name, regular.Cause(err)),
			Hint:    "a file in a folder that exists and can be written"}
	}
	return nil
}

func cannotSave(name string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "save", Value: name,
		Message: fmt.Sprintf("%s is not written: %v", name, regular.Cause(err)),
		Hint:    "check the folder and the room on its disk"}
}
