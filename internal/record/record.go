// Package record records the moments of a watch in a file, and reads them back. The file is JSON Lines, readable by jq,
// DuckDB or an editor; docs/guides/watch.md describes the lines.
//
// Each watch is a separate run; an existing recording is appended to, and may be read at the same time. A file that is
// not a recording is never modified. See record.go for writing, replay.go for reading.
package record

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/source/regular"
)

// Format is what the first line of a recording says that the file is; lines are added to it, never changed.
const Format = "memwall-watch/1"

// line is a line of a recording: the beginning of a run, what was said of a process from a time on, or a moment.
type line struct {
	Recording string           `json:"recording,omitempty"` // Format: a run begins
	Run       string           `json:"run"`
	At        float64          `json:"at_s,omitempty"` // since 1970: the run began, or what is said holds from here
	Memwall   string           `json:"memwall,omitempty"`
	PID       int              `json:"pid,omitempty"`
	Said      *live.Prediction `json:"said,omitempty"`
	Moment    *live.Moment     `json:"moment,omitempty"`
}

// Recording is a file that moments go to.
type Recording struct {
	file *os.File
	run  string
	said map[int]string
}

func fault(name, message, hint string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "record", Value: name, Message: message, Hint: hint}
}

// Create opens a recording to write to, makes one where there is no file, and begins a run in it.
func Create(name string, beganAt float64) (*Recording, error) {
	return create(name, beganAt, rand.Text())
}

func create(name string, beganAt float64, run string) (*Recording, error) {
	file, err := regular.OpenPrivate(name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, broken(name, err)
	}
	r := &Recording{file: file, run: run, said: map[int]string{}}
	if err := r.begin(name, beganAt); err != nil {
		_ = file.Close() // the error before it is the one to tell
		return nil, err
	}
	return r, nil
}

// begin begins a run. What an earlier watch left half written, for it was killed, ends where the run begins.
func (r *Recording) begin(name string, at float64) error {
	size, err := r.file.Seek(0, io.SeekEnd)
	if err != nil {
		return broken(name, err)
	}
	if size > 0 {
		if err := ours(name, io.NewSectionReader(r.file, 0, size)); err != nil {
			return err
		}
		if _, err := r.file.Write([]byte("\n")); err != nil {
			return broken(name, err)
		}
	}
	if err := r.write(line{Recording: Format, At: at, Memwall: memwall.Version}); err != nil {
		return broken(name, err)
	}
	return nil
}

// write adds lines in one go, so that those of two watches do not mix.
func (r *Recording) write(lines ...line) error {
	var text []byte
	for i := range lines {
		lines[i].Run = r.run
		one, err := json.Marshal(&lines[i])
		if err != nil {
			return err
		}
		text = append(append(text, one...), '\n')
	}
	_, err := r.file.Write(text)
	return err
}

// Add writes a moment, and before it predictions that are new.
func (r *Recording) Add(m *live.Moment, said map[int]*live.Prediction) error {
	return r.write(append(r.news(m.At, said), line{Moment: m})...)
}

// Say writes predictions that came after the last moment, at its time.
func (r *Recording) Say(at float64, said map[int]*live.Prediction) error {
	return r.write(r.news(at, said)...)
}

// news are the predictions that no line says yet.
func (r *Recording) news(at float64, said map[int]*live.Prediction) (out []line) {
	for pid, p := range said {
		text, err := json.Marshal(p)
		if err == nil && r.said[pid] == string(text) {
			continue
		}
		r.said[pid] = string(text)
		out = append(out, line{At: at, PID: pid, Said: p}) // an error comes again as it is written
	}
	return out
}

// Close ends the run once its lines are on the disk.
func (r *Recording) Close() error { return errors.Join(r.file.Sync(), r.file.Close()) }

func broken(name string, err error) error {
	return fault(name, fmt.Sprintf("%s cannot be used: %v", name, regular.Cause(err)), "a file in a folder that exists and can be written")
}
