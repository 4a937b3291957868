package main

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// What package managers are told of a version, as templates over the sums of its archives.
//
//go:embed packaging/*
var packaging embed.FS

//go:embed install.sh
var installScript []byte

// places are where each manager looks for its file.
var places = []struct{ template, path string }{
	{"memwall.rb", "homebrew/Formula/memwall.rb"},
	{"scoop.json", "scoop/bucket/memwall.json"},
	{"memwall.memwall.yaml", "winget/memwall.memwall.yaml"},
	{"memwall.memwall.installer.yaml", "winget/memwall.memwall.installer.yaml"},
	{"memwall.memwall.locale.en-US.yaml", "winget/memwall.memwall.locale.en-US.yaml"},
	{"flake.nix", "nix/flake.nix"},
	{"Dockerfile", "container/Dockerfile"},
	{"compose.yaml", "container/compose.yaml"},
}

// published is a version as the templates see it.
type published struct {
	Version string
	sums    map[string]string // of memwall's archives, by system
}

// Home is the project's page.
func (published) Home() string { return homepage }

// Stem is the folder in the archive of a system.
func (p published) Stem(system string) string { return "memwall_" + p.Version + "_" + system }

// URL is where the archive of a system can be fetched.
func (p published) URL(system string) string {
	ending := ".tar.gz"
	if strings.HasPrefix(system, "windows_") {
		ending = ".zip"
	}
	return homepage + "/releases/download/v" + p.Version + "/" + p.Stem(system) + ending
}

// Sum is the SHA-256 of the archive of a system.
func (p published) Sum(system string) (string, error) {
	if s := p.sums[system]; s != "" {
		return s, nil
	}
	return "", fmt.Errorf("there is no archive for %s", system)
}

// managed is an archive with the files of all package managers.
func (p published) managed(at time.Time) (name string, data []byte, err error) {
	folder := "memwall-packaging_" + p.Version + "/"
	var all []entry
	for _, f := range places {
		t, err := template.ParseFS(packaging, "packaging/"+f.template)
		if err != nil {
			return "", nil, err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, p); err != nil {
			return "", nil, err
		}
		all = append(all, entry{folder + f.path, 0o644, b.Bytes()})
	}
	data, err = tarOf(all, at)
	return strings.TrimSuffix(folder, "/") + ".tar.gz", data, err
}
