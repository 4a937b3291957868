package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
)

// target is a program and a system that it is built for.
type target struct{ program, os, arch string }

// programs are what is built, each in archives of its own, and modules the folders of the modules that they are of.
var (
	programs = []string{"memwall", "memwall-farm"}
	modules  = map[string]string{"memwall": ".", "memwall-farm": "farm"}
)

var systems = [][2]string{
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"linux", "amd64"}, {"linux", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// targets are all programs for all systems.
func targets() (all []target) {
	for _, p := range programs {
		for _, s := range systems {
			all = append(all, target{p, s[0], s[1]})
		}
	}
	return all
}

func (t target) String() string { return t.program + " for " + t.system() }

func (t target) system() string { return t.os + "_" + t.arch }

func (t target) binary() string {
	if t.os == "windows" {
		return t.program + ".exe"
	}
	return t.program
}

// stem is the name of the archive without its ending, and of the folder in it.
func (t target) stem(version string) string { return t.program + "_" + version + "_" + t.system() }

func (t target) archive(version string) string {
	if t.os == "windows" {
		return t.stem(version) + ".zip"
	}
	return t.stem(version) + ".tar.gz"
}

// Variables that hold the version, and the commit by which farms tell their tables; of a tree with changes there is none.
const (
	stamp       = "github.com/memwall/memwall.Version"
	stampCommit = "github.com/memwall/memwall/farm/internal/farm.Commit"
)

// build links a static binary that says its version and nothing of the machine that made it. It asks hubs over HTTP/1.1: what
// speaks HTTP/2 would take half a megabyte.
func (t target) build(version, to string, of commit) error {
	flags := "-s -w -buildid= -X " + stamp + "=" + version
	if !of.dirty {
		flags += " -X " + stampCommit + "=" + of.id
	}
	c := exec.Command("go", "-C", modules[t.program], "build", "-trimpath", "-buildvcs=false", "-tags", "nethttpomithttp2", "-ldflags",
		flags, "-o", to, "./cmd/"+t.program)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+t.os, "GOARCH="+t.arch)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, said)
	}
	return nil
}

// maxBinary is what a program's binary may weigh, in bytes: what it weighs and a little, so that growth is noticed. 20 MB was
// aimed at for memwall (docs/decisions/0021-what-the-binary-weighs.md); memwall-farm carries a server of NATS.
var maxBinary = map[string]int64{"memwall": 31.5e6, "memwall-farm": 42.5e6}

// judge holds a binary against what is promised: its size, no loader or shared library, and, where this
// system runs it, the version.
func (t target) judge(version, binary string) error {
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	if most := maxBinary[t.program]; info.Size() > most {
		return fmt.Errorf("%s has %d bytes, more than %d", filepath.Base(binary), info.Size(), most)
	}
	if t.os == "linux" {
		err = static(binary)
	}
	if err == nil && t == (target{t.program, runtime.GOOS, runtime.GOARCH}) {
		err = says(binary, version)
	}
	return err
}

// says asks a binary for its version.
func says(binary, version string) error {
	out, err := exec.Command(binary, "version", "--json").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", filepath.Base(binary), err)
	}
	var v struct{ Version string }
	if err := json.Unmarshal(out, &v); err != nil {
		return fmt.Errorf("%s version: %w", filepath.Base(binary), err)
	}
	if v.Version != version {
		return fmt.Errorf("%s says that it is version %q, not %q", filepath.Base(binary), v.Version, version)
	}
	return nil
}

// versions are those of semver.org 2.0.0 without build metadata, whose plus sign file names do not bear.
var versions = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

func checkVersion(v string) error {
	if !versions.MatchString(v) {
		return fmt.Errorf("%q is not a version: write it like 1.2.3 or 1.2.3-rc.1", v)
	}
	return nil
}
