package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/source/regular"
)

// badFile returns an error about a file.
func badFile(name, value, problem, fix string) *memwall.Error {
	return &memwall.Error{Code: memwall.BadFile, Field: name, Value: value, Message: name + ": " + problem, Hint: fix}
}

// inFile adds a file name to an error of a codec or family.
func inFile(name string, err error) error {
	var known *memwall.Error
	var codec *format.Error
	var field *family.FieldError
	var described *fault.Error
	switch {
	case errors.As(err, &known):
		e := *known
		if e.Field != name {
			e.Message = name + ": " + e.Message
		}
		return &e
	case errors.As(err, &codec):
		return badFile(name, codec.Field, codec.Error(), codec.Fix)
	case errors.As(err, &described):
		return &memwall.Error{Code: memwall.BadFile, Field: cmp.Or(described.Field, name), Value: described.Value, Message: name + ": " + described.Error(), Hint: described.Fix}
	case errors.As(err, &field):
		said := field.Error()
		if field.Field == name {
			said = field.Problem
		}
		return &memwall.Error{Code: memwall.FieldCode(field), Field: field.Field, Value: field.Value, Message: name + ": " + said, Hint: field.Fix}
	}
	return badFile(name, "", err.Error(), "try again")
}

// notFound returns the error for a missing file. Below a root it also stands for anything that cannot be opened, so as
// not to reveal what exists outside.
func (d *disk) notFound(file string, err error) error {
	var told *memwall.Error
	if errors.As(err, &told) {
		return told
	}
	if d.root || errors.Is(err, fs.ErrNotExist) || strings.Contains(file, "\x00") {
		return &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: file,
			Message: fmt.Sprintf("no file or folder %s", format.Quote(file)), Hint: "check the path; memwall models lists what is known without files"}
	}
	return badFile(path.Base(file), "", "cannot be read: "+regular.Cause(err).Error(), "check the permissions")
}

// fileNames returns the names of non-folders, sorted.
func fileNames(entries []fs.DirEntry) []string {
	var out []string
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out
}
