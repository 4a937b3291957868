package farm

import (
	"bytes"
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/internal/studyfile"
)

// An answer is kept compressed behind a letter: in the bucket itself, or beside it where no message holds it.
const (
	inline = 'z'
	beside = 'o'
)

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
	packed, err := studyfile.Pack(answer)
	if err != nil {
		return 0, err
	}
	data := append([]byte{inline}, packed...)
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
	was, _, err := f.answer(ctx, key)
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

// answer of a key, and the same packed; jetstream.ErrKeyNotFound where there is none.
func (f *Farm) answer(ctx context.Context, key study.Key) (answer, packed []byte, err error) {
	var data []byte
	err = f.persist(ctx, "results cannot be read", func(ctx context.Context) error {
		e, err := f.results.Get(ctx, key.String())
		if err != nil {
			return err
		}
		if data = e.Value(); len(data) > 0 && data[0] == beside {
			data, err = f.large.GetBytes(ctx, string(data[1:]))
		}
		return err
	})
	if err == nil && (len(data) == 0 || data[0] != inline) {
		err = errors.New("what is kept is no answer")
	}
	if err != nil {
		return nil, nil, err
	}
	answer, err = studyfile.Unpack(data[1:])
	return answer, data[1:], err
}
