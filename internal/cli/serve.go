package cli

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/aside"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/mcp"
	"github.com/memwall/memwall/internal/serve"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/unit"
)

// serveFlags holds the flags of serve and mcp.
type serveFlags struct {
	listen    string
	tokenFile string
	hosts     []string
	root      string
	allow     []string
	limit     time.Duration
	cert, key string
	accessLog string
	origins   []string
	aside     bool
}

// reach adds the flags that limit which models may be named.
func (f *serveFlags) reach(c *cobra.Command) {
	c.Flags().StringVar(&f.root, "root", "", "folder with model files that requests may name; default: only catalog models")
	c.Flags().StringArrayVar(&f.allow, "allow", nil, "model to allow besides catalog models: a path, hf:ORG/NAME or an address, word for word; repeat it for more")
	c.Flags().DurationVar(&f.limit, "limit", time.Minute, "time limit for an answer; searches return what they have by then")
}

// usualListen is the default address of a server.
const usualListen = "127.0.0.1:8421"

func (a *app) serve() *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use: "serve", Short: "the web page, and the same answers over HTTP for programs and agents",
		Long: "Open the address that it prints in a browser. POST /v1/fit and the other questions accept a JSON request and return a JSON answer; /openapi.json describes them all. " +
			"Only this machine can connect, unless --listen says otherwise. All requests then need a bearer token: from --token-file or MEMWALL_TOKEN, or one that is generated and shown once. " +
			"Requests open no files or connections; --root and --allow set which models may be read.",
		Example: "memwall serve\nmemwall serve --listen 127.0.0.1:9000\nmemwall serve --listen 0.0.0.0:8421 --token-file token.txt\nmemwall serve --listen 0.0.0.0:8421 --tls-cert cert.pem --tls-key key.pem\ncurl -s localhost:8421/v1/fit -H 'Content-Type: application/json' -d '{\"model\":\"llama-3.1-8b\",\"hardware\":\"rtx-4090\"}'",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return a.runServe(f) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.listen, "listen", usualListen, "address and port to listen on; addresses other than this machine's own require a token")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the bearer token; MEMWALL_TOKEN works too")
	c.Flags().StringArrayVar(&f.hosts, "host", nil, "host name that clients use, behind a proxy; repeat it for more")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "file with the certificate and its chain, in PEM: HTTPS instead of HTTP")
	c.Flags().StringVar(&f.key, "tls-key", "", "file with the certificate's private key, in PEM")
	c.Flags().StringVar(&f.accessLog, "access-log", "", "append a JSON line per request to this file, without its content; - is standard error")
	c.Flags().StringArrayVar(&f.origins, "cors", nil, "origin whose pages may call the API from a browser, such as https://example.org; repeat it for more")
	c.Flags().BoolVar(&f.aside, "aside", false, "answer the questions of a server on standard input")
	_ = c.Flags().MarkHidden("aside") // the flag exists
	f.reach(c)
	return c
}

// originsOf validates the allowed origins, in the form that browsers send.
func originsOf(list []string) error {
	for _, o := range list {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o || u.Scheme != "https" && u.Scheme != "http" {
			return usage("cors", o, fmt.Sprintf("--cors %s is not an origin", o), "--cors https://example.org, without a path")
		}
	}
	return nil
}

func (a *app) runServe(f *serveFlags) error {
	if err := originsOf(f.origins); err != nil {
		return err
	}
	token, err := a.token(f)
	if err != nil {
		return err
	}
	asker, err := a.served(f)
	if err != nil {
		return err
	}
	if f.aside {
		tasks := serve.Tasks()
		maps.Copy(tasks, mcp.Tasks())
		return aside.Answer(a.Stdin, a.Stdout, asker, tasks)
	}
	options := desk.Options{Asker: asker, Limit: f.limit, Faults: a.Stderr}
	if a.Self != nil {
		away := a.aside(f)
		defer away.Close()
		options.Aside = away
	}
	d := desk.New(options)
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return &memwall.Error{Code: memwall.BadField, Field: "listen", Value: f.listen, Message: fmt.Sprintf("--listen %s: %v", f.listen, err), Hint: "--listen 127.0.0.1:0 for any free port"}
	}
	defer l.Close() //nolint:errcheck // the server closes it
	certificate, err := a.certificate(f)
	if err != nil {
		return err
	}
	access, err := a.accessLog(f.accessLog)
	if err != nil {
		return err
	}
	defer access.Close() //nolint:errcheck // each line was written when due
	made := false
	if token == "" && (!local(l.Addr()) || len(f.hosts) > 0) {
		token, made = rand.Text(), true
	}
	agents, err := mcp.New(d, asker.Models)
	if err != nil {
		return err
	}
	s, err := serve.New(serve.Options{Desk: d, Models: asker.Models, Fixed: f.root == "" && len(f.allow) == 0, Token: token, Hosts: f.hosts, Origins: f.origins, Access: access.to, Agents: agents.Handler()})
	if err != nil {
		return err
	}
	scheme := "http"
	if certificate != nil {
		scheme, l = "https", tls.NewListener(l, certificate)
	}
	fmt.Fprintf(a.Stderr, "memwall answers at %s://%s/ until it is interrupted\n", scheme, l.Addr())
	if made {
		fmt.Fprintf(a.Stderr, "token, shown this once: %s\nin a browser: %s://%s/?token=%s\n", token, scheme, l.Addr(), token)
	}
	if a.Env("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(d.Threads())
	}
	if a.Env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(d.Heap(a.freeMemory()))
	}
	ctx, stop := a.until()
	defer stop()
	return s.Serve(ctx, l)
}

// freeMemory returns the free memory of this machine; 0 if unknown.
func (a *app) freeMemory() unit.Bytes {
	if m, ok := a.Machine.(interface{ Memory() *card.LocalHost }); ok && m.Memory() != nil {
		return m.Memory().Free
	}
	return 0
}

// local reports whether an address is reachable only from this machine.
func local(addr net.Addr) bool {
	t, ok := addr.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

// shortestToken is the least length of a token that is hard to guess.
const shortestToken = 16

// token returns the user's token; "" if there is none.
func (a *app) token(f *serveFlags) (string, error) {
	token, from := a.Env("MEMWALL_TOKEN"), "MEMWALL_TOKEN"
	if f.tokenFile != "" {
		from = "--token-file"
		file, err := a.OpenFile(f.tokenFile)
		if err != nil {
			return "", usage("token-file", f.tokenFile, "--token-file "+f.tokenFile+" cannot be read", "a file with the token on its first line")
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, 4096))
		if err != nil {
			return "", usage("token-file", f.tokenFile, "--token-file "+f.tokenFile+" cannot be read", "a file with the token on its first line")
		}
		token, _, _ = strings.Cut(string(text), "\n")
		if token = strings.TrimSpace(token); token == "" {
			return "", usage("token-file", f.tokenFile, "--token-file "+f.tokenFile+" is empty", "a file with the token on its first line")
		}
	}
	if token != "" && len(token) < shortestToken {
		return "", usage("token", "", fmt.Sprintf("the token of %s is shorter than %d characters", from, shortestToken), "leave it out, and one is made")
	}
	return token, nil
}

// served returns the asker of a server: catalog models, and what flags allow.
func (a *app) served(f *serveFlags) (asker memwall.Asker, err error) {
	if err := a.tune(""); err != nil {
		return asker, err
	}
	models := memwall.ModelSource(source.Inline{Rest: memwall.Catalog{}})
	if f.root != "" {
		if a.Within == nil {
			return asker, usage("root", f.root, "--root: no files are read here", "leave it out")
		}
		within, err := a.Within(f.root)
		if err != nil {
			return asker, usage("root", f.root, "--root "+f.root+" is not a readable folder", "a folder with models")
		}
		models = within
	}
	if len(f.allow) > 0 {
		models = source.Listed{Names: f.allow, Those: a.Models, Rest: models}
	}
	if f.limit <= 0 {
		return asker, usage("limit", f.limit.String(), "--limit "+f.limit.String()+" leaves no time", "--limit 1m")
	}
	return memwall.Asker{Models: models, Calibration: a.asker.Calibration, Evidence: a.asker.Evidence}, nil
}

// aside returns processes for long questions, which run this program with the same models.
func (a *app) aside(f *serveFlags) *aside.Pool {
	args := []string{"serve", "--aside", "--root=" + f.root}
	for _, ref := range f.allow {
		args = append(args, "--allow="+ref)
	}
	heap := desk.HeapAside(a.freeMemory())
	return aside.New(func() *exec.Cmd {
		c := a.Self(args...)
		c.Env, c.Stderr = aside.Environment(c.Environ(), heap), a.Stderr
		return c
	})
}
