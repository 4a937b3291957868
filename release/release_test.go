package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVersions(t *testing.T) {
	for v, ok := range map[string]bool{
		"0.1.0": true, "1.2.3": true, "10.20.30-rc.1": true, "1.0.0-a-b.0": true,
		"": false, "1": false, "1.2": false, "v1.2.3": false, "01.2.3": false, "1.2.3.4": false, "1.2.3-": false, "1.2.3+meta": false, "1.2.3 -X a=b": false, "../1.2.3": false,
	} {
		if got := checkVersion(v) == nil; got != ok {
			t.Errorf("%q: accepted is %v, want %v", v, got, ok)
		}
	}
}

func TestNames(t *testing.T) {
	var got []string
	for _, x := range targets() {
		got = append(got, x.archive("1.2.3"))
	}
	want := []string{
		"memwall_1.2.3_darwin_amd64.tar.gz", "memwall_1.2.3_darwin_arm64.tar.gz",
		"memwall_1.2.3_linux_amd64.tar.gz", "memwall_1.2.3_linux_arm64.tar.gz",
		"memwall_1.2.3_windows_amd64.zip", "memwall_1.2.3_windows_arm64.zip",
		"memwall-farm_1.2.3_darwin_amd64.tar.gz", "memwall-farm_1.2.3_darwin_arm64.tar.gz",
		"memwall-farm_1.2.3_linux_amd64.tar.gz", "memwall-farm_1.2.3_linux_arm64.tar.gz",
		"memwall-farm_1.2.3_windows_amd64.zip", "memwall-farm_1.2.3_windows_arm64.zip",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

var (
	at    = time.Date(2026, 3, 4, 5, 6, 8, 0, time.UTC) // zip knows even seconds only
	files = []entry{{"m/LICENSE", 0o644, []byte("licence\n")}, {"m/README.md", 0o644, nil}, {"m/memwall", 0o755, bytes.Repeat([]byte("code"), 50000)}}
)

// what is how one file of an archive reads: name, mode, time, content.
type what struct {
	Name, Mode, Time string
	Data             []byte
}

// TestPack: both kinds of archive hold the files, their modes and the time of the commit, whole.
func TestPack(t *testing.T) {
	var want []what
	for _, e := range files {
		want = append(want, what{e.name, e.mode.String(), at.String(), append([]byte{}, e.data...)})
	}
	for _, x := range []struct {
		target target
		read   func(*testing.T, []byte) []what
	}{{target{"memwall", "linux", "amd64"}, readTar}, {target{"memwall", "windows", "amd64"}, readZip}} {
		packed, err := x.target.pack(files, at)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, x.read(t, packed)); d != "" {
			t.Errorf("%s: %s", x.target, d)
		}
	}
}

func readTar(t *testing.T, packed []byte) (out []what) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if z.Name != "" || !z.ModTime.IsZero() || z.OS != 255 {
		t.Errorf("gzip tells a name %q, a time %v or a system %d", z.Name, z.ModTime, z.OS)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s tells its owner: %+v", h.Name, h)
		}
		out = append(out, what{h.Name, h.FileInfo().Mode().String(), h.ModTime.UTC().String(), all(t, r)})
	}
}

func readZip(t *testing.T, packed []byte) (out []what) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, what{f.Name, f.Mode().String(), f.Modified.UTC().String(), all(t, r)})
	}
	return out
}

func all(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), []byte("abc"))
	if err := writeSums(dir, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n" // FIPS 180-2, appendix B.1
	if err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestEmptyDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	if err := emptyDir(dir); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "old.zip"), nil)
	if err := emptyDir(dir); err == nil || !strings.Contains(err.Error(), "old.zip") {
		t.Errorf("a folder with an old archive: %v", err)
	}
}

// TestJudge: what is too large, or asks for a loader, is refused.
func TestJudge(t *testing.T) {
	foreign := target{"memwall", "linux", "none"} // never run here
	dir := t.TempDir()
	large, small := filepath.Join(dir, "large"), filepath.Join(dir, "small")
	write(t, large, nil)
	if err := os.Truncate(large, maxBinary["memwall"]+1); err != nil {
		t.Fatal(err)
	}
	if err := foreign.judge("1.2.3", large); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes", maxBinary["memwall"]+1)) {
		t.Errorf("too large: %v", err)
	}
	write(t, small, program(t, elf.PT_LOAD))
	if err := foreign.judge("1.2.3", small); err != nil {
		t.Errorf("a static binary: %v", err)
	}
	write(t, small, program(t, elf.PT_INTERP))
	if err := foreign.judge("1.2.3", small); err == nil || !strings.Contains(err.Error(), "not static") {
		t.Errorf("a binary with a loader: %v", err)
	}
	write(t, small, []byte("no program"))
	if err := foreign.judge("1.2.3", small); err == nil {
		t.Error("a text passes for a binary")
	}
}

// program is a 64-bit ELF file with one segment.
func program(t *testing.T, kind elf.ProgType) []byte {
	t.Helper()
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	for _, part := range []any{h, elf.Prog64{Type: uint32(kind)}} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestCommit: the commit's time, and whether the tree is as it was committed.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	if _, err := headCommit(dir); err == nil {
		t.Error("a folder without git has a commit")
	}
	write(t, filepath.Join(dir, "a"), []byte("1"))
	for _, args := range [][]string{{"init", "-q"}, {"add", "a"}, {"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "first"}} {
		c := exec.Command("git", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE="+fmt.Sprint(at.Unix(), " +0200"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	c, err := headCommit(dir)
	if err != nil || !c.time.Equal(at) || c.dirty || len(c.id) < 40 {
		t.Errorf("%+v, %v; want %v and clean", c, err, at)
	}
	write(t, filepath.Join(dir, "b"), nil)
	if c, err := headCommit(dir); err != nil || !c.dirty {
		t.Errorf("a new file: dirty %v, %v", c.dirty, err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
