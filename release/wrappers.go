package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/clients"
	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/schema"
)

// What npm and Python put around the program.
//
//go:embed npm/* wasm/* python/memwall/*.py python/memwall/py.typed
var wrappers embed.FS

// node is a system as Node.js names it: process.platform and process.arch.
func (t target) node() (platform, arch string) {
	return map[string]string{"darwin": "darwin", "linux": "linux", "windows": "win32"}[t.os],
		map[string]string{"amd64": "x64", "arm64": "arm64"}[t.arch]
}

// npm is the package that carries the program for one system, which `npm install memwall` chooses by its os and cpu.
func (t target) npm(version string, binary []byte, docs []entry, at time.Time) (name string, data []byte, err error) {
	platform, arch := t.node()
	about, err := json.MarshalIndent(map[string]any{
		"name": "@memwall/" + platform + "-" + arch, "version": version, "description": "memwall for " + t.os + " " + t.arch,
		"license": "Apache-2.0", "homepage": homepage,
		"repository": "github:memwall/memwall", "os": []string{platform}, "cpu": []string{arch}, "preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return "", nil, err
	}
	all := []entry{{"package/package.json", 0o644, append(about, '\n')}, {"package/" + t.binary(), 0o755, binary}}
	data, err = tarOf(append(all, under("package/", docs)...), at)
	return fmt.Sprintf("memwall-%s-%s-%s.tgz", platform, arch, version), data, err
}

// npmOf is the package that people name: a few lines that find the program of their system.
func npmOf(version string, docs []entry, at time.Time) (name string, data []byte, err error) {
	carriers := map[string]string{}
	for _, t := range targets() {
		if platform, arch := t.node(); t.program == "memwall" {
			carriers["@memwall/"+platform+"-"+arch] = version
		}
	}
	list, err := json.Marshal(carriers)
	if err != nil {
		return "", nil, err
	}
	types, err := contract()
	if err != nil {
		return "", nil, err
	}
	all, err := embedded("npm", "package/")
	if err != nil {
		return "", nil, err
	}
	all = append(all, entry{"package/types.d.ts", 0o644, []byte(types.TypeScript())})
	for i := range all {
		if all[i].name == "package/package.json" {
			all[i].data = []byte(strings.NewReplacer("VERSION", version, "PLATFORMS", string(list)).Replace(string(all[i].data)))
		}
		if all[i].name == "package/memwall.js" {
			all[i].mode = 0o755
		}
	}
	data, err = tarOf(append(all, under("package/", docs)...), at)
	return "memwall-" + version + ".tgz", data, err
}

// wasmOf is the package of npm with the core as WebAssembly, which needs no program: for browsers and for Node.js.
func wasmOf(version string, core fs.FS, docs []entry, at time.Time) (name string, data []byte, err error) {
	types, err := contract()
	if err != nil {
		return "", nil, err
	}
	all, err := embedded("wasm", "package/")
	if err != nil {
		return "", nil, err
	}
	for i := range all {
		all[i].data = bytes.ReplaceAll(all[i].data, []byte("VERSION"), []byte(version))
	}
	for _, name := range []string{"memwall.wasm.gz", "wasm_exec.js"} {
		data, err := fs.ReadFile(core, name)
		if err != nil {
			return "", nil, err
		}
		all = append(all, entry{"package/" + name, 0o644, data})
	}
	all = append(all, entry{"package/types.d.ts", 0o644, []byte(types.TypeScript())})
	data, err = tarOf(append(all, under("package/", docs)...), at)
	return "memwall-wasm-" + version + ".tgz", data, err
}

// coreFor builds the core as WebAssembly, with what Go brings to start it, into a folder.
func coreFor(version, top, folder string) error {
	c := exec.Command("go", "run", "./internal/site", "-core", "-version", version, "-out", folder)
	c.Dir = top
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("the core as WebAssembly: %w\n%s", err, said)
	}
	return nil
}

// contract are the objects of requests and answers, those of scaling and packing included.
func contract() (clients.Types, error) {
	text, err := schema.Of("")
	if err != nil {
		return nil, err
	}
	types, err := clients.Read(text)
	if err != nil {
		return nil, err
	}
	own, err := schema.Definitions("#/$defs/", reflect.TypeFor[memwall.Request](), reflect.TypeFor[memwall.Answer](),
		reflect.TypeFor[autoscale.ScalingRequest](), reflect.TypeFor[autoscale.ScalingReport](), reflect.TypeFor[pack.PackingRequest](),
		reflect.TypeFor[pack.Packing]())
	if err != nil {
		return nil, err
	}
	for name, text := range own {
		if types[name] != nil {
			continue
		}
		types[name] = &clients.Shape{}
		if err := json.Unmarshal(text, types[name]); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// embedded are the files below a folder of wrappers, by path.
func embedded(dir, to string) (all []entry, err error) {
	found, err := wrappers.ReadDir(dir)
	for _, f := range found {
		data, err := wrappers.ReadFile(dir + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, entry{to + f.Name(), 0o644, data})
	}
	return all, err
}

// under are files below a folder.
func under(dir string, docs []entry) (all []entry) {
	for _, d := range docs {
		all = append(all, entry{dir + d.name, d.mode, d.data})
	}
	return all
}

// platforms are the tags of systems that a wheel is installed on (PEP 425, 600, 656). A static binary asks for no C library; Go 1.26
// asks for macOS 12.
var platforms = map[string]string{
	"linux_amd64":  "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux_arm64":  "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin_amd64": "macosx_12_0_x86_64", "darwin_arm64": "macosx_12_0_arm64", "windows_amd64": "win_amd64", "windows_arm64": "win_arm64",
}

// prerelease as Python and semver.org both know it.
var prerelease = regexp.MustCompile(`^(alpha|beta|rc)\.?([0-9]+)$`)

// pep440 is a version as Python writes it. Pre-releases of other names become local versions, which no index takes.
func pep440(version string) string {
	base, pre, ok := strings.Cut(version, "-")
	if !ok {
		return version
	}
	if m := prerelease.FindStringSubmatch(pre); m != nil {
		return base + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2]
	}
	return base + ".dev0+" + strings.ReplaceAll(pre, "-", ".")
}

// wheel is the Python package for one system: the program as a script, and the module that calls it (PEP 427).
func (t target) wheel(version string, binary []byte, docs []entry, at time.Time) (name string, data []byte, err error) {
	v := pep440(version)
	info, tag := "memwall-"+v+".dist-info/", "py3-none-"+platforms[t.system()]
	types, err := contract()
	if err != nil {
		return "", nil, err
	}
	all, err := embedded("python/memwall", "memwall/")
	if err != nil {
		return "", nil, err
	}
	all = append(all, entry{"memwall/types.py", 0o644, []byte(types.Python())})
	readme := ""
	for _, d := range docs {
		all = append(all, entry{info + "licenses/" + d.name, 0o644, d.data})
		if d.name == "README.md" {
			readme = string(d.data)
		}
	}
	var tags strings.Builder
	for p := range strings.SplitSeq(platforms[t.system()], ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", p)
	}
	all = append(all,
		entry{"memwall-" + v + ".data/scripts/" + t.binary(), 0o755, binary},
		entry{info + "METADATA", 0o644, fmt.Appendf(nil, "Metadata-Version: 2.1\nName: memwall\nVersion: %s\nSummary: The books of LLM memory\nHome-page: %s\nLicense: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s", v, homepage, readme)},
		entry{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: memwall release\nRoot-Is-Purelib: false\n" + tags.String())})
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var record strings.Builder
	for _, e := range all {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	data, err = zipOf(append(all, entry{info + "RECORD", 0o644, []byte(record.String())}), at)
	return "memwall-" + v + "-" + tag + ".whl", data, err
}
