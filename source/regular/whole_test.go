package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// memory is a disk that knows what would be left after a loss of power, and fails or ends at a step that a test chooses.
type memory struct {
	names  map[string]*inode // as programs see them
	stable map[string]*inode // as they are on the platter
	step   int
	failAt int  // from this step on; 0: never
	dead   bool // the process ends there: nothing after it is done, not even a removal
	torn   bool // the write that fails leaves half of its bytes
	full   bool // writes fail, all else goes on
	count  int
}

// inode is a file: its bytes in the system's memory, and those on the platter.
type inode struct {
	cached, synced []byte
	mode           fs.FileMode
}

var errFault = errors.New("fault")

// fails counts a step.
func (m *memory) fails(write bool) bool {
	m.step++
	if m.failAt == 0 || m.step < m.failAt || m.full && !write {
		return false
	}
	return m.dead || m.full || m.step == m.failAt
}

func (m *memory) kept(name string) (string, fs.FileMode, error) {
	if f := m.names[name]; f != nil {
		return name, f.mode, nil
	}
	return "", 0, fs.ErrNotExist
}

func (m *memory) create(dir, pattern string) (diskFile, error) {
	if m.fails(false) {
		return nil, errFault
	}
	m.count++
	name := filepath.Join(dir, strings.Replace(pattern, "*", fmt.Sprint(m.count), 1))
	m.names[name] = &inode{mode: 0o600}
	return &opened{m, name, m.names[name]}, nil
}

func (m *memory) rename(from, to string) error {
	if m.fails(false) {
		return errFault
	}
	m.names[to] = m.names[from]
	delete(m.names, from)
	m.stable[to] = m.names[to] // the worst order: the name reaches the platter at once, bytes only by a sync
	return nil
}

func (m *memory) remove(name string) error {
	if m.fails(false) {
		return errFault
	}
	delete(m.names, name)
	return nil
}

func (m *memory) settle(string) error {
	if m.fails(false) {
		return errFault
	}
	return nil
}

// opened is a file that is being written.
type opened struct {
	*memory
	name string
	is   *inode
}

func (o *opened) Name() string { return o.name }

func (o *opened) Write(b []byte) (int, error) {
	if o.fails(true) {
		n := 0
		if o.torn {
			n = len(b) / 2
			o.is.cached = append(o.is.cached, b[:n]...)
		}
		return n, errFault
	}
	o.is.cached = append(o.is.cached, b...)
	return len(b), nil
}

func (o *opened) Chmod(mode fs.FileMode) error {
	if o.fails(false) {
		return errFault
	}
	o.is.mode = mode
	return nil
}

func (o *opened) Sync() error {
	if o.fails(false) {
		return errFault
	}
	o.is.synced = slices.Clone(o.is.cached)
	return nil
}

func (o *opened) Close() error {
	if o.fails(false) {
		return errFault
	}
	return nil
}

// disks that fail at each step in every way.
func disks() (all []*memory) {
	for at := range 14 {
		for _, way := range []memory{{}, {dead: true}, {dead: true, torn: true}, {torn: true}, {full: true, torn: true}} {
			old := &inode{cached: []byte("old state"), synced: []byte("old state"), mode: 0o640}
			m := way
			m.failAt, m.names, m.stable = at, map[string]*inode{"dir/file": old}, map[string]*inode{"dir/file": old}
			all = append(all, &m)
		}
	}
	return all
}

// TestFaults: whatever fails and wherever the process or the power ends, a file is as it was or as it shall be, before and after a loss
// of what was not synced; who is told that all went well has the new one.
func TestFaults(t *testing.T) {
	const now = "the new state, which is longer"
	done := 0
	for _, m := range disks() {
		w, err := begin(m, "dir/file", 0o600)
		if err == nil {
			for _, part := range []string{now[:7], now[7:]} {
				if _, err = w.Write([]byte(part)); err != nil {
					break
				}
			}
			if err != nil {
				w.Abandon()
			} else {
				err = w.Commit()
			}
		}
		what := fmt.Sprintf("fault at step %d, dead %v, torn %v, full %v", m.failAt, m.dead, m.torn, m.full)
		for which, f := range map[string][]byte{"seen": m.names["dir/file"].cached, "after a loss of power": m.stable["dir/file"].synced} {
			if s := string(f); s != "old state" && s != now || err == nil && s != now {
				t.Errorf("%s: the file %s is %q, the error %v", what, which, s, err)
			}
		}
		if m.names["dir/file"].mode != 0o640 {
			t.Errorf("%s: mode %v", what, m.names["dir/file"].mode)
		}
		if left := slices.Collect(maps.Keys(m.names)); !m.dead && len(left) > 1 && m.step != m.failAt {
			t.Errorf("%s: it leaves %v", what, left)
		}
		if err == nil {
			done++
		}
	}
	if done == 0 || done == len(disks()) {
		t.Errorf("%d of %d went well", done, len(disks()))
	}
}

// TestWholeFailsWithoutSync: the disk of these tests finds a file whose bytes were not synced before its name.
func TestWholeFailsWithoutSync(t *testing.T) {
	m := disks()[0]
	f, err := m.create("dir", ".file.*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := m.rename(f.Name(), "dir/file"); err != nil {
		t.Fatal(err)
	}
	if s := string(m.stable["dir/file"].synced); s == "new" {
		t.Error("bytes outlive a loss of power that nobody synced")
	}
}

// TestReplace: on a real disk, a new file has the mode that was said, one that is there keeps its own, and a link stays one.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := Replace(name, 0o600, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink("file", link) == nil
	if !linked {
		link = name
	}
	if err := Replace(link, 0o600, []byte("two")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil || string(data) != "two" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Lstat(link); err != nil || linked && info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(name); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 2 {
		t.Errorf("%v, %v", found, err)
	}
	if err := Replace(filepath.Join(dir, "missing", "file"), 0o600, nil); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// Replace writes a file in one go.
func Replace(name string, mode fs.FileMode, data []byte) error {
	return replace(system{}, name, mode, data)
}

func replace(on disk, name string, mode fs.FileMode, data []byte) error {
	w, err := begin(on, name, mode)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Abandon()
		return err
	}
	return w.Commit()
}
