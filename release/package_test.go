package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// pretended is a program of this system's shell that says what memwall says of its version.
const pretended = "#!/bin/sh\necho memwall 1.2.3\n"

var (
	linux = target{"memwall", "linux", "amd64"}
	texts = []entry{{"LICENSE", 0o644, []byte("licence\n")}, {"README.md", 0o644, []byte("# memwall\n")}, {"THIRD_PARTY_NOTICES.txt", 0o644, []byte("notices\n")}}
)

// TestLicences: a module without a line, of another text, or under what is not allowed ends a release.
func TestLicences(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "LICENSE"), []byte("Permission is hereby granted, free of charge, to any person"))
	for _, x := range []struct{ table, want string }{
		{"example.com/m\tMIT", ""},
		{"example.com/other\tMIT", "no line in release/licences.tsv"},
		{"example.com/m\tBSD-3-Clause", "none of its files says"},
		{"example.com/m\tGPL-3.0-only", "not among those allowed"},
	} {
		m := module{path: "example.com/m", version: "v1.0.0", dir: dir}
		if err := m.judge(licenceOf(x.table)); x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%q: %v, want %q", x.table, err, x.want)
		}
	}
	empty := module{path: "example.com/m", dir: t.TempDir()}
	if err := empty.judge(licenceOf("example.com/m\tMIT")); err == nil {
		t.Error("a module without a licence passes")
	}
}

// TestLinked: the modules of a real binary, this test's own, have lines, texts and hashes, and the bill lists each.
func TestLinked(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	by := licenceOf(licences)
	for path, id := range by {
		if marks[id] == nil {
			t.Errorf("%s is under %q", path, id)
		}
	}
	cobra := module{path: "github.com/spf13/cobra", version: "v1.10.2", sum: "h1:" + base64.StdEncoding.EncodeToString(make([]byte, sha256.Size)), licence: by["github.com/spf13/cobra"]}
	bill, err := linux.sbom("1.2.3", self, []module{cobra}, at)
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, Version, Purl string }
		Metadata               struct{ Timestamp string }
	}
	if err := json.Unmarshal(bill, &b); err != nil {
		t.Fatal(err)
	}
	if b.BOMFormat != "CycloneDX" || b.SpecVersion != "1.6" || len(b.Components) != 2 || b.Components[1].Purl != "pkg:golang/github.com/spf13/cobra@v1.10.2" || b.Metadata.Timestamp != "2026-03-04T05:06:08Z" {
		t.Errorf("%+v", b)
	}
	again, err := linux.sbom("1.2.3", self, []module{cobra}, at)
	if err != nil || !bytes.Equal(bill, again) {
		t.Errorf("the bill differs from one time to the next: %v", err)
	}
	if _, err := linked(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no binary has modules")
	}
}

// laidOut are packages of a few files, and the folder that they are in.
func laidOut(t *testing.T) (out string, names []string) {
	t.Helper()
	work, out := t.TempDir(), t.TempDir()
	laid, err := installed([]byte(pretended), texts, []entry{{"memwall.1", 0o644, []byte(".TH MEMWALL 1\n")}}, []entry{{"bash/memwall", 0o644, []byte("complete\n")}, {"powershell/memwall.ps1", 0o644, nil}})
	if err != nil {
		t.Fatal(err)
	}
	names, err = linux.packages("1.2.3", work, out, laid, at)
	if err != nil {
		t.Fatal(err)
	}
	return out, names
}

// TestPackages: each format is made, the same each time, and holds what a system needs.
func TestPackages(t *testing.T) {
	out, names := laidOut(t)
	again, _ := laidOut(t)
	want := []string{"memwall_1.2.3_linux_amd64.apk", "memwall_1.2.3_linux_amd64.deb", "memwall_1.2.3_linux_amd64.rpm"}
	if fmt.Sprint(names) != fmt.Sprint(want) {
		t.Fatalf("%v, want %v", names, want)
	}
	for _, n := range names {
		a, err := os.ReadFile(filepath.Join(out, n))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(again, n))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs from one time to the next: %v", n, err)
		}
	}
	listed := apkFiles(t, filepath.Join(out, names[0]))
	for _, f := range []string{"usr/bin/memwall", "usr/share/man/man1/memwall.1.gz", "usr/share/doc/memwall/THIRD_PARTY_NOTICES.txt", "usr/share/bash-completion/completions/memwall", ".PKGINFO"} {
		if !listed[f] {
			t.Errorf("%s is not in %s: %v", f, names[0], listed)
		}
	}
	root := t.TempDir()
	installs := [][]string{{"dpkg-deb", "-x", filepath.Join(out, names[1]), root}}
	if _, err := exec.LookPath("rpm"); err == nil {
		installs = append(installs, []string{"rpm", "--root", t.TempDir(), "-qlp", "--nosignature", filepath.Join(out, names[2])})
	}
	for _, c := range installs {
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Logf("%s is not here: its package is not opened", c[0])
			continue
		}
		said, err := exec.Command(c[0], c[1:]...).CombinedOutput()
		if err != nil || c[0] == "rpm" && !strings.Contains(string(said), "/usr/bin/memwall") {
			t.Errorf("%v: %v\n%s", c, err, said)
		}
		if c[0] == "dpkg-deb" {
			runs(t, filepath.Join(root, "usr/bin/memwall"))
		}
	}
}

// apkFiles are the names in an Alpine package: gzip streams of tar archives, one behind the other.
func apkFiles(t *testing.T, path string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names[h.Name] = true
	}
}

func runs(t *testing.T, program string, args ...string) {
	t.Helper()
	said, err := exec.Command(program, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "memwall 1.2.3") {
		t.Errorf("%s says %q, %v", program, said, err)
	}
}

// here is this system as a target of memwall, whose program a shell can pretend to be.
func here(t *testing.T) target {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program that stands in is a shell's")
	}
	return target{"memwall", runtime.GOOS, runtime.GOARCH}
}

// TestWheel: every file has its hash in RECORD, versions are Python's, and pip installs it.
func TestWheel(t *testing.T) {
	for v, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-beta2": "1.2.3b2", "0.0.0-ci": "0.0.0.dev0+ci", "1.0.0-a-b.0": "1.0.0.dev0+a.b.0"} {
		if got := pep440(v); got != want {
			t.Errorf("%s is %s, want %s", v, got, want)
		}
	}
	self := here(t)
	name, data, err := self.wheel("1.2.3", []byte(pretended), texts, at)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	record, hashed := "", map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text := all(t, r)
		sum := sha256.Sum256(text)
		hashed[f.Name] = fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(text)
		}
	}
	for _, must := range []string{"memwall/__init__.py", "memwall/__main__.py", "memwall/py.typed", "memwall-1.2.3.data/scripts/memwall", "memwall-1.2.3.dist-info/METADATA", "memwall-1.2.3.dist-info/licenses/LICENSE"} {
		if !strings.Contains(record, hashed[must]) || hashed[must] == "" {
			t.Errorf("%s is not in RECORD with its hash:\n%s", must, record)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-m", "pip", "--version").Run() != nil {
		t.Log("there is no pip: the wheel is not installed")
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, name), data)
	to := filepath.Join(dir, "to")
	if said, err := exec.Command(python, "-m", "pip", "install", "--no-index", "--no-deps", "--target", to, filepath.Join(dir, name)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	runs(t, filepath.Join(to, "bin", "memwall"))
	c := exec.Command(python, "-m", "memwall", "version")
	c.Env = append(os.Environ(), "PYTHONPATH="+to)
	if said, err := c.CombinedOutput(); err != nil || !strings.Contains(string(said), "memwall 1.2.3") {
		t.Errorf("python -m memwall: %q, %v", said, err)
	}
}

// TestNPM: npm installs both packages without a network, and npx runs the program.
func TestNPM(t *testing.T) {
	self := here(t)
	name, data, err := self.npm("1.2.3", []byte(pretended), texts, at)
	if err != nil {
		t.Fatal(err)
	}
	main, whole, err := npmOf("1.2.3", texts, at)
	if err != nil {
		t.Fatal(err)
	}
	if main != "memwall-1.2.3.tgz" || !strings.HasPrefix(name, "memwall-"+runtime.GOOS+"-") {
		t.Errorf("%s and %s", main, name)
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Log("there is no npm: its packages are not installed")
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, name), data)
	write(t, filepath.Join(dir, main), whole)
	write(t, filepath.Join(dir, "package.json"), []byte(`{"name":"trial","private":true}`))
	c := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", "--omit=optional", "./"+name, "./"+main)
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	runs(t, filepath.Join(dir, "node_modules", ".bin", "memwall"))
}

// TestManaged: the files of package managers name the archives and their sums, and JSON is JSON.
func TestManaged(t *testing.T) {
	sums := map[string]string{}
	for i, s := range systems {
		sums[s[0]+"_"+s[1]] = strings.Repeat(fmt.Sprint(i), 64)
	}
	name, data, err := published{"1.2.3", sums}.managed(at)
	if err != nil || name != "memwall-packaging_1.2.3.tar.gz" {
		t.Fatalf("%s, %v", name, err)
	}
	files := map[string]string{}
	for _, f := range readTar(t, data) {
		files[strings.TrimPrefix(f.Name, "memwall-packaging_1.2.3/")] = string(f.Data)
	}
	for path, words := range map[string]string{
		"homebrew/Formula/memwall.rb":              `sha256 "` + sums["darwin_arm64"],
		"nix/flake.nix":                            sums["linux_arm64"],
		"winget/memwall.memwall.installer.yaml":    "InstallerSha256: " + sums["windows_arm64"],
		"winget/memwall.memwall.yaml":              "PackageVersion: 1.2.3",
		"winget/memwall.memwall.locale.en-US.yaml": "License: Apache-2.0",
		"container/Dockerfile":                     "memwall_1.2.3_linux_amd64",
		"container/compose.yaml":                   "read_only: true",
	} {
		if !strings.Contains(files[path], words) {
			t.Errorf("%s does not say %s:\n%s", path, words, files[path])
		}
	}
	var scoop struct {
		Architecture map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(files["scoop/bucket/memwall.json"]), &scoop); err != nil || scoop.Architecture["arm64"].Hash != sums["windows_arm64"] || !strings.HasSuffix(scoop.Architecture["64bit"].URL, "/v1.2.3/memwall_1.2.3_windows_amd64.zip") {
		t.Errorf("%+v, %v", scoop, err)
	}
	delete(sums, "linux_amd64")
	if _, _, err := (published{"1.2.3", sums}).managed(at); err == nil {
		t.Error("a system without an archive is published")
	}
}

// TestInstall: the script puts the program where it says; a wrong sum, half an archive, no such version, and a full disk change nothing.
func TestInstall(t *testing.T) {
	self := here(t)
	archive, err := self.pack(self.entries("1.2.3", []byte(pretended), texts), at)
	if err != nil {
		t.Fatal(err)
	}
	right := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), self.archive("1.2.3"))
	broken, err := self.pack(self.entries("1.2.3", []byte("#!/bin/sh\nexit 1\n"), texts), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, sums, version string
		archive             []byte
		want                string // of the error; "" is none
	}{
		{"right", right, "", archive, ""},
		{"right, by its version", right, "1.2.3", archive, ""},
		{"another sum", strings.Replace(right, right[:8], "00000000", 1), "", archive, "is not what SHA256SUMS says"},
		{"half of it", right, "", archive[:len(archive)/2], "is not what SHA256SUMS says"},
		{"no such version", right, "9.9.9", archive, "names no archive"},
		{"no sums", "<html>not found</html>", "", archive, "names no archive"},
		{"no archive", right, "", nil, "cannot be fetched"},
		{"a program that does not run", fmt.Sprintf("%x  %s\n", sha256.Sum256(broken), self.archive("1.2.3")), "", broken, "does not run here"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/SHA256SUMS":
					_, _ = io.WriteString(w, x.sums)
				case x.archive != nil && r.URL.Path == "/"+self.archive("1.2.3"):
					_, _ = w.Write(x.archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer s.Close()
			prefix := t.TempDir()
			to := filepath.Join(prefix, "bin", "memwall")
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, []byte("#!/bin/sh\necho the old one\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("sh", "install.sh")
			c.Env = append(os.Environ(), "MEMWALL_BASE="+s.URL, "MEMWALL_VERSION="+x.version, "PREFIX="+prefix)
			said, err := c.CombinedOutput()
			now, readErr := os.ReadFile(to)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if x.want == "" {
				if err != nil || string(now) != pretended {
					t.Errorf("%v\n%s", err, said)
				}
				return
			}
			if err == nil || !strings.Contains(string(said), x.want) || !strings.Contains(string(now), "the old one") {
				t.Errorf("%v, want %q; the program is %q\n%s", err, x.want, now, said)
			}
			if left, _ := os.ReadDir(filepath.Dir(to)); len(left) != 1 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// TestPinned: workflows use what others wrote by digests, which nobody can move, and name the version beside.
func TestPinned(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if _, what, ok := strings.Cut(line, "uses: "); ok && !pinned.MatchString(what) {
				t.Errorf("%s:%d: %s is not pinned by digest", f, i+1, what)
			}
		}
		if !strings.Contains(string(text), "\npermissions:\n  contents: read\n") {
			t.Errorf("%s begins with more than reading", f)
		}
	}
}
