package farm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/memwall/memwall"
)

// Servers are where a farm is, and what they are to be told; all of it is NATS's own.
type Servers struct {
	URLs string // one or more, with commas
	// Creds is a file of credentials, CA the authority that the servers' certificates are of, Cert and Key the client's own.
	Creds, CA, Cert, Key, Token string
	// Patience is how long servers that cannot be reached are tried again: 30 s.
	Patience time.Duration
}

// Connect finds a server. What cannot be reached is tried again with longer pauses, until the patience ends; what refuses
// us is not.
func Connect(ctx context.Context, s *Servers, say func(string)) (*nats.Conn, error) {
	say = heard(say)
	opts, err := s.options(say)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, or(s.Patience, 30*time.Second))
	defer stop()
	pause := 200 * time.Millisecond
	for first := true; ; first = false {
		conn, err := nats.Connect(s.URLs, opts...)
		if err == nil {
			return conn, nil
		}
		if hopeless(err) {
			return nil, s.unreached(err)
		}
		if first {
			say(fmt.Sprintf("no server at %s yet (%v): trying again", s.shown(), plain(err)))
		}
		select {
		case <-ctx.Done():
			return nil, s.unreached(err)
		case <-time.After(pause):
		}
		pause = min(2*pause, 4*time.Second)
	}
}

// heard is who is told, or nobody.
func heard(say func(string)) func(string) {
	if say == nil {
		return func(string) {}
	}
	return say
}

// hopeless: another try would end like this one.
func hopeless(err error) bool {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var cert *tls.CertificateVerificationError
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrSecureConnRequired) ||
		errors.Is(err, nats.ErrSecureConnWanted) ||
		errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &cert) || strings.Contains(err.Error(), "parse")
}

// unknown: the server wants a certificate that we lack. It says so, or hangs up, whichever comes first.
func unknown(err error) bool {
	return strings.Contains(err.Error(), "certificate required") || strings.Contains(err.Error(), "after TLS handshake")
}

func (s *Servers) unreached(err error) error {
	e := &memwall.Error{Code: memwall.Remote, Field: "nats", Value: s.shown(),
		Message: fmt.Sprintf("no NATS server answers at %s: %v", s.shown(), plain(err)),
		Hint:    "--nats nats://HOST:4222, several with commas; memwall-farm sweep without --nats needs none"}
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		e.Message = "the NATS server at " + s.shown() + " refuses us: it knows neither our credentials nor our token"
		e.Hint = "--creds FILE, or MEMWALL_FARM_TOKEN"
	case unknown(err):
		e.Hint = "--tls-cert FILE and --tls-key FILE, of a certificate that the server takes"
	case hopeless(err):
		e.Hint = "--tls-ca FILE of the authority that its certificate is of"
	}
	return e
}

// shown are the servers without passwords.
func (s *Servers) shown() string {
	all := strings.Split(s.URLs, ",")
	for i, u := range all {
		if at := strings.LastIndex(u, "@"); at >= 0 {
			scheme, _, _ := strings.Cut(u, "://")
			all[i] = scheme + "://…" + u[at:]
		}
	}
	return strings.Join(all, ",")
}

// options of the connection, which is kept up by the client: it goes from server to server while they come and go.
func (s *Servers) options(say func(string)) ([]nats.Option, error) {
	opts := []nats.Option{
		nats.Name("memwall-farm"), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(3),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say(fmt.Sprintf("lost the server (%s): looking for it", plain(err)))
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { say("found a server again: " + c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what fails is told by who asked
	}
	for flag, file := range map[string]string{"creds": s.Creds, "tls-ca": s.CA, "tls-cert": s.Cert, "tls-key": s.Key} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return nil, &memwall.Error{Code: memwall.BadFile, Field: flag, Value: file,
				Message: fmt.Sprintf("--%s %s cannot be read", flag, file), Hint: "a file that is there"}
		}
	}
	if s.Creds != "" {
		opts = append(opts, nats.UserCredentials(s.Creds))
	}
	if s.CA != "" {
		opts = append(opts, nats.RootCAs(s.CA))
	}
	if s.Cert != "" || s.Key != "" {
		opts = append(opts, nats.ClientCert(s.Cert, s.Key))
	}
	if s.Token != "" {
		opts = append(opts, nats.Token(s.Token))
	}
	return opts, nil
}
