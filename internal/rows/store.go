package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/source/regular"
)

// Store is a file of rows, one a line, which only its owner may read. It grows by whole lines at its end: a line that was cut off, by
// a full disk or a lost power, is passed over and never joined by another.
type Store struct{ Path string }

// Rows of the store; none where there is no file. The error names the row that cannot be read, such as one of a newer memwall.
func (s *Store) Rows() ([]*Row, error) {
	data, err := s.read()
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if data = completed(data); len(data) == 0 {
		return nil, nil
	}
	return Read(data)
}

func (s *Store) read() ([]byte, error) {
	f, err := regular.Open(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	return data, errors.Join(err, f.Close())
}

// completed are the lines that were written to their end.
func completed(data []byte) (out []byte) {
	for line := range bytes.Lines(data) {
		if bytes.HasSuffix(line, []byte("\n")) && json.Valid(line) {
			out = append(out, line...)
		}
	}
	return out
}

// Add puts rows into the store that it does not have, all or none of them, and gives how many there were already.
func (s *Store) Add(rows []*Row) (added, had int, err error) {
	old, err := s.Rows()
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for _, r := range old {
		seen[r.ID()] = true
	}
	var more bytes.Buffer
	for _, r := range rows {
		if seen[r.ID()] {
			had++
			continue
		}
		seen[r.ID()] = true
		line, err := r.Line()
		if err != nil {
			return 0, 0, err
		}
		more.Write(line)
		added++
	}
	if added == 0 {
		return 0, had, nil
	}
	return added, had, s.append(more.Bytes())
}

// append writes lines in one piece; where that fails the file is as long as before.
func (s *Store) append(lines []byte) (err error) {
	if err := regular.Folder(filepath.Dir(s.Path)); err != nil {
		return err
	}
	f, err := regular.OpenPrivate(s.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size()+int64(len(lines)) > MaxBytes {
		return fmt.Errorf("the store would have more than %d MiB", MaxBytes>>20)
	}
	if cut, err := cutOff(f, info.Size()); err != nil || cut {
		lines = append([]byte("\n"), lines...)
	}
	if _, err = f.Write(lines); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(info.Size()))
	}
	return nil
}

// cutOff reports whether a file ends within a line.
func cutOff(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := f.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}
