package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/source/regular"
)

// mostBase bounds the JSON of an earlier run.
const mostBase = 16 << 20

// Base is an earlier run: of a file of JSON, or of the files as git has them at a revision.
func Base(asker *memwall.Asker, base, name string, open func(string) (io.ReadCloser, error)) (*Run, error) {
	bad := func(message, hint string) error {
		return &memwall.Error{Code: memwall.BadFile, Field: "base", Value: base, Message: message, Hint: hint}
	}
	if strings.HasSuffix(base, ".json") || base == "-" {
		f, err := open(base)
		if err != nil {
			return nil, bad(fmt.Sprintf("%s cannot be read: %v", base, regular.Cause(err)),
				"what memwall check --json wrote, or a revision of git")
		}
		defer func() { _ = f.Close() }() // it was only read
		var run Run
		if err := json.NewDecoder(io.LimitReader(f, mostBase)).Decode(&run); err != nil || run.Schema == "" {
			return nil, bad(base+" is not the JSON of a run of memwall check", "memwall check --json > "+base)
		}
		return &run, nil
	}
	at := func(n string) ([]byte, error) { return revision(base, n) }
	if _, err := at(name); err != nil && !errors.Is(err, errNotThere) {
		return nil, bad(fmt.Sprintf("--base %s: %v", base, err),
			"a revision such as origin/main, in a checkout that has it (fetch-depth: 0), or the JSON of an earlier run")
	}
	run, err := (&Checker{Asker: *asker, File: at}).Check(name)
	if err != nil {
		return &Run{}, nil // the base has no such file: all plans are new
	}
	return run, nil
}

// Named is the error of a file of plans in the contract's form.
func Named(name string, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	return &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: name + ": " + e.Error(), Hint: e.Fix}
}

// errNotThere is of a revision without the file.
var errNotThere = errors.New("no such file at that revision")

// revision reads a file as git has it at a revision.
func revision(of, name string) ([]byte, error) {
	if strings.HasPrefix(of, "-") || strings.ContainsAny(of, " :\n") {
		return nil, errors.New("no name of a revision")
	}
	var out, problem bytes.Buffer
	c := exec.Command("git", "show", "--no-textconv", of+":./"+name)
	c.Stdout, c.Stderr = &out, &problem
	if err := c.Run(); err != nil {
		text := strings.TrimSpace(problem.String())
		if strings.Contains(text, "does not exist in") || strings.Contains(text, "exists on disk, but not in") {
			return nil, errNotThere
		}
		if text == "" {
			text = err.Error()
		}
		first, _, _ := strings.Cut(text, "\n")
		return nil, errors.New(first)
	}
	return out.Bytes(), nil
}
