// Command release builds the archives of a version: one static binary of each program for each system, the licence and
// the readme, and their checksums. The same commit and Go give the same bytes anywhere.
//
//	go run ./internal/release -out dist 1.2.3
//
// Start with target.go: what is built, how, and what is asked of it. archive.go packs it.
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
	var names []string
	for _, t := range targets() {
		if !strings.HasPrefix(t.archive(version), only) {
			continue
		}
		name, err := t.release(version, work, out, c)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Errorf("no archive has a name that begins with %q", only)
	}
	if err := writeSums(out, names); err != nil {
		return err
	}
	fmt.Printf("%d archives of commit %s with %s in %s\n", len(names), c.id, runtime.Version(), out)
	return nil
}

// release makes the archive of one target and gives its name.
func (t target) release(version, work, out string, c commit) (string, error) {
	binary := filepath.Join(work, t.system(), t.binary())
	if err := t.build(version, binary, c); err != nil {
		return "", err
	}
	if err := t.judge(version, binary); err != nil {
		return "", err
	}
	entries, err := t.entries(version, binary)
	if err != nil {
		return "", err
	}
	name := t.archive(version)
	packed, err := t.pack(entries, c.time)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	fmt.Printf("%s: %.1f MB, the binary %.1f MB\n", name, float64(len(packed))/1e6, float64(info.Size())/1e6)
	return name, os.WriteFile(filepath.Join(out, name), packed, 0o644)
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
