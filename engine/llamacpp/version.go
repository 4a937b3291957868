package llamacpp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
)

// Versions. llama.cpp counted builds until 2026-08-12 (b10394), then it began with 0.1.0. Build N is
// version 0.0.N here, as its own install version was before (CMakeLists.txt, LLAMA_INSTALL_VERSION), so
// that builds and releases are in one order. Ollama counts for itself; carried says what it carries.

// Latest is the newest llama.cpp whose rules are known: v0.5.0 (de3ff81, 2026-09-28).
var Latest = engine.V(0, 5, 0)

// latestOllama is the newest Ollama that carried knows.
var latestOllama = engine.V(0, 32, 15)

// build is version b<n>.
func build(n int) engine.Version { return engine.V(0, 0, n) }

var buildName = regexp.MustCompile(`^b?([0-9]{3,6})\b`)

// ParseVersion reads "0.5.0", or a build as llama.cpp's tags and logs name it: "b5716", "5716 (d27b3ca1)".
func (e Engine) ParseVersion(text string) (engine.Version, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if m := buildName.FindStringSubmatch(text); m != nil && e.Program != Ollama && !strings.HasPrefix(text[len(m[0]):], ".") {
		n, err := strconv.Atoi(m[1])
		return build(n), err
	}
	v, err := engine.ParseVersion(text)
	if err != nil {
		err = fmt.Errorf("%q is neither a version such as 0.5.0 nor a build such as b5716", text)
	}
	return v, err
}

// firstBuild is the least number that ParseVersion takes for a build.
const firstBuild = 100

// VersionName is a version as ParseVersion reads it: "b5716" for a build.
func (e Engine) VersionName(v engine.Version) string {
	if e.Program != Ollama && v.Major == 0 && v.Minor == 0 && v.Patch >= firstBuild {
		return fmt.Sprintf("b%d", v.Patch)
	}
	return v.String()
}

// llamaVersion is the version of llama.cpp that a version of the program runs.
func (p Program) llamaVersion(v engine.Version) engine.Version {
	switch p {
	case Ollama:
		return engine.At(carried, v).Value
	case Fork:
		return forkedFrom
	}
	return v
}

// ownServer: from here on Ollama runs llama-server as it is; before, a library with Go around it.
var ownServer = engine.V(0, 30, 0)

// carried is the build of llama.cpp in a version of Ollama: the vendored commit of each tag, and from
// v0.30.0 its file LLAMA_CPP_VERSION.
var carried = []engine.Since[engine.Version]{
	{From: engine.V(0, 0, 0), Value: build(1662), Source: "ollama v0.1.18: 328b83de"},
	{From: engine.V(0, 1, 33), Value: build(2770), Source: "ollama v0.1.33: 952d03db"},
	{From: engine.V(0, 2, 8), Value: build(3440), Source: "ollama v0.2.8: d94c6e0c"},
	{From: engine.V(0, 3, 14), Value: build(3862), Source: "ollama v0.3.14: 3f1ae2e3"},
	{From: engine.V(0, 5, 13), Value: build(4779), Source: "ollama v0.5.13: d7cfe1ff"},
	{From: engine.V(0, 7, 0), Value: build(5359), Source: "ollama v0.7.0: de4c07f9"},
	{From: engine.V(0, 11, 5), Value: build(6121), Source: "ollama v0.11.5: e54d41be"},
	{From: engine.V(0, 12, 11), Value: build(6840), Source: "ollama v0.12.11: 3cfa9c3f"},
	{From: engine.V(0, 13, 5), Value: build(7437), Source: "ollama v0.13.5: ec98e200"},
	{From: ownServer, Value: build(9452), Source: "ollama v0.30.0: LLAMA_CPP_VERSION"},
	{From: engine.V(0, 30, 5), Value: build(9509), Source: "ollama v0.30.5: LLAMA_CPP_VERSION"},
	{From: engine.V(0, 31, 0), Value: build(9840), Source: "ollama v0.31.0: LLAMA_CPP_VERSION"},
	{From: engine.V(0, 32, 2), Value: build(10069), Source: "ollama v0.32.2: LLAMA_CPP_VERSION"},
	{From: engine.V(0, 32, 8), Value: build(10353), Source: "ollama v0.32.8: LLAMA_CPP_VERSION"},
	{From: engine.V(0, 32, 14), Value: engine.V(0, 1, 0), Source: "ollama v0.32.14: b10434"},
}
