package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/serve"
)

func (a *app) serve() *cobra.Command {
	listen := "127.0.0.1:8422"
	c := &cobra.Command{
		Use: "serve RESULTS", Short: "a web page of a study, which follows it while it runs",
		Args:    one("results", "memwall-farm serve study.db"),
		Example: "memwall-farm serve study.db\nmemwall-farm serve study.db --listen 127.0.0.1:9000",
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := reportOf(c.Context(), args[0], nil, nil); err != nil {
				return err
			}
			present, err := a.present(listen, args[0])
			if err != nil {
				return err
			}
			return present(c.Context())
		},
	}
	c.Flags().StringVar(&listen, "listen", listen, "address; others than this machine's need a token in MEMWALL_TOKEN, or one is made")
	return c
}

// present a study in the pages of memwall; what it gives serves them until a context ends.
func (a *app) present(listen, where string) (func(context.Context) error, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, bad("listen", listen, fmt.Sprintf("%s cannot be listened on: %v", listen, err), "127.0.0.1:0 for any free port")
	}
	token := a.env("MEMWALL_TOKEN")
	if t, ok := l.Addr().(*net.TCPAddr); token == "" && !(ok && t.IP.IsLoopback()) {
		token = rand.Text()
		a.say("token, shown this once: " + token)
	}
	kept := &lately{where: where}
	s, err := serve.New(serve.Options{Desk: desk.New(desk.Options{Asker: memwall.Asker{Models: memwall.Catalog{}}, Faults: a.err}),
		Models: memwall.Catalog{}, Fixed: true, Token: token, Study: kept.report})
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	a.say(fmt.Sprintf("the study is at http://%s/study", l.Addr()))
	return func(ctx context.Context) error { return s.Serve(ctx, l) }, nil
}

// lately is a report that is not made anew for everybody who looks.
type lately struct {
	where string
	mu    sync.Mutex
	at    time.Time
	last  *card.Study
}

func (k *lately) report(ctx context.Context) (*card.Study, error) {
	const fresh = time.Second
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil && time.Since(k.at) < fresh {
		return k.last, nil
	}
	s, err := reportOf(ctx, k.where, nil, nil)
	if err == nil {
		k.at, k.last = time.Now(), s
	}
	return s, err
}
