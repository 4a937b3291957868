package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/source/cache"
	"github.com/memwall/memwall/source/fetch"
)

// Sizes of what is fetched at a time. An answer is read as it comes and dropped when the header ends, so that a first
// part may be larger than most headers: those of GGUF files hold the tokenizer, 4 to 15 MB, those of safetensors files
// some 100 kB.
const (
	firstGGUF  = 16 << 20
	firstOther = 256 << 10
	growth     = 4
	// maxFetched of one file: beyond the largest header that a codec reads.
	maxFetched = 128 << 20
	// atATime is how much is read of an answer at least, and how much memory a claim of a server gets ahead of its bytes.
	atATime = 64 << 10
)

// file is a file far away, of which the first bytes are at hand. It reads on where that is not enough.
type file struct {
	finder *Finder
	name   string   // path in its place
	url    *url.URL // where it is asked for
	expect int64    // size that the service promised; -1: none
	sum    fetch.Sum
	// key of what is kept; "": nothing is until answered says it.
	key string
	// answered is told of the first answer, before anything is read.
	answered func(*file, *reply) error
	// explain makes an error of the service's own for a failure.
	explain func(name string, err error) error
	// fresh reports whether what is kept is still believed; nil: for ever.
	fresh func(cache.Record) bool
	// outdated is told when what is kept is used although nobody could be asked; nil where that cannot be.
	outdated func(cache.Record, error)

	mu     sync.Mutex
	opened bool
	at     []byte // the first bytes
	size   int64  // -1: unknown
	etag   string
	stale  *cache.Record // what is kept and to be asked about
	final  *url.URL
	body   *body
	end    int64 // of the body, in the file
	next   int64 // size of the next part
	cuts   int
	kept   int64 // bytes of it in the cache
	gaps   []gguf.Gap
	holes  *holes // in place of at, as it was kept
	told   bool   // the reader knows of the gaps
}

// begin takes what is kept, once.
func (f *file) begin() {
	if f.opened {
		return
	}
	f.opened, f.size, f.next = true, f.expect, firstOther
	if strings.EqualFold(path.Ext(f.name), ".gguf") {
		f.next = firstGGUF
	}
	f.recall()
}

// recall looks into the cache.
func (f *file) recall() {
	if f.key == "" {
		return
	}
	r, data, ok := f.finder.cache.Get(f.key)
	if !ok || f.expect >= 0 && r.Size != f.expect {
		return
	}
	f.at, f.size, f.etag, f.kept = data, r.Size, r.ETag, r.Bytes
	if len(r.Gaps) > 0 && !f.holed(data, r.Gaps) {
		f.at, f.size, f.etag, f.kept = nil, f.expect, "", 0
		return
	}
	if f.fresh != nil && !f.fresh(r) && !f.finder.offline {
		f.stale = &r
	}
}

// ReadAt reads, fetching what is not at hand.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if err := f.need(off + int64(len(p))); err != nil {
		return 0, f.explain(f.name, err)
	}
	if f.holes != nil && off+int64(len(p)) <= f.have() {
		return f.holes.read(p, off), nil
	}
	if off >= int64(len(f.at)) {
		return 0, io.EOF
	}
	n := copy(p, f.at[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Size of the whole file, bytes.
func (f *file) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin()
	if f.size < 0 || f.stale != nil {
		if err := f.need(1); err != nil {
			return 0, f.explain(f.name, err)
		}
	}
	return f.size, nil
}

// need brings the first n bytes to hand, or all there are.
func (f *file) need(n int64) error {
	for f.stale != nil || f.size < 0 || f.have() < min(n, f.size) {
		if f.stale == nil {
			f.fill()
		}
		if n > maxFetched {
			return refuse("fetch the file and give its path", "its header goes beyond the first %d MiB, and no more is fetched",
				maxFetched>>20)
		}
		if f.body == nil {
			if err := f.ask(n); err != nil {
				return err
			}
			continue
		}
		if err := f.more(min(n, f.size) - int64(len(f.at))); err != nil {
			return err
		}
	}
	return nil
}

// more reads at least n bytes of the answer, or what is left of it.
func (f *file) more(n int64) error {
	from := int64(len(f.at))
	want := min(max(n, atATime), f.end-from)
	if f.finder.client.left.Add(-want) < 0 {
		return refuse("fetch the files and give their folder", "the headers of this model take more than %d MiB", mostKept>>20)
	}
	f.at = append(f.at, make([]byte, want)...)
	got, err := io.ReadFull(f.body, f.at[from:])
	f.at = f.at[:from+int64(got)]
	if int64(len(f.at)) == f.end {
		f.drop()
		return nil
	}
	if err != nil {
		return f.cut(err)
	}
	return nil
}

// cut takes up an answer that ended early, some times.
func (f *file) cut(err error) error {
	f.drop()
	f.cuts++
	if f.cuts >= f.finder.client.limits.Tries {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = errors.New("the connection was cut")
		}
		return fmt.Errorf("after %d of %d bytes: %w", len(f.at), f.size, err)
	}
	f.finder.client.pause(f.cuts, err)
	return nil
}

func (f *file) drop() {
	if f.body != nil {
		_ = f.body.Close()
		f.body = nil
	}
}

// ask requests the next part: the one after what is at hand, and at least up to byte n.
func (f *file) ask(n int64) error {
	if f.finder.offline {
		return errOffline
	}
	q := query{url: f.url, from: int64(len(f.at)), redirected: f.final}
	if f.stale != nil {
		q.from, q.unless = 0, f.stale.ETag
	}
	size := max(f.next, n-q.from)
	q.to = q.from + size - 1
	if f.size > 0 && f.stale == nil {
		q.to = min(q.to, f.size-1)
	}
	r, err := f.finder.client.get(q)
	if f.again(err) {
		q.redirected = nil
		r, err = f.finder.client.get(q)
	}
	if err != nil {
		return f.unanswered(err)
	}
	f.next = min(f.next*growth, maxFetched)
	return f.take(r, q)
}

// again: an address that a redirect gave may have run out; the first one gives another.
func (f *file) again(err error) bool {
	s, ok := errors.AsType[*statusError](err)
	if f.final == nil || !ok || s.status != 401 && s.status != 403 && s.status != 404 && s.status != 410 {
		return false
	}
	f.final = nil
	return true
}

// unanswered: an empty file has no first part; what is kept does where nobody answers.
func (f *file) unanswered(err error) error {
	s, refused := errors.AsType[*statusError](err)
	if refused && s.status == 416 && f.size <= 0 && s.size <= 0 && len(f.at) == 0 {
		f.size, f.stale = 0, nil
		return nil
	}
	if f.stale != nil && f.outdated != nil && !refused {
		f.outdated(*f.stale, err)
		f.stale = nil
		return nil
	}
	return err
}

// take believes an answer, or says why not.
func (f *file) take(r *reply, q query) error {
	if r.StatusCode == http.StatusNotModified {
		r.close()
		return f.unchanged()
	}
	if f.stale != nil {
		f.at, f.size, f.etag, f.kept, f.stale, f.gaps, f.holes = nil, f.expect, "", 0, nil, nil, nil
	}
	first := len(f.at) == 0
	err := f.range206(r, q)
	if err == nil {
		err = f.same(r)
	}
	if err == nil && first && f.answered != nil {
		err = f.answered(f, r)
	}
	if err != nil {
		r.close()
		return err
	}
	f.final = r.url
	f.body = r.body
	return nil
}

// unchanged: what is kept holds for another while.
func (f *file) unchanged() error {
	if f.stale == nil {
		return refuse("try again", "the server says that nothing changed, and was not asked")
	}
	r := *f.stale
	f.stale = nil
	r.At = f.finder.now()
	f.finder.cache.Put(r, f.bytes())
	return nil
}

// range206 checks which part an answer is, and learns the size of the file.
func (f *file) range206(r *reply, q query) error {
	from, end, size := int64(0), r.ContentLength, r.ContentLength
	if r.StatusCode == http.StatusPartialContent {
		var ok bool
		if from, end, size, ok = contentRange(r.Header.Get("Content-Range")); !ok {
			return refuse(tryLater, "%s sends a part and does not say which", r.url.Host)
		}
	}
	switch {
	case r.StatusCode == http.StatusOK && q.from > 0:
		return refuse("fetch the file and give its path", "%s does not send parts of files", r.url.Host)
	case size < 0:
		return refuse("fetch the file and give its path", "%s does not say how long the file is", r.url.Host)
	case from != q.from || end > q.to+1 && r.StatusCode != http.StatusOK || end < from:
		return refuse(tryLater, "%s was asked for bytes %d to %d and sends %d to %d", r.url.Host, q.from, q.to, from, end-1)
	case f.size >= 0 && size != f.size:
		return refuse(tryLater, "%s says that the file has %d bytes, and %d were promised", r.url.Host, size, f.size)
	case r.size >= 0 && size != r.size:
		return refuse(tryLater, "%s says that the file has %d bytes, and the hub says %d", r.url.Host, size, r.size)
	case r.ContentLength >= 0 && r.ContentLength != end-from:
		return refuse(tryLater, "%s sends %d bytes and says that they are bytes %d to %d", r.url.Host, r.ContentLength, from, end-1)
	}
	f.size, f.end = size, end
	return nil
}

const tryLater = "try again later; a proxy or a mirror in between may be at fault"

// contentRange reads "bytes 0-99/1000".
func contentRange(s string) (from, end, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, total, ok2 := strings.Cut(s, "/")
	a, b, ok3 := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(a, 10, 64)
	last, err2 := strconv.ParseInt(b, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	if !ok || !ok2 || !ok3 || err1 != nil || err2 != nil || err3 != nil || from < 0 || last < from || last >= size {
		return 0, 0, 0, false
	}
	return from, last + 1, size, true
}

// same checks that parts are of one file.
func (f *file) same(r *reply) error {
	etag := r.Header.Get("Etag")
	if len(f.at) > 0 && f.etag != "" && etag != "" && etag != f.etag {
		return refuse("ask again", "the file changed while it was read")
	}
	if len(f.at) == 0 && len(etag) < 1024 {
		f.etag = etag
	}
	return nil
}

// finish ends a reading: the connection is let go, and what was fetched is kept.
func (f *file) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop()
	if f.key == "" || f.size < 0 || f.holes != nil || int64(len(f.at)) <= f.kept && f.size > 0 {
		return
	}
	f.kept = int64(len(f.at))
	f.finder.cache.Put(cache.Record{Key: f.key, ETag: f.etag, Size: f.size, At: f.finder.now(), Gaps: f.gaps, About: shown(f.url)},
		f.bytes())
}

// open makes a handle of it, as package source reads files.
func (f *file) open() (fs.File, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return &handle{SectionReader: io.NewSectionReader(f, 0, size), file: f, info: info{path.Base(f.name), size}}, nil
}

// handle is an open file.
type handle struct {
	*io.SectionReader
	file *file
	info info
}

func (h *handle) Stat() (fs.FileInfo, error) { return h.info, nil }

// Close ends the reading.
func (h *handle) Close() error {
	h.file.finish()
	return nil
}

// info is what is known of a file.
type info struct {
	name string
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
