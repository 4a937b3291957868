package studyfile

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// Answers are kept compressed, on servers and in tables alike. Writers and readers are used again: a new one takes more
// time than a small answer.
var (
	writers = sync.Pool{New: func() any {
		w, err := flate.NewWriter(nil, flate.BestSpeed)
		if err != nil {
			panic(err) // the level is one that there is
		}
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// Pack compresses an answer.
func Pack(answer []byte) ([]byte, error) {
	var b bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&b)
	_, err := w.Write(answer)
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// MaxAnswer bounds an answer, in bytes: some fifteen times the longest there is, and one message of any NATS server.
const MaxAnswer = 960 << 10

// Unpack gives an answer back.
func Unpack(packed []byte) ([]byte, error) {
	r := readers.Get().(io.Reader)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, MaxAnswer+1))
	if err == nil && len(out) > MaxAnswer {
		err = fmt.Errorf("an answer of more than %d bytes", MaxAnswer)
	}
	return out, err
}
