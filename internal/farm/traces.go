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
)

const digestPrefix = "sha256:"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Digests reads the traces that a study names, and gives it back with what they hold in place of their names. They lie
// beside the study file; digests are by name, files by digest.
func Digests(s *study.Study, folder string) (known *study.Study, digests, files map[string]string, err error) {
	digests, files = map[string]string{}, map[string]string{}
	for _, name := range s.Traces() {
		at := name
		if !filepath.IsAbs(name) {
			at = filepath.Join(folder, name)
		}
		sum, err := digestOf(at)
		if err != nil {
			return nil, nil, nil, &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name, Message: fmt.Sprintf("trace %s cannot be read", name), Hint: "a file, by its name from where the study lies"}
		}
		digests[name], files[sum] = sum, at
	}
	return s.Digested(digests), digests, files, nil
}

func digestOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return digestPrefix + hex.EncodeToString(h.Sum(nil)), nil
}

// Files opens traces by their digests where they lie. It is what a run without a farm reads them by.
type Files map[string]string

// Trace opens one.
func (f Files) Trace(name string) (io.ReadCloser, error) {
	at, ok := f[name]
	if !ok {
		return nil, absent(name)
	}
	return os.Open(at)
}

func absent(name string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "workload.trace", Value: name, Message: "trace " + name + " is not in the farm's store", Hint: "start the sweep again, which brings its traces"}
}

// bring puts traces into the store, each once.
func (f *Farm) bring(ctx context.Context, files map[string]string) error {
	for sum, name := range files {
		info, err := f.traces.GetInfo(ctx, sum)
		if err == nil && !info.Deleted {
			continue
		}
		if err := f.upload(ctx, sum, name); err != nil {
			return err
		}
	}
	return nil
}

// upload has no limit of time but the caller's: a trace may be long.
func (f *Farm) upload(ctx context.Context, sum, name string) error {
	in, err := os.Open(name)
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

// fetch checks what came by its digest.
func (c *cache) fetch(name, at string) error {
	err := c.farm.persist(c.ctx, "a trace cannot be fetched", func(context.Context) error { return c.farm.traces.GetFile(c.ctx, name, at) })
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return absent(name)
	}
	if err != nil {
		return err
	}
	sum, err := digestOf(at)
	if err == nil && sum != name {
		err = fmt.Errorf("trace %s came as %s", name, sum)
	}
	return err
}
