package farm

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// record is an answer as the servers keep it: a line of JSON, which is signed and has the digest of what follows, and the
// answer by studyfile.Pack. It stands under the question's key and its worker's ID, so that nobody's answer takes the
// place of another's.
type record struct {
	Version int     `json:"v"`
	Worker  string  `json:"worker"`
	Public  []byte  `json:"public"`
	Took    float64 `json:"took_s"`
	Sum     string  `json:"sha256"` // of the packed answer
	Sig     []byte  `json:"sig,omitempty"`

	packed []byte
}

// recordVersion is that of the records that are written and read.
const recordVersion = 1

// maxHead bounds the first line of a record, maxRecord all of it: an answer that does not become smaller is a little longer
// packed.
const (
	maxHead   = 1 << 10
	maxRecord = studyfile.MaxAnswer + 32<<10
)

// badRecord is a record that is not what it says. Whom it names did not sign it so, and is not to blame.
type badRecord struct{ why string }

func (e *badRecord) Error() string { return e.why }

func badly(why string, args ...any) error { return &badRecord{fmt.Sprintf(why, args...)} }

// isBad tells what asking again may mend from servers that do not answer.
func isBad(err error) bool {
	var b *badRecord
	return errors.As(err, &b)
}

// head is what is signed: the first line without the signature, for one question.
func (r *record) head(key study.Key) ([]byte, error) {
	bare := *r
	bare.Sig = nil
	text, err := json.Marshal(&bare)
	return append([]byte("memwall-farm answer "+key.String()+"\n"), text...), err
}

// recordOf an answer to a question, signed.
func recordOf(by *Identity, key study.Key, answer []byte, took float64) (*record, error) {
	packed, err := studyfile.Pack(answer)
	if err != nil {
		return nil, err
	}
	r := &record{Version: recordVersion, Worker: by.name, Public: by.public(), Took: took, Sum: digest(packed), packed: packed}
	text, err := r.head(key)
	if err == nil {
		r.Sig = by.sign(text)
	}
	return r, err
}

// signed: the record is of who it says, for this question.
func (r *record) signed(key study.Key, id string) bool {
	text, err := r.head(key)
	return err == nil && len(r.Public) == ed25519.PublicKeySize && idOf(r.Public) == id && ed25519.Verify(r.Public, text, r.Sig)
}

func (r *record) write() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(append(text, '\n'), r.packed...), err
}

// readRecord reads what write writes, and refuses what its worker did not sign.
func readRecord(key study.Key, id string, data []byte) (*record, error) {
	head, _, ok := bytes.Cut(data[:min(len(data), maxHead)], []byte("\n"))
	r := &record{}
	if !ok || json.Unmarshal(head, r) != nil {
		return nil, badly("it is not a record of an answer")
	}
	r.packed = data[len(head)+1:]
	switch {
	case r.Version != recordVersion:
		return nil, badly("it is a record of version %d, and this memwall-farm reads version %d", r.Version, recordVersion)
	case !r.signed(key, id):
		return nil, badly("it is not signed by who it says")
	case digest(r.packed) != r.Sum:
		return nil, badly("it is damaged")
	}
	return r, nil
}

// keep an answer under its question and its worker. Where the servers have no room it waits for some; alarm is told each
// time.
func (f *Farm) keep(ctx context.Context, by *Identity, key study.Key, answer []byte, took float64, alarm func(error)) error {
	r, err := recordOf(by, key, answer, took)
	if err != nil {
		return err
	}
	value, err := r.write()
	if err != nil {
		return err
	}
	return f.persist(ctx, "the result cannot be kept", func(ctx context.Context) error {
		_, err := f.results.Put(ctx, recordKey(key, by.ID()), value)
		if full(err) && alarm != nil {
			alarm(err)
		}
		return err
	})
}

func recordKey(key study.Key, id string) string { return key.String() + "." + id }

// record of a question by a worker; jetstream.ErrKeyNotFound where there is none.
func (f *Farm) record(ctx context.Context, key study.Key, id string) (r *record, err error) {
	err = f.persist(ctx, "results cannot be read", func(ctx context.Context) error {
		e, err := f.results.Get(ctx, recordKey(key, id))
		if err == nil {
			r, err = readRecord(key, id, e.Value())
		}
		return err
	})
	return r, err
}

// mostRecords of one question that are looked at: two workers that took the same task leave two.
const mostRecords = 16

// answered says who of those not refused left a sound record of a question; jetstream.ErrKeyNotFound where nobody did.
func (f *Farm) answered(ctx context.Context, key study.Key, refused func(id string) bool) (id string, err error) {
	before := "$KV." + results + "." + key.String() + "."
	next := uint64(1)
	for range mostRecords {
		var m *jetstream.RawStreamMsg
		err := f.persist(ctx, "results cannot be read", func(ctx context.Context) (err error) {
			m, err = f.kept.GetMsg(ctx, next, jetstream.WithGetMsgSubject(before+"*"))
			return err
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return "", err
		}
		next, id = m.Sequence+1, strings.TrimPrefix(m.Subject, before)
		if _, err = readRecord(key, id, m.Data); err == nil && !refused(id) {
			return id, nil
		}
	}
	return "", jetstream.ErrKeyNotFound
}
