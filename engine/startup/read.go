package startup

import "io"

// Reader is an engine's reader of what its server prints.
type Reader interface {
	Line(*Line)
	Log() *Log
}

// Read feeds every line of a text to every reader and returns the number of lines. Errors are *fault.Error if the text is not a
// log, or come from the text's reader.
func Read(text io.Reader, readers ...Reader) (lines int, err error) {
	all, err := NewLines(text)
	if err != nil {
		return 0, err
	}
	for line, ok := all.Next(); ok; line, ok = all.Next() {
		for _, r := range readers {
			r.Line(&line)
		}
		lines = line.Number
	}
	return lines, all.Err()
}
