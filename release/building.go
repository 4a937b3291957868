package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// building is a version on its way to a folder.
type building struct {
	version, work, out string
	of                 commit
	names              []string          // of the files that are there
	sums               map[string]string // SHA-256 of memwall's archives, by system
	papers             []entry           // of the last binary
}

// target builds one binary, holds it against what is promised, and packs it in all forms that its system knows.
func (b *building) target(t target) error {
	binary := filepath.Join(b.work, t.system(), t.binary())
	if err := t.build(b.version, binary, b.of); err != nil {
		return err
	}
	if err := t.judge(b.version, binary); err != nil {
		return err
	}
	modules, err := linked(binary)
	if err != nil {
		return err
	}
	text, err := notices(modules)
	if err != nil {
		return err
	}
	if b.papers, err = papers(text); err != nil {
		return err
	}
	bill, err := t.sbom(b.version, binary, modules, b.of.time)
	if err != nil {
		return err
	}
	if err := b.write(t.stem(b.version)+".cdx.json", bill, nil); err != nil {
		return err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	return b.pack(t, data)
}

// pack writes the archive of a binary, and of memwall the packages.
func (b *building) pack(t target, binary []byte) error {
	if t.program != "memwall" {
		return b.archive(t, t.entries(b.version, binary, b.papers), len(binary))
	}
	pages, err := manual(b.version, b.of.time)
	if err != nil {
		return err
	}
	scripts, err := completions()
	if err != nil {
		return err
	}
	if err := b.archive(t, t.entries(b.version, binary, b.papers, under("man/", pages), under("completions/", scripts)),
		len(binary)); err != nil {
		return err
	}
	if err := b.write(t.npm(b.version, binary, b.papers, b.of.time)); err != nil {
		return err
	}
	if err := b.write(t.wheel(b.version, binary, b.papers, b.of.time)); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	laid, err := installed(binary, b.papers, pages, scripts)
	if err != nil {
		return err
	}
	names, err := t.packages(b.version, b.work, b.out, laid, b.of.time)
	b.names = append(b.names, names...)
	return err
}

// archive writes the archive of a target.
func (b *building) archive(t target, entries []entry, binary int) error {
	packed, err := t.pack(entries, b.of.time)
	if err != nil {
		return err
	}
	if t.program == "memwall" {
		b.sums[t.system()] = fmt.Sprintf("%x", sha256.Sum256(packed))
	}
	fmt.Printf("%s: %.1f MB, the binary %.1f MB\n", t.archive(b.version), float64(len(packed))/1e6, float64(binary)/1e6)
	return b.write(t.archive(b.version), packed, nil)
}

// writeShared writes what speaks of all systems: npm's package that people name and the one with the core in it, the files of package
// managers, the script that installs.
func (b *building) writeShared() error {
	if err := b.write(npmOf(b.version, b.papers, b.of.time)); err != nil {
		return err
	}
	folder := filepath.Join(b.work, "wasm")
	if err := coreFor(b.version, ".", folder); err != nil {
		return err
	}
	if err := b.write(wasmOf(b.version, os.DirFS(folder), b.papers, b.of.time)); err != nil {
		return err
	}
	if err := b.write(published{b.version, b.sums}.managed(b.of.time)); err != nil {
		return err
	}
	since, err := changelog(".", b.version, b.of.id)
	if err := b.write("CHANGELOG.md", []byte(since), err); err != nil {
		return err
	}
	return b.write("install.sh", installScript, nil)
}

// write keeps a file under its name, unless making it failed.
func (b *building) write(name string, data []byte, err error) error {
	if err != nil {
		return err
	}
	b.names = append(b.names, name)
	return os.WriteFile(filepath.Join(b.out, name), data, 0o644)
}
