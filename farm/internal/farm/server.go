package farm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/farm/internal/studyfile"
)

// Own is a server of our own, in this process.
type Own struct {
	// Folder is where it keeps its streams.
	Folder string
	// Listen is an address at which others may join; "" is none, and no port.
	Listen string
	// Token that those who join must have; needed at addresses of other than this machine.
	Token string
	// Config is a file in NATS's own format, with an address, TLS, accounts and clusters; Listen, Token and Folder stand above it.
	Config string
}

// Server runs until it is closed.
type Server struct {
	*server.Server
	lock *studyfile.Lock // of its folder
}

// Start a server, and connect to it without a port.
func (o *Own) Start(say func(string)) (*Server, *nats.Conn, error) {
	opts, err := o.options()
	if err != nil {
		return nil, nil, err
	}
	if err := guarded(opts, heard(say)); err != nil {
		return nil, nil, err
	}
	us := ourselves(opts)
	lock, err := studyfile.Hold(context.Background(), filepath.Join(or2(opts.StoreDir, os.TempDir()), "memwall-farm.lock"))
	switch {
	case errors.Is(err, place.ErrHeld):
		return nil, nil, o.failed(errors.New("another sweep has its folder"))
	case err != nil:
		return nil, nil, o.failed(err)
	}
	s, err := server.NewServer(opts)
	if err != nil {
		lock.Release()
		return nil, nil, o.failed(err)
	}
	out := &Server{s, lock}
	s.Start()
	if !s.ReadyForConnections(10*time.Second) || !s.JetStreamEnabled() {
		out.Close()
		return nil, nil, o.failed(errors.New("it does not come up"))
	}
	conn, err := out.connect(us, say)
	if err != nil {
		out.Close()
		return nil, nil, o.failed(err)
	}
	return out, conn, nil
}

// connect to the server in this process.
func (s *Server) connect(us nats.Option, say func(string)) (*nats.Conn, error) {
	asked, err := (&Servers{}).options(heard(say))
	if err != nil {
		return nil, err
	}
	return nats.Connect("", append(asked, us, nats.InProcessServer(s.Server))...)
}

// ourselves is how this process comes in where a server asks who is there: by its token, or as a user beside those of a
// configuration, in the account of the first.
func ourselves(opts *server.Options) nats.Option {
	if opts.Username != "" {
		opts.Users = append(opts.Users, &server.User{Username: opts.Username, Password: opts.Password})
		opts.Username, opts.Password = "", ""
	}
	us := &server.User{Username: "memwall-farm-" + rand.Text(), Password: rand.Text()}
	switch {
	case len(opts.Users) > 0:
		us.Account = opts.Users[0].Account
	case len(opts.Nkeys) > 0:
		us.Account = opts.Nkeys[0].Account
	default:
		return nats.Token(opts.Authorization)
	}
	opts.Users = append(opts.Users, us)
	return nats.UserInfo(us.Username, us.Password)
}

// Close ends the server, once what it has is written.
func (s *Server) Close() {
	s.Shutdown()
	s.WaitForShutdown()
	s.lock.Release()
}

// maxPayload is NATS's advice for the largest message.
const maxPayload = 8 << 20

func (o *Own) options() (*server.Options, error) {
	opts := &server.Options{}
	if o.Config != "" {
		var err error
		if opts, err = server.ProcessConfigFile(o.Config); err != nil {
			return nil, &memwall.Error{Code: memwall.BadFile, Field: "server-config", Value: o.Config,
				Message: fmt.Sprintf("--server-config %s: %v", o.Config, err), Hint: "a file that nats-server -t -c takes"}
		}
		if len(opts.TrustedOperators) > 0 {
			return nil, &memwall.Error{Code: memwall.Unsupported, Field: "server-config", Value: o.Config,
				Message: "--server-config " + o.Config + ": accounts of operators want a server of their own",
				Hint:    "nats-server -c, and --nats with --creds"}
		}
	} else {
		opts.MaxPayload = maxPayload
	}
	opts.JetStream, opts.NoSigs, opts.NoLog, opts.DontListen = true, true, true, o.Listen == "" && opts.Port == 0
	if o.Folder != "" {
		opts.StoreDir = o.Folder
		if err := os.MkdirAll(o.Folder, 0o700); err != nil {
			return nil, o.failed(err)
		}
	}
	if o.Token != "" {
		if err := Strong(o.Token); err != nil && !opts.DontListen {
			return nil, err
		}
		opts.Authorization = o.Token
	}
	if o.Listen != "" {
		return opts, o.listen(opts)
	}
	return opts, nil
}

// listen at an address.
func (o *Own) listen(opts *server.Options) error {
	host, port, err := net.SplitHostPort(o.Listen)
	n, bad := strconv.Atoi(port)
	if err != nil || bad != nil || n < 0 || n > 65535 {
		return &memwall.Error{Code: memwall.BadField, Field: "listen", Value: o.Listen,
			Message: fmt.Sprintf("--listen %s is not an address", o.Listen), Hint: "--listen 127.0.0.1:4222, or 0.0.0.0:4222 for all"}
	}
	if opts.Host, opts.Port = host, n; n == 0 {
		opts.Port = server.RANDOM_PORT
	}
	return nil
}

func (o *Own) failed(err error) error {
	return &memwall.Error{Code: memwall.Remote, Field: "store", Value: o.Folder,
		Message: fmt.Sprintf("the server of our own does not start: %v", err),
		Hint:    "a folder that can be written, and a port that is free; two sweeps need two folders"}
}

// Unusable is an error of a server of our own that does not become ready: its folder is full, or damaged.
func (o *Own) Unusable(err error) error {
	e, ok := errors.AsType[*memwall.Error](err)
	if !ok || e.Code != memwall.Remote {
		return err
	}
	return &memwall.Error{Code: memwall.Remote, Field: "store", Value: o.Folder,
		Message: fmt.Sprintf("the store in %s cannot be used: %s", o.Folder, e.Message),
		Hint:    "make room on its disk; or remove the folder, if it is damaged: results that have come are kept elsewhere"}
}
