package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/internal/observe"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/source/remote"
	"github.com/memwall/memwall/unit"
)

// pageTime is how long a page may take; a moment waits no longer for any of them.
const pageTime = 1500 * time.Millisecond

// doors are where engines answer by themselves: the port, and the path of their metrics.
var doors = map[string]struct{ port, path, fix string }{
	"vllm":         {"8000", "/metrics", ""},
	"sglang":       {"30000", "/metrics", "start it with --enable-metrics"},
	"tensorrt-llm": {"8000", "/prometheus/metrics", "set return_perf_metrics in its configuration"},
	"llama-server": {"8080", "/metrics", "start it with --metrics"},
	"ollama":       {"11434", "/api/ps", ""},
	"tgi":          {"3000", "/metrics", ""},
}

// page is the address of an engine's metrics on this machine; "" where it has none.
func (e *engine) page() string {
	door, ok := doors[e.name]
	if !ok {
		return ""
	}
	port := door.port
	for i, a := range e.command.Args {
		name, value, attached := strings.Cut(a, "=")
		if !attached && i+1 < len(e.command.Args) {
			value = e.command.Args[i+1]
		}
		if _, err := strconv.ParseUint(value, 10, 16); name == "--port" && err == nil {
			port = value
		}
	}
	if host, set := e.command.Getenv("OLLAMA_HOST"); set && e.name == "ollama" {
		if i := strings.LastIndexByte(host, ':'); i >= 0 {
			if _, err := strconv.ParseUint(host[i+1:], 10, 16); err == nil {
				port = host[i+1:]
			}
		}
	}
	return "http://" + net.JoinHostPort("127.0.0.1", port) + door.path
}

// shown is an address without what is secret in it.
func shown(address string) string { return argv.Blotted(address) }

// reading is what a page said, with what the rates of the next need.
type reading struct {
	live.Reading
	engine, model string
	loaded        *loaded
	raw           *observe.Reading
	at            time.Time
}

// loaded is a model that a page says is in memory.
type loaded struct {
	model   string
	context int64
}

// page is an address that is read again and again, by one fetch at a time.
type page struct {
	busy  chan fetched // nil: none in flight
	began time.Time
	last  *reading
}

type fetched struct {
	text []byte
	err  error
	at   time.Time
}

// begin starts a fetch, if none is in flight.
func (w *Watcher) begin(address string) {
	if address == "" || w.Page == nil {
		return
	}
	p := w.pages[address]
	if p == nil {
		p = &page{}
		w.pages[address] = p
	}
	if p.busy != nil {
		return
	}
	done := make(chan fetched, 1)
	p.busy, p.began = done, w.Now()
	go func() {
		ctx, stop := context.WithTimeout(w.ctx, pageTime)
		defer stop()
		text, err := w.Page(ctx, address, observe.MaxBytes)
		done <- fetched{text, err, w.Now()}
	}()
}

// errWait is a page that is still awaited.
var errWait = errors.New("no answer in time")

// await gives what a fetch brought.
func (p *page) await(until <-chan time.Time) fetched {
	select {
	case f := <-p.busy:
		p.busy = nil
		return f
	case <-until:
		return fetched{err: errWait}
	}
}

// metrics are what an engine's page says, or why it says nothing.
func (w *Watcher) metrics(e *engine, address string) (*reading, string) {
	p := w.pages[address]
	if p == nil || p.busy == nil {
		return nil, ""
	}
	f := p.await(w.until)
	if f.err != nil {
		return nil, whyNot(f.err, e)
	}
	r, err := read(f.text, e)
	if err != nil {
		return nil, err.Error()
	}
	r.at = f.at
	r.rates(p.last)
	p.last = r
	return r, ""
}

// whyNot says why a page could not be had, with what would help.
func whyNot(err error, e *engine) string {
	fix := doors[e.name].fix
	switch status := remote.Status(err); {
	case fix != "" && (status == 404 || status == 501):
		return fmt.Sprintf("answered %d: %s", status, fix)
	case status == 401, status == 403:
		return fmt.Sprintf("answered %d: it wants a key, and memwall sends none", status)
	}
	return remote.Why(err)
}

// read makes a reading of a page.
func read(text []byte, e *engine) (*reading, error) {
	if list, err := observe.ReadOllama(text); err == nil {
		return ofOllama(list), nil
	} else if e.name == "ollama" {
		return nil, err
	}
	raw, err := observe.Read(text)
	if err != nil {
		return nil, err
	}
	r := &reading{engine: raw.Engine, raw: raw}
	r.Running, r.Waiting, r.KVUsage, r.KVTokens, r.OutputRate = raw.Running, raw.Waiting, raw.KVUsage, raw.KVTokens, raw.OutputRate
	if len(raw.Models) > 0 {
		r.model = raw.Models[0]
	}
	return r, nil
}

// ofOllama is the largest of the models that are loaded, and the sum of what all hold.
func ofOllama(list []observe.Loaded) *reading {
	r := &reading{engine: "ollama"}
	var sum unit.Bytes
	for i := range list {
		sum += unit.Bytes(list[i].OnDevice)
	}
	r.OnDevice = &sum
	if len(list) > 0 {
		r.model = list[0].Name
		r.loaded = &loaded{list[0].Name, list[0].Context}
	}
	return r
}

// rates are those since the reading before.
func (r *reading) rates(before *reading) {
	if before == nil || before.raw == nil || r.raw == nil {
		return
	}
	d := observe.Between(before.raw, r.raw, r.at.Sub(before.at).Seconds())
	if d == nil {
		return
	}
	r.PromptRate, r.Preemptions, r.HitRate = d.PromptTokens, d.Preemptions, d.HitRate
	if d.OutputTokens != nil {
		r.OutputRate = d.OutputTokens
	}
	if p, ok := d.TTFT.Quantile(0.5); ok {
		r.TTFT = &p.Value
	}
	if p, ok := d.TPOT.Quantile(0.5); ok {
		r.TPOT = &p.Value
	}
}

// Checked refuses what is not an address of a page.
func Checked(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s is not an address", strconv.Quote(shown(address)))
	}
	if u.User != nil {
		return errors.New("the address holds a password, which is never sent")
	}
	return nil
}
