package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"time"
)

// What ends a wait.
var (
	errSilent  = errors.New("no answer in time")
	errStalled = errors.New("the transfer stopped")
	errSlow    = errors.New("the transfer is too slow to end")
)

// body is the body of an answer, which ends when nothing comes for a while or too little in all.
type body struct {
	rc     io.ReadCloser
	ctx    context.Context // of the request
	stop   context.CancelCauseFunc
	stall  time.Duration
	timer  *time.Timer
	end    *time.Timer
	length int64 // -1: unknown
	read   int64
}

func newBody(ctx context.Context, stop context.CancelCauseFunc, l Limits, rc io.ReadCloser, length int64) *body {
	whole := l.Answer + maxFetched/time.Duration(l.Rate)*time.Second
	if length >= 0 && length < maxFetched {
		whole = l.Answer + time.Duration(length/l.Rate)*time.Second
	}
	return &body{
		rc: rc, ctx: ctx, stop: stop, stall: l.Stall, length: length,
		timer: time.AfterFunc(l.Stall, func() { stop(errStalled) }),
		end:   time.AfterFunc(whole, func() { stop(errSlow) }),
	}
}

// Read reads, and says why it was given up.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	b.read += int64(n)
	if err == nil {
		b.timer.Reset(b.stall)
		return n, nil
	}
	if why := context.Cause(b.ctx); why != nil {
		err = why
	}
	return n, err
}

// Close gives the connection back when little is left to read, and drops it otherwise.
func (b *body) Close() error {
	b.timer.Stop()
	if left := b.length - b.read; b.length >= 0 && left > 0 && left <= 64<<10 {
		_, _ = io.CopyN(io.Discard, b.rc, left)
	}
	b.end.Stop()
	err := b.rc.Close()
	b.stop(nil)
	return err
}

func isCertificate(err error) bool {
	var v *tls.CertificateVerificationError
	var u x509.UnknownAuthorityError
	var h x509.HostnameError
	return errors.As(err, &v) || errors.As(err, &u) || errors.As(err, &h)
}

// unreachable: nobody answered the dial for as long as was waited, which another wait would not change.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && op.Timeout()
}

func noSuchHost(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && d.IsNotFound
}
