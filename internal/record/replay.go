package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/source/regular"
)

// longest bounds a line: a moment of a node is some kilobytes, an answer that is said some dozens.
const longest = 4 << 20

// Replay reads the newest run of a recording that holds a moment: each moment in order, with predictions before the moment
// from which on they hold. It ends with the first error that a function gives.
func Replay(name string, predict func(pid int, p *live.Prediction), moment func(*live.Moment) error) error {
	file, err := regular.Open(name)
	if err != nil {
		return broken(name, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if err := ours(name, file); err != nil {
		return err
	}
	newest := ""
	for l, err := range lines(name, file) {
		if err != nil {
			return err
		}
		if l.Moment != nil {
			newest = l.Run
		}
	}
	var last *live.Moment // until nothing more is said at its time
	told := func() (err error) {
		if last != nil {
			err = moment(last)
		}
		last = nil
		return err
	}
	for l, err := range lines(name, file) {
		if err == nil && l.Run == newest && (l.Moment != nil || last != nil && l.At > last.At) {
			err = told()
		}
		switch {
		case err != nil:
			return err
		case l.Run != newest:
		case l.Said != nil:
			predict(l.PID, l.Said)
		case l.Moment != nil:
			last = l.Moment
		}
	}
	return told()
}

// ours refuses what is not a recording, or one of a version that is not known.
func ours(name string, file io.ReaderAt) error {
	text, _, err := next(bufio.NewReader(io.NewSectionReader(file, 0, longest)))
	var first line
	if err != nil && !errors.Is(err, io.EOF) || json.Unmarshal(text, &first) != nil || first.Recording == "" {
		return fault(name, name+" is not a recording of memwall watch", "another name: a file that is not memwall's own is not touched")
	}
	if first.Recording != Format {
		return fault(name, fmt.Sprintf("%s is written as %.40q, and this memwall knows %s", name, first.Recording, Format), "a newer memwall, or another name")
	}
	return nil
}

// lines of a recording. One that cannot be read is an error, unless a run begins or the file ends behind it: there a watch was
// ended in the midst of it.
func lines(name string, file io.ReaderAt) iter.Seq2[*line, error] {
	return func(yield func(*line, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), 1<<16)
		var torn error
		for n := 1; ; n++ {
			text, whole, err := next(in)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, broken(name, err))
				return
			}
			if len(text) > 0 {
				l := &line{}
				if unread := json.Unmarshal(text, l); torn != nil && (unread != nil || l.Recording == "") {
					yield(nil, torn)
					return
				} else if torn = nil; unread != nil || !whole {
					torn = fault(name, fmt.Sprintf("line %d of %s is none of a recording", n, name), "the file as memwall watch --record wrote it")
				} else if !yield(l, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
		}
	}
}

// next gives the next line without the space around it, and whether it is whole: not longer than any that is written.
func next(in *bufio.Reader) (text []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(text) < longest {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(text), len(text) < longest, err
		}
	}
}
