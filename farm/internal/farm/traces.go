package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/source/regular"
)

const digestPrefix = "sha256:"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Digests reads the traces that a study names, and gives it back with what they hold in place of their names. They lie
// under the folder of the study file, links that lead out of it do not count; digests are by name, files by digest.
func Digests(s *study.Study, folder string) (known *study.Study, digests map[string]string, files Files, err error) {
	digests, files = map[string]string{}, Files{}
	for _, name := range s.Traces() {
		file := traceFile{folder, name}
		sum, err := file.digest()
		if err != nil {
			return nil, nil, nil, &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name,
				Message: fmt.Sprintf("trace %s cannot be read: %v", name, regular.Cause(err)),
				Hint:    "a file under the folder of the study, by its name from there"}
		}
		digests[name], files[sum] = sum, file
	}
	return s.Digested(digests), digests, files, nil
}

// traceFile is a file under a folder.
type traceFile struct{ folder, name string }

// open the file, and nothing that is none or lies elsewhere.
func (f traceFile) open() (*os.File, error) {
	root, err := os.OpenRoot(f.folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what was opened in it stays open
	switch info, err := root.Stat(f.name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case info.Size() > maxTrace:
		return nil, fmt.Errorf("it has more than %d bytes", int64(maxTrace))
	}
	return root.Open(f.name)
}

func (f traceFile) digest() (string, error) {
	file, err := f.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	return digestOf(file)
}

func digestOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return digestPrefix + hex.EncodeToString(h.Sum(nil)), nil
}

// Files opens traces by their digests where they lie. It is what a run without a farm reads them by.
type Files map[string]traceFile

// Trace opens one.
func (f Files) Trace(name string) (io.ReadCloser, error) {
	at, ok := f[name]
	if !ok {
		return nil, absent(name)
	}
	return at.open()
}

func absent(name string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name,
		Message: "trace " + name + " is not in the farm's store", Hint: "start the sweep again, which brings its traces"}
}

// bring puts traces into the store, each once.
func (f *Farm) bring(ctx context.Context, files Files) error {
	for sum, file := range files {
		info, err := f.traces.GetInfo(ctx, sum)
		if err == nil && !info.Deleted {
			continue
		}
		if err := f.upload(ctx, sum, file); err != nil {
			return err
		}
	}
	return nil
}

// upload has no limit of time but the caller's: a trace may be long.
func (f *Farm) upload(ctx context.Context, sum string, file traceFile) error {
	in, err := file.open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	_, err = f.traces.Put(ctx, jetstream.ObjectMeta{Name: sum}, in)
	return err
}

// cache keeps the traces that a worker has read: each is fetched once.
type cache struct {
	farm   *Farm
	ctx    context.Context //nolint:containedctx // TraceSource has none, and a trace may be fetched for long
	folder string
	mu     sync.Mutex
	have   map[string]*fetched
}

type fetched struct {
	once sync.Once
	err  error
}

// Trace opens a trace, which is fetched where it is not here yet.
func (c *cache) Trace(name string) (io.ReadCloser, error) {
	sum, ok := strings.CutPrefix(name, digestPrefix)
	if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
		return nil, absent(name)
	}
	c.mu.Lock()
	one := c.have[sum]
	if one == nil {
		one = &fetched{}
		c.have[sum] = one
	}
	c.mu.Unlock()
	at := filepath.Join(c.folder, sum)
	if one.once.Do(func() { one.err = c.fetch(name, at) }); one.err != nil {
		c.mu.Lock()
		delete(c.have, sum) // the next who asks tries again
		c.mu.Unlock()
		return nil, one.err
	}
	return os.Open(at)
}

// maxTrace bounds a trace, in bytes.
const maxTrace = 4 << 30

// fetch checks what came by its digest.
func (c *cache) fetch(name, at string) error {
	err := c.farm.persist(c.ctx, "a trace cannot be fetched", func(context.Context) error { return c.farm.download(c.ctx, name, at) })
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return absent(name)
	}
	if err != nil {
		return err
	}
	sum, err := traceFile{filepath.Dir(at), filepath.Base(at)}.digest()
	if err == nil && sum != name {
		err = fmt.Errorf("trace %s came as %s", name, sum)
	}
	return err
}

// download a trace, and no more of it than a trace has; it takes as long as it takes.
func (f *Farm) download(ctx context.Context, name, at string) error {
	in, err := f.traces.Get(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.Create(at)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxTrace))
	return errors.Join(err, out.Close())
}
