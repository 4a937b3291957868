package main

import (
	"debug/elf"
	"fmt"
	"strings"
)

// static refuses a Linux binary that asks for a loader or a shared library (System V ABI: PT_INTERP,
// DT_NEEDED).
func static(binary string) error {
	f, err := elf.Open(binary)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not static: it names a loader", binary)
		}
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	if len(libraries) > 0 {
		return fmt.Errorf("%s is not static: it needs %s", binary, strings.Join(libraries, ", "))
	}
	return nil
}
