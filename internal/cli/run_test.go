package cli_test

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
)

// fakeEngine prints a log and answers as a server does that has loaded its model. FAKE_LOG is what it prints, FAKE_DIES its exit
// code where it does not serve.
func fakeEngine() {
	text, _ := os.ReadFile(os.Getenv("FAKE_LOG"))
	_, _ = os.Stderr.Write(text)
	if os.Getenv("FAKE_DIES") != "" {
		os.Exit(1)
	}
	at := slices.Index(os.Args, "--host")
	flags := flag.NewFlagSet("engine", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	host, port := flags.String("host", "", ""), flags.Int("port", 0, "")
	if at < 0 || flags.Parse(os.Args[at:]) != nil {
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	asked := 0
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 2 {
			w.WriteHeader(http.StatusServiceUnavailable) // the model is being loaded
		}
	}))
}

// freePort is one where nobody listens.
func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}
