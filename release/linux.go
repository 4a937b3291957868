package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // its init names the format
	_ "github.com/goreleaser/nfpm/v2/deb" // likewise
	nfpmfiles "github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // likewise
)

const homepage = "https://github.com/memwall/memwall"

// formats of the packages that Linux systems install.
var formats = []string{"apk", "deb", "rpm"}

// installed are the files of memwall as a Linux system keeps them, by path.
func installed(binary []byte, docs []entry, pages, scripts []entry) ([]entry, error) {
	all := []entry{{"/usr/bin/memwall", 0o755, binary}}
	for _, d := range docs {
		all = append(all, entry{"/usr/share/doc/memwall/" + path.Base(d.name), 0o644, d.data})
	}
	for _, p := range pages {
		packed, err := squeezed(p.data)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{"/usr/share/man/man1/" + p.name + ".gz", 0o644, packed})
	}
	for _, s := range scripts {
		if to := systemPath(s.name); to != "" {
			all = append(all, entry{to, 0o644, s.data})
		}
	}
	return all, nil
}

// systemPath is where a shell of the system looks for a completion; "" where it has no such place.
func systemPath(script string) string {
	switch shell, file, _ := strings.Cut(script, "/"); shell {
	case "bash":
		return "/usr/share/bash-completion/completions/" + file
	case "fish":
		return "/usr/share/fish/vendor_completions.d/" + file
	case "zsh":
		return "/usr/share/zsh/site-functions/" + file
	}
	return ""
}

// squeezed packs a page as man(1) reads it, the same each time.
func squeezed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// packages makes a package of each format from files laid out for the system, and gives their names.
func (t target) packages(version, work, out string, laid []entry, at time.Time) (names []string, err error) {
	var contents nfpmfiles.Contents
	for i, e := range laid {
		from := filepath.Join(work, fmt.Sprintf("%s-%d", t.system(), i))
		if err := os.WriteFile(from, e.data, 0o600); err != nil {
			return nil, err
		}
		contents = append(contents, &nfpmfiles.Content{Source: from, Destination: e.name,
			FileInfo: &nfpmfiles.ContentFileInfo{Owner: "root", Group: "root", Mode: e.mode & fs.ModePerm, MTime: at}})
	}
	for _, format := range formats {
		name := t.stem(version) + "." + format
		data, err := t.packaged(format, version, contents, at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (t target) packaged(format, version string, contents nfpmfiles.Contents, at time.Time) ([]byte, error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return nil, err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: t.program, Arch: t.arch, Platform: t.os, Version: version, Section: "utils", Priority: "optional", Homepage: homepage,
		License: "Apache-2.0", MTime: at,
		Maintainer: "The memwall authors <memwall@users.noreply.github.com>", Vendor: "memwall",
		Description:  "The books of LLM memory\n What fits on which hardware, where every byte goes, how fast it runs, and what to change.",
		Overridables: nfpm.Overridables{Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost", Summary: "The books of LLM memory"}},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = packager.Package(info, &b)
	return b.Bytes(), err
}
