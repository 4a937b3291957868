// Package tables keeps what the programs that fit read and write in step with the packs of validation/packed.
package tables

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall/validation/packed"
)

// root of the rows in the tree, in whose root the programs are run.
const root = "validation/"

// Start reads the flags of a program. It ends one that carries other rows than lie in the tree: a table fitted to
// yesterday's rows would pass for today's.
func Start() {
	flag.Parse()
	if err := packed.Check(os.DirFS(root)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Run is the whole of a program that makes one table: its flag, its name in front of an error.
func Run(name, flagName, file string, fit func() ([]byte, error)) {
	out := flag.String(flagName, file, "table to write")
	Start()
	data, err := fit()
	if err == nil {
		err = Write(*out, data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Write writes a table by its path from the root of the tree, and its pack where it is one of those that the program
// carries.
func Write(file string, data []byte) error {
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	name, below := strings.CutPrefix(path.Clean(filepath.ToSlash(file)), root)
	if f := packed.File(name); below && f.Packed() {
		return pack(f, data)
	}
	return nil
}

// pack leaves a pack alone that holds the text already: another release of Go may compress otherwise.
func pack(f packed.File, text []byte) error {
	if had, err := f.Read(); err == nil && bytes.Equal(had, text) {
		return nil
	}
	data, err := packed.Pack(text)
	to := filepath.FromSlash(root + "packed/" + f.Pack())
	return errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644))
}
