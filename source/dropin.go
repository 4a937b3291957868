package source

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/dropin"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/source/regular"
)

// droppedIn reads a config of an unknown architecture with a matching drop-in family file; nil if there is none.
func (c *configuration) droppedIn() (*family.Spec, *dropin.Family, error) {
	if c.families == nil {
		return nil, nil, nil
	}
	all, err := c.families()
	if err != nil {
		return nil, nil, badFamily(err)
	}
	for _, f := range all {
		if !f.Of(c.config.Class(), c.config.Str("model_type")) {
			continue
		}
		text, err := f.Apply(c.text)
		if err != nil {
			return nil, f, badFamily(err)
		}
		config, err := family.ParseConfig(text)
		if err != nil {
			return nil, f, inFile(f.File, err)
		}
		s, err := family.FromConfig(config)
		if err != nil {
			return nil, f, inFile(c.name+" by "+f.File, err)
		}
		s.Arch = c.config.Class()
		return s, f, nil
	}
	return nil, nil, nil
}

func badFamily(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return &memwall.Error{Code: memwall.BadFile, Field: e.File, Message: e.Error(), Hint: e.Fix}
	}
	return err
}

// FamiliesFolder returns the folder of drop-in family files: MEMWALL_FAMILIES, or else within the settings folder
// system; "" if unknown.
func FamiliesFolder(env func(string) string, system string) string {
	if folder := env("MEMWALL_FAMILIES"); folder != "" {
		return folder
	}
	if folder := regular.Settings(env, system); folder != "" {
		return filepath.Join(folder, "families")
	}
	return ""
}

// mostFamilies is the maximum number of files read from the folder.
const mostFamilies = 64

// FamiliesIn returns a function that loads the family files (*.yaml) of a folder; none if the folder does not exist.
func FamiliesIn(folder string) func() ([]*dropin.Family, error) {
	return func() (out []*dropin.Family, err error) {
		names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil || folder == "" {
			return nil, nil // the folder's name is not a valid pattern
		}
		for _, name := range names[:min(len(names), mostFamilies)] {
			f, err := readFamily(name)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
		return out, nil
	}
}

func readFamily(name string) (*dropin.Family, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, fault.In(name, 0, "cannot be read: "+regular.Cause(err).Error(), "a file of its owner")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, dropin.MaxBytes+1))
	if err != nil {
		return nil, fault.In(name, 0, "cannot be read: "+regular.Cause(err).Error(), "a file of its owner")
	}
	return dropin.Parse(name, text)
}
