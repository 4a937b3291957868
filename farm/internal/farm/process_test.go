package farm

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// Servers, workers and sweeps of these tests are processes: this test's own program with a part to play.

// part is what a process is to do.
type part struct {
	Role    string // server, worker or sweep
	Name    string
	URLs    string
	Tables  string
	Slots   int
	Manner  string // of answering: "", stuck, slow, dies
	Ledger  string // a file that gets a line for each question that is begun
	Folder  string
	Port    int
	Cluster int
	Routes  []string
	Text    string
	Out     string
}

const partKey = "MEMWALL_FARM_TEST_PART"

// quick are settings with which a worker's silence is soon noticed.
var quick = Settings{AckWait: time.Second, MaxDeliver: 3}

func TestMain(m *testing.M) {
	text := os.Getenv(partKey)
	if text == "" {
		flag.Parse()
		if err := flag.Set("test.parallel", "8"); err != nil { // they wait for each other more than they compute
			panic(err)
		}
		os.Exit(m.Run())
	}
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	play := map[string]func(context.Context) error{"server": p.serve, "worker": p.work, "sweep": p.sweep}[p.Role]
	if err := play(ctx); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func (p *part) serve(ctx context.Context) error {
	opts := &server.Options{ServerName: p.Name, Host: "127.0.0.1", Port: p.Port, JetStream: true, StoreDir: p.Folder, NoSigs: true,
		NoLog: true, Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: p.Cluster}}
	for _, r := range p.Routes {
		u, err := url.Parse(r)
		if err != nil {
			return err
		}
		opts.Routes = append(opts.Routes, u)
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return fmt.Errorf("not ready")
	}
	fmt.Println("ready")
	<-ctx.Done()
	s.Shutdown()
	return nil
}

func (p *part) work(ctx context.Context) error {
	conn, err := Connect(ctx, &Servers{URLs: p.URLs}, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	f, err := Open(ctx, conn, quick, func(s string) { fmt.Println(s) })
	if err != nil {
		return err
	}
	return f.Work(ctx, &Worker{Name: p.Name, Tables: p.Tables, Slots: p.Slots, Ask: p.ask})
}

// sweep with a server and a worker of its own.
func (p *part) sweep(ctx context.Context) error {
	s, err := study.Read("s.yaml", p.Text)
	if err != nil {
		return err
	}
	_, conn, err := (&Own{Folder: p.Folder}).Start(nil)
	if err != nil {
		return err
	}
	f, err := Open(ctx, conn, quick, nil)
	if err != nil {
		return err
	}
	results, err := studyfile.Create(ctx, p.Out, about(s, p.Tables, p.Text))
	if err != nil {
		return err
	}
	go func() { _ = f.Work(ctx, &Worker{Name: p.Name, Tables: p.Tables, Slots: p.Slots, Ask: p.ask}) }()
	_, err = (&Sweep{Farm: f, Study: s, Text: p.Text, Tables: p.Tables, Results: results}).Run(ctx)
	return err
}

func about(s *study.Study, tables, text string) *studyfile.Study {
	return &studyfile.Study{ID: s.ID(tables), Name: s.Name, Ask: s.Ask, Tables: tables, Points: s.Points(), Text: text}
}

// ask in a manner, and write down that it was asked.
func (p *part) ask(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
	if p.Ledger != "" {
		f, err := os.OpenFile(p.Ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(f, "%s %s %s %d %d\n", p.Name, r.Model, r.Hardware, r.Context, r.Sequences)
		_ = f.Close() // a line is written or not
	}
	switch p.Manner {
	case "stuck":
		fmt.Println("began")
		select {}
	case "dies":
		if r.Context == 4096 {
			os.Exit(3)
		}
	case "slow":
		fmt.Println("began")
		pause(ctx, 3*time.Second) // what it is slow at, three times as long as its silence may last
	case "steady":
		pause(ctx, 20*time.Millisecond)
	}
	return (&memwall.Asker{}).AskContext(ctx, r)
}

// process is a child that is told of by what it prints.
type process struct {
	*exec.Cmd
	t    *testing.T
	mu   sync.Mutex
	cond *sync.Cond
	said []string
	end  bool
}

func start(t *testing.T, p part) *process {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), partKey+"="+string(text))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child := &process{Cmd: c, t: t}
	child.cond = sync.NewCond(&child.mu)
	go child.listen(out)
	t.Cleanup(child.kill)
	return child
}

func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.mu.Lock()
		p.said = append(p.said, lines.Text())
		p.cond.Broadcast()
		p.mu.Unlock()
	}
	p.mu.Lock()
	p.end = true
	p.cond.Broadcast()
	p.mu.Unlock()
}

// await a line that holds some words.
func (p *process) await(words string) {
	p.t.Helper()
	late := time.AfterFunc(30*time.Second, func() { p.mu.Lock(); p.end = true; p.cond.Broadcast(); p.mu.Unlock() })
	defer late.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for _, line := range p.said {
			if strings.Contains(line, words) {
				return
			}
		}
		if p.end {
			p.t.Fatalf("%q was not said: %q", words, p.said)
		}
		p.cond.Wait()
	}
}

// kill it, as a machine that loses power would, and wait until it is gone.
func (p *process) kill() {
	_ = p.Process.Kill() // it may be gone already
	_ = p.Wait()
}

// asked reads a ledger: how often questions were begun, and how many there are.
func asked(t *testing.T, ledger string) (times, questions int) {
	t.Helper()
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		_, question, _ := strings.Cut(line, " ")
		seen[question] = true
		times++
	}
	return times, len(seen)
}

// port that was free a moment ago.
func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// cluster of three servers.
type cluster struct {
	t     *testing.T
	parts [3]part
	live  [3]*process
}

func newCluster(t *testing.T, names ...string) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var routes []string
	for i := range c.parts {
		c.parts[i] = part{Role: "server", Name: names[i], Folder: filepath.Join(t.TempDir(), "js"), Port: port(t), Cluster: port(t)}
		routes = append(routes, fmt.Sprintf("nats-route://127.0.0.1:%d", c.parts[i].Cluster))
	}
	for i := range c.parts {
		c.parts[i].Routes = routes
		c.start(i)
	}
	for i := range c.live {
		c.live[i].await("ready")
	}
	return c
}

func (c *cluster) start(i int) { c.live[i] = start(c.t, c.parts[i]) }

func (c *cluster) urls() string {
	var all []string
	for _, p := range c.parts {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", p.Port))
	}
	return strings.Join(all, ",")
}
