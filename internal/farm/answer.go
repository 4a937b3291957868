package farm

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall/internal/study"
)

// An answer is kept compressed behind a letter: in the bucket itself, or beside it where no message holds it.
const (
	inline = 'z'
	beside = 'o'
)

// maxAnswer bounds an answer that is read back.
const maxAnswer = 256 << 20

func packed(answer []byte) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte(inline)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(answer); err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

func unpacked(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != inline {
		return nil, errors.New("what is kept is no answer")
	}
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1:])), maxAnswer+1))
	if err == nil && len(out) > maxAnswer {
		err = fmt.Errorf("an answer of more than %d bytes", maxAnswer)
	}
	return out, err
}

// kept is what became of an answer that was to be kept.
type kept int

const (
	first    kept = iota // it is the one that counts
	same                 // it was there already
	differed             // another was there
)

// keep an answer under its key, unless there is one: of several the first counts, and all must be the same. Where the
// servers have no room it waits for some; alarm is told each time.
func (f *Farm) keep(ctx context.Context, key study.Key, answer []byte, alarm func(error)) (kept, error) {
	data, err := packed(answer)
	if err != nil {
		return 0, err
	}
	value := data
	if room := f.conn.MaxPayload() - 1024; int64(len(data)) > room {
		if value, err = f.aside(ctx, key, data); err != nil {
			return 0, err
		}
	}
	err = f.persist(ctx, "the result cannot be kept", func(ctx context.Context) error {
		_, err := f.results.Create(ctx, key.String(), value)
		if full(err) {
			alarm(err)
		}
		return err
	})
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return first, err
	}
	was, err := f.answer(ctx, key)
	if err == nil && !bytes.Equal(was, answer) {
		return differed, nil
	}
	return same, err
}

// aside keeps what no message holds as an object, and gives what stands in its place. Objects are called after what they
// hold too, so that a second answer does not write over the first.
func (f *Farm) aside(ctx context.Context, key study.Key, data []byte) ([]byte, error) {
	name := key.String() + "." + digest(data)
	err := f.persist(ctx, "the result cannot be kept", func(ctx context.Context) error {
		_, err := f.large.PutBytes(ctx, name, data)
		return err
	})
	return append([]byte{beside}, name...), err
}

// answer of a key; jetstream.ErrKeyNotFound where there is none.
func (f *Farm) answer(ctx context.Context, key study.Key) ([]byte, error) {
	var data []byte
	err := f.persist(ctx, "results cannot be read", func(ctx context.Context) error {
		e, err := f.results.Get(ctx, key.String())
		if err != nil {
			return err
		}
		if data = e.Value(); len(data) > 0 && data[0] == beside {
			data, err = f.large.GetBytes(ctx, string(data[1:]))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return unpacked(data)
}
