package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom lists what is in a binary, as CycloneDX 1.6: the program with the SHA-256 of its file, Go's standard library, and each module
// with its version, licence and the hash that go.sum has of it. It is the same for the same binary.
func (t target) sbom(version, binary string, all []module, at time.Time) ([]byte, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	b := cyclonedx.NewBOM()
	self := "pkg:golang/" + own + "@v" + version + "?type=module#cmd/" + t.program
	b.Metadata = &cyclonedx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &cyclonedx.Component{
		BOMRef: self, Type: cyclonedx.ComponentTypeApplication, Name: t.program, Version: version, PackageURL: self,
		Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(data))}},
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}}
	std := cyclonedx.Component{BOMRef: "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go"),
		Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: runtime.Version(),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go")}
	parts, needs := []cyclonedx.Component{std}, []string{std.BOMRef}
	for _, m := range all {
		c := m.component()
		parts, needs = append(parts, c), append(needs, c.BOMRef)
	}
	b.Components = &parts
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: self, Dependencies: &needs}}
	var out bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}

// component is a module's line in a bill. Its hash is that of go.sum: SHA-256 over the hashes of its files
// (golang.org/x/mod/sumdb/dirhash, Hash1).
func (m module) component() cyclonedx.Component {
	c := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: "pkg:golang/" + m.path + "@" + m.version,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: m.licence}}},
	}
	c.BOMRef = c.PackageURL
	if hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:")); err == nil && len(hash) == sha256.Size {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	}
	return c
}
