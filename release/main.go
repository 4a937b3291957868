// Command release builds what a version is published as: an archive of each program for each system, with licences, manual and
// completions; packages of Linux systems, npm and Python; files for package managers; a bill of what is in each binary; and checksums.
// The same commit and Go give the same bytes anywhere.
//
//	scripts/release 1.2.3
//
// Start with target.go: what is built, how, and what is asked of it. building.go is the order of it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	out := flag.String("out", "dist", "folder for the archives; it must not hold any yet")
	trial := flag.Bool("trial", false, "build from a tree with changes: for trying, never for publishing")
	only := flag.String("only", "", "archives whose names begin so, such as memwall_ or memwall-farm_1.2.3_windows_amd64; with -trial alone")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: release [-out DIR] [-trial [-only NAME]] VERSION")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *only != "" && !*trial {
		flag.Usage()
		os.Exit(2)
	}
	if err := release(flag.Arg(0), *out, *only, *trial); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release builds, judges and packs every target, and writes their sums last: a folder with SHA256SUMS is
// complete.
func release(version, out, only string, trial bool) (err error) {
	if err := checkVersion(version); err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	top, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := os.Chdir(top); err != nil {
		return err
	}
	c, err := headCommit(".")
	if err != nil {
		return err
	}
	if c.dirty && !trial {
		return fmt.Errorf("the tree has changes that are not committed: commit them, so that the version can be built again")
	}
	if err := emptyDir(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "memwall-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	b := &building{version: version, work: work, out: out, of: c, sums: map[string]string{}}
	for _, t := range targets() {
		if !strings.HasPrefix(t.archive(version), only) {
			continue
		}
		if err := b.target(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if len(b.names) == 0 {
		return fmt.Errorf("no archive has a name that begins with %q", only)
	}
	if len(b.sums) == len(systems) {
		if err := b.writeShared(); err != nil {
			return err
		}
	}
	if err := writeSums(out, b.names); err != nil {
		return err
	}
	fmt.Printf("%d files of commit %s with %s in %s\n", len(b.names), c.id, runtime.Version(), out)
	return nil
}

// emptyDir makes a folder, or refuses one that holds something already.
func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		names := make([]string, 0, len(found))
		for _, f := range found {
			names = append(names, f.Name())
		}
		return fmt.Errorf("%s is not empty (%s): remove it or name another folder with -out", dir, strings.Join(names, ", "))
	}
	return nil
}
