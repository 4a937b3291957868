package main

import (
	"bytes"
	"debug/buildinfo"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licences is a table of the modules that may be linked: path, SPDX identifier. Who adds a module reads its licence and adds a line.
//
//go:embed licences.tsv
var licences string

// own are the modules of this repository.
const own = "github.com/memwall/memwall"

// module is a third party's, as a binary says that it was linked.
type module struct {
	path, version, sum string
	licence            string // SPDX identifier
	dir                string // its sources in the module cache
}

// marks are words that the text of each licence holds. A licence that is not here is not allowed.
var marks = map[string][]string{
	"Apache-2.0":   {"Apache License", "Version 2.0"},
	"BSD-2-Clause": {"Redistribution and use in source and binary forms"},
	"BSD-3-Clause": {"Redistribution and use in source and binary forms", "Neither the name"},
	"ISC":          {"Permission to use, copy, modify, and"},
	"MIT":          {"Permission is hereby granted, free of charge"},
}

// linked lists the third-party modules of a binary with their licences, in the order of their paths. A module without a line in
// the table, or whose text is not what the line says, is an error.
func linked(binary string) ([]module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var all []module
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		if d.Path != own && !strings.HasPrefix(d.Path, own+"/") && !strings.HasPrefix(d.Path, ".") {
			all = append(all, module{path: d.Path, version: d.Version, sum: d.Sum})
		}
	}
	if err := unpacked(all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].judge(licenceOf(licences)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// licenceOf reads the table.
func licenceOf(table string) map[string]string {
	by := map[string]string{}
	for line := range strings.Lines(table) {
		if path, id, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(path, "#") {
			by[path] = id
		}
	}
	return by
}

// unpacked finds the sources of modules in the cache, where the build left them.
func unpacked(all []module) error {
	if len(all) == 0 {
		return nil
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range all {
		args = append(args, m.path+"@"+m.version)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w\n%s", err, out)
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		dirs[m.Path] = m.Dir
	}
	for i := range all {
		all[i].dir = dirs[all[i].path]
	}
	return nil
}

// judge gives a module the licence of its line, if its text is that licence's and it is allowed.
func (m *module) judge(by map[string]string) error {
	m.licence = by[m.path]
	if m.licence == "" {
		return fmt.Errorf("%s has no line in release/licences.tsv: read its licence in %s and add one", m.path, m.dir)
	}
	words, ok := marks[m.licence]
	if !ok {
		return fmt.Errorf("%s is under %s, which is not among those allowed", m.path, m.licence)
	}
	texts, err := m.texts()
	if err != nil {
		return err
	}
	for _, w := range words {
		if !slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(t, []byte(w)) }) {
			return fmt.Errorf("%s is said to be under %s, and none of its files says %q", m.path, m.licence, w)
		}
	}
	return nil
}

// legal are names of files that go with a binary.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|authors)([-._].*)?$`)

// texts are the legal files in the folder of a module, in the order of their names.
func (m *module) texts() ([][]byte, error) {
	found, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	var texts [][]byte
	for _, f := range found {
		if !f.Type().IsRegular() || !legal.MatchString(f.Name()) || filepath.Ext(f.Name()) == ".go" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.dir, f.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, bytes.TrimSpace(data))
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s has no licence in %s", m.path, m.dir)
	}
	return texts, nil
}

// notices is the file of all licences that go with a binary: Go's own, and those of the modules.
func notices(all []module) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "LICENSE")) //nolint:staticcheck // SA1019: the release is built by the Go that runs it
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "This program contains the following software, each under its own licence.\n")
	section(&b, "Go's standard library and runtime, BSD-3-Clause", text)
	for _, m := range all {
		texts, err := m.texts()
		if err != nil {
			return nil, err
		}
		section(&b, m.path+" "+m.version+", "+m.licence, texts...)
	}
	return b.Bytes(), nil
}

func section(b *bytes.Buffer, title string, texts ...[]byte) {
	fmt.Fprintf(b, "\n%s\n%s\n", strings.Repeat("=", 80), title)
	for _, t := range texts {
		fmt.Fprintf(b, "%s\n%s\n", strings.Repeat("-", 80), bytes.TrimSpace(t))
	}
}
