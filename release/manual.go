package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/memwall/memwall/internal/cli"
)

// manual is the manual pages of memwall's commands, by file name, as man(1) reads them.
func manual(version string, at time.Time) ([]entry, error) {
	dir, err := os.MkdirTemp("", "memwall-man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of the system's own for such files
	root := cli.Commands()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &at, Source: "memwall " + version, Manual: "memwall"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, err
	}
	var pages []entry
	for _, f := range found {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		pages = append(pages, entry{f.Name(), 0o644, data})
	}
	return pages, nil
}

// completions are scripts that complete memwall's commands and flags, one a shell, by the names under which shells look for them.
func completions() ([]entry, error) {
	root := cli.Commands()
	var all []entry
	for _, s := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"bash/memwall", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"fish/memwall.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell/memwall.ps1", root.GenPowerShellCompletionWithDesc},
		{"zsh/_memwall", root.GenZshCompletion},
	} {
		var b bytes.Buffer
		if err := s.write(&b); err != nil {
			return nil, err
		}
		all = append(all, entry{s.name, 0o644, b.Bytes()})
	}
	return all, nil
}
