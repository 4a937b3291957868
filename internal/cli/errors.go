package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/spell"
)

// usageError is the error of a command that could not be parsed.
type usageError struct{ what *memwall.Error }

func (e usageError) Error() string { return e.what.Message }

func usage(field, value, message, hint string) error {
	return usageError{&memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}}
}

// verdictError carries an exit code of --check and prints nothing.
type verdictError int

func (v verdictError) Error() string { return fmt.Sprintf("exit %d", int(v)) }

// exit prints an error and returns the exit code.
func (a *app) exit(err error) int {
	var v verdictError
	switch {
	case err == nil:
		return answered
	case errors.As(err, &v):
		return int(v)
	}
	e, code := a.classify(err)
	if a.json {
		_ = writeJSON(a.Stdout, &memwall.Answer{Schema: memwall.Schema, Version: memwall.Version, Ask: a.asking, Error: e}, true)
		return code
	}
	io.WriteString(a.Stderr, render.Error(e, a.styleOf(a.ErrTerminal)))
	return code
}

// classify converts any error into an api error and an exit code; an invalid field is bad usage.
func (a *app) classify(err error) (*memwall.Error, int) {
	var u usageError
	if errors.As(err, &u) {
		return memwall.AsError(u.what), badUsage
	}
	e := memwall.AsError(err)
	if e.Code == memwall.BadField {
		return e, badUsage
	}
	return e, unanswered
}

// flagError names the wrong flag and similar ones.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var value *pflag.InvalidValueError
	var required *pflag.ValueRequiredError
	var e *memwall.Error
	switch {
	case errors.As(err, &missing):
		return unknownFlag(c, missing.GetSpecifiedName())
	case errors.As(err, &value):
		f := value.GetFlag()
		if errors.As(value.Unwrap(), &e) {
			return usageError{e}
		}
		return usage(f.Name, value.GetValue(), fmt.Sprintf("--%s %q is not what the flag takes", f.Name, value.GetValue()), f.Usage)
	case errors.As(err, &required):
		f := required.GetFlag()
		return usage(f.Name, "", fmt.Sprintf("--%s has no value", f.Name), "--"+f.Name+" "+operand(f))
	}
	return usage("", "", err.Error(), "memwall "+c.Name()+" --help")
}

func unknownFlag(c *cobra.Command, name string) error {
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	var names []string
	visit := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.Flags().VisitAll(visit)
	c.InheritedFlags().VisitAll(visit)
	hint := c.CommandPath() + " --help lists them"
	if near := spell.Nearest(name, names); len(near) > 0 {
		hint = "did you mean: --" + strings.Join(near, ", --")
	}
	return usage(name, "", fmt.Sprintf("%s has no flag %s%s", c.CommandPath(), dashes, name), hint)
}

// unknownCommand suggests similar commands, or fit for what looks like a model.
func (a *app) unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	e := fmt.Sprintf("no command called %q", word)
	if near := spell.Nearest(word, names); len(near) > 0 {
		return usage("command", word, e, "did you mean: "+strings.Join(near, ", "))
	}
	if _, err := catalog.Find(word); err == nil || strings.ContainsAny(word, "/.") {
		return usage("command", word, e, "memwall fit "+word)
	}
	return usage("command", word, e, "memwall --help lists them")
}

// noArguments rejects arguments that a command does not take.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("argument", args[0], fmt.Sprintf("%s takes no argument, but %q was given", c.CommandPath(), args[0]), c.CommandPath()+" --help")
	}
	return nil
}
