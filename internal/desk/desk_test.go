package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

func fit() *memwall.Request { return &memwall.Request{Ask: "fit", Model: "llama-3.1-8b"} }

// TestShares: a client has so much in flight, so many long questions and so much work, and gets it back.
func TestShares(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := &clients{share: share{inFlight: 3, long: 1, perSecond: 2, most: 10}}
	done, err := c.admit("a", true, now)
	if err != nil {
		t.Fatal(err)
	}
	var busy *Busy
	if _, err := c.admit("a", true, now); !errors.As(err, &busy) {
		t.Errorf("a second long question: %v", err)
	}
	done(now, 14*time.Second)
	if done, err = c.admit("a", false, now); err != nil {
		t.Errorf("who keeps nobody waiting: %v", err)
	}
	done(now, 0)
	if _, err := c.admit("b", true, now); err != nil {
		t.Errorf("another client: %v", err)
	}
	if _, err := c.admit("a", false, now); !errors.As(err, &busy) || busy.After != 3*time.Second {
		t.Errorf("4 s over a share of 2 a second: %v", err)
	}
	if _, err := c.admit("a", false, now.Add(busy.After)); err != nil {
		t.Errorf("after the time that was said: %v", err)
	}
}

// TestManyClients: of clients that come and go, no more than so many are remembered.
func TestManyClients(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := &clients{share: share{inFlight: 1, long: 1, perSecond: 1, most: 10}}
	for i := range 3 * mostClients {
		done, err := c.admit(fmt.Sprint(i), false, now)
		if err != nil {
			t.Fatal(err)
		}
		done(now, 0)
	}
	if len(c.all) > mostClients {
		t.Errorf("%d clients", len(c.all))
	}
	for i := range mostClients {
		_, _ = c.admit(fmt.Sprint("held", i), false, now)
	}
	if _, err := c.admit("one more", false, now); err == nil {
		t.Error("there is room for a client beyond all that ask")
	}
}

// TestForgetting: an asker is replaced before it remembers too much, and answers the same.
func TestForgetting(t *testing.T) {
	d := New(Options{Quick: 1})
	d.forget = 100
	first, err := d.Ask(t.Context(), "", fit(), nil)
	if err != nil {
		t.Fatal(err)
	}
	most, before, forgotten := 0, 0, false
	for i := range 40 {
		again, err := d.Ask(t.Context(), "", fit(), nil)
		if err != nil || again.Model.WeightsBytes != first.Model.WeightsBytes {
			t.Fatal(err)
		}
		other := &memwall.Request{Ask: "fit", Model: []string{"qwen3-8b", "gemma-3-27b", "phi-4", "mistral-7b", "qwen3-32b"}[i%5],
			Hardware: "rtx-3060"}
		other.Context = plan.Int(1024 * (1 + i))
		if _, err := d.Ask(t.Context(), "", other, nil); err != nil {
			t.Fatal(err)
		}
		m := <-d.quick
		now := m.asker.Remembered()
		d.quick <- m
		most, before, forgotten = max(most, now), now, forgotten || now < before
	}
	if most > 3*d.forget || !forgotten {
		t.Errorf("an asker remembers up to %d things, forgotten: %v", most, forgotten)
	}
}

// panicking is a source with a fault, once.
type panicking struct{ calls *int }

func (p panicking) Model(ref string) (*memwall.Resolved, error) {
	if *p.calls++; *p.calls == 1 {
		panic("a secret")
	}
	return memwall.Catalog{}.Model(ref)
}

// TestFault: a fault is told to who runs the desk, and the next question is answered.
func TestFault(t *testing.T) {
	var told strings.Builder
	d := New(Options{Quick: 1, Asker: memwall.Asker{Models: panicking{new(int)}}, Faults: &told})
	_, err := d.Ask(t.Context(), "", fit(), nil)
	var e *memwall.Error
	if !errors.As(err, &e) || e.Code != memwall.Internal || strings.Contains(e.Message, "secret") ||
		!strings.Contains(told.String(), "secret") {
		t.Errorf("%v; told %q", err, told.String())
	}
	if _, err := d.Ask(t.Context(), "", fit(), nil); err != nil {
		t.Error(err)
	}
}

// TestTurns: who waits too long, or leaves, is told so, and takes no place.
func TestTurns(t *testing.T) {
	d := New(Options{Medium: 1, Patience: time.Millisecond})
	d.slow[Medium] <- struct{}{}
	r := &memwall.Request{Ask: "pick", Hardware: "rtx-3060"}
	var busy *Busy
	if _, err := d.Ask(t.Context(), "", r, nil); !errors.As(err, &busy) || busy.After <= 0 {
		t.Errorf("%v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.Ask(gone, "", r, nil); !errors.Is(err, context.Canceled) && !errors.As(err, &busy) {
		t.Errorf("%v", err)
	}
	<-d.slow[Medium]
	if _, err := d.Ask(t.Context(), "", r, nil); err != nil {
		t.Error(err)
	}
}

// TestDecode: what is wrong has a field, be it the body.
func TestDecode(t *testing.T) {
	for body, field := range map[string]string{`{`: "body", `[]`: "body", `{"ask":"plan"}`: "ask", `{"modell":1}`: "modell"} {
		_, err := Decode("fit", []byte(body))
		var e *memwall.Error
		if !errors.As(err, &e) || e.Field != field || e.Hint == "" {
			t.Errorf("%s: %v", body, err)
		}
	}
	if r, err := Decode("fit", []byte(`{"model":"x"}`)); err != nil || r.Ask != "fit" {
		t.Errorf("%v, %v", r, err)
	}
}
