package farm

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// forger has the token, and puts what it likes under all questions of a study.
type forger struct {
	*Farm
	t *testing.T
	s *Sweep
}

// put a value under a question, and tell the sweep.
func (f *forger) put(p *study.Point, id string, value []byte) {
	f.t.Helper()
	if _, err := f.results.Put(f.t.Context(), recordKey(p.Key, id), value); err != nil {
		f.t.Fatal(err)
	}
	f.says(&event{Kind: evDone, Index: p.Index, Key: p.Key.String(), By: id})
}

func (f *forger) says(e *event) {
	f.t.Helper()
	if err := f.tell(f.t.Context(), f.s.Study.ID(here), e); err != nil {
		f.t.Fatal(err)
	}
}

// lie is an answer that is of the contract, is of the request, and is not true.
func lie(t *testing.T, p *study.Point) []byte {
	t.Helper()
	answer, err := Answer(p.Request, (&memwall.Asker{}).Ask)
	if err != nil {
		t.Fatal(err)
	}
	a := &memwall.Answer{}
	if err := json.Unmarshal(answer, a); err != nil {
		t.Fatal(err)
	}
	a.Verdict = memwall.DoesNotFit
	if out, err := json.Marshal(a); err == nil && !bytes.Equal(out, answer) {
		return out
	}
	t.Fatal("no lie")
	return nil
}

func identity(t *testing.T, name string) *Identity {
	t.Helper()
	i, err := NewIdentity(name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// value of a record as a worker keeps it.
func value(t *testing.T, by *Identity, p *study.Point, answer []byte) []byte {
	t.Helper()
	r, err := recordOf(by, p.Key, answer, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.write()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// zeros are 256 MiB of them, packed.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	some := make([]byte, 1<<20)
	for range 256 {
		_, _ = w.Write(some) // into memory
	}
	_ = w.Close()
	return b.Bytes()
})

// bomb is a small record of what becomes large.
func bomb(t *testing.T, by *Identity, p *study.Point) []byte {
	t.Helper()
	r, err := recordOf(by, p.Key, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.packed, r.Sum = zeros(), digest(zeros())
	return signedAgain(t, r, by, p)
}

// signedAgain is a record that its worker signs after a change.
func signedAgain(t *testing.T, r *record, by *Identity, p *study.Point) []byte {
	t.Helper()
	head, err := r.head(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	r.Sig = by.sign(head)
	out, err := r.write()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForged: who has the token puts forged answers under all questions before anybody else answers, in many ways. None is
// taken, none ends the sweep, and each question has the answer of a run alone.
func TestForged(t *testing.T) {
	t.Parallel()
	thief := identity(t, "thief")
	honest := identity(t, "w")
	kinds := map[string]func(f *forger, p *study.Point){
		"one liar": func(f *forger, p *study.Point) { f.put(p, thief.ID(), value(t, thief, p, lie(t, p))) },
		"a liar for each": func(f *forger, p *study.Point) {
			other := identity(t, "thief")
			f.put(p, other.ID(), value(t, other, p, lie(t, p)))
		},
		"unsigned, in another's name": func(f *forger, p *study.Point) {
			r, err := recordOf(thief, p.Key, lie(t, p), 0)
			if err != nil {
				t.Fatal(err)
			}
			r.Public = honest.public()
			out, err := r.write()
			if err != nil {
				t.Fatal(err)
			}
			f.put(p, honest.ID(), out)
		},
		"of another question": func(f *forger, p *study.Point) {
			q := f.s.Study.At((p.Index+1)%f.s.Study.Points(), here)
			f.put(p, thief.ID(), value(t, thief, q, lie(t, q)))
		},
		"of another version": func(f *forger, p *study.Point) {
			r, err := recordOf(thief, p.Key, lie(t, p), 0)
			if err != nil {
				t.Fatal(err)
			}
			r.Version = recordVersion + 1
			f.put(p, thief.ID(), signedAgain(t, r, thief, p))
		},
		"damaged": func(f *forger, p *study.Point) {
			out := value(t, thief, p, lie(t, p))
			out[len(out)-1] ^= 1
			f.put(p, thief.ID(), out)
		},
		"no record": func(f *forger, p *study.Point) { f.put(p, thief.ID(), []byte("z\x00\xff no record")) },
		"no answer": func(f *forger, p *study.Point) { f.put(p, thief.ID(), value(t, thief, p, []byte(`{"verdict":`))) },
		"an answer that is another thing": func(f *forger, p *study.Point) {
			f.put(p, thief.ID(), value(t, thief, p, []byte(`{"schema":"memwall/1","verdict":"fits","one":1e999}`)))
		},
		"bombs": func(f *forger, p *study.Point) { f.put(p, thief.ID(), bomb(t, thief, p)) },
		"events": func(f *forger, p *study.Point) {
			f.says(&event{Kind: evDone, Index: p.Index, Key: p.Key.String(), By: thief.ID()})
			f.says(&event{Kind: evDone, Index: -5, Key: "\x1b[2J", By: "a.b.>"})
			f.says(&event{Kind: evDone, Index: 1 << 60, Key: p.Key.String(), By: thief.ID()})
			f.says(&event{Kind: "\x1b[2J", Worker: "\x1b[2J"})
			if _, err := f.js.Publish(t.Context(), eventSubject+f.s.Study.ID(here), []byte("{{")); err != nil {
				t.Error(err)
			}
		},
	}
	for name, forge := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := own(t)
			var said said
			f.say = said.add
			s := begun(t, f, fits(8), filepath.Join(t.TempDir(), "a.db"))
			s.Check = 0.02
			for p := range s.Study.All(here) {
				forge(&forger{f, t, s}, p)
			}
			help(t, f, &Worker{Name: "w", By: honest, Tables: here, Slots: 2})
			at := run(t, s)
			check(t, s)
			if at.Done != 48 || at.Dead != 0 {
				t.Errorf("%+v", at)
			}
			lies := name == "one liar" || name == "a liar for each" || strings.Contains(name, "no answer") ||
				strings.Contains(name, "another thing") || name == "bombs"
			if got := len(at.Liars) > 0; got != lies {
				t.Errorf("liars: %q", at.Liars)
			}
			if said.raw() || len(said.all) > 60 {
				t.Errorf("%d lines are said: %q", len(said.all), said.all)
			}
		})
	}
}

// TestTwice: of two answers to one question that differ the sweep keeps the one that it computes itself, whichever came
// first, and names who gave the other; what was given up is answered after all by an answer that comes late.
func TestTwice(t *testing.T) {
	f := own(t)
	s := begun(t, f, fits(1), filepath.Join(t.TempDir(), "a.db"))
	if err := s.begin(); err != nil { // and Check is 0: nothing is computed here unless two differ
		t.Fatal(err)
	}
	honest, first, last := identity(t, "honest"), identity(t, "first"), identity(t, "last")
	arrive := func(index int64, by *Identity, answer []byte) {
		t.Helper()
		p := s.Study.At(index, here)
		if err := f.keep(t.Context(), by, p.Key, answer, 0, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.settle(t.Context(),
			[]*arrival{s.said(&event{Kind: evDone, Index: index, Key: p.Key.String(), By: by.ID()})}); err != nil {
			t.Fatal(err)
		}
	}
	right := func(index int64) []byte {
		answer, err := Answer(s.Study.At(index, here).Request, (&memwall.Asker{}).Ask)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for i := range int64(4) {
		arrive(i, honest, right(i))
		arrive(i, honest, right(i)) // told twice
	}
	arrive(0, last, right(0))
	arrive(0, last, lie(t, s.Study.At(0, here)))
	arrive(4, first, lie(t, s.Study.At(4, here)))
	if at := s.snapshot(); at.Done != 5 || at.Repeated != 1 || !slices.Equal(at.Liars, []string{last.String()}) {
		t.Errorf("a lie is the second: %+v", at)
	}
	arrive(4, honest, right(4))
	dead, err := s.bury(t.Context(), s.task(5), 8)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.settle(t.Context(), []*arrival{dead}); err != nil || s.snapshot().Dead != 1 {
		t.Errorf("%+v, %v", s.snapshot(), err)
	}
	arrive(5, honest, right(5))
	if at := s.snapshot(); at.Done != 6 || at.Dead != 0 || at.AskedAgain != 0 ||
		!slices.Equal(at.Liars, []string{last.String(), first.String()}) {
		t.Errorf("a lie is the first: %+v", at)
	}
	check(t, s)
}

// said is what people are told.
type said struct {
	mu  sync.Mutex
	all []string
}

func (s *said) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, line)
}

func (s *said) has(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(line string) bool { return strings.Contains(line, words) })
}

// raw: something that a terminal obeys is said.
func (s *said) raw() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(line string) bool { return line != bounded(line, 10*longWhy) })
}

// TestLiar: a worker that is honest for a while and then lies is found out, refused and named; what it answered is asked
// again of others, and it learns of it.
func TestLiar(t *testing.T) {
	t.Parallel()
	f := own(t)
	var said said
	f.say = said.add
	s := begun(t, f, fits(50), filepath.Join(t.TempDir(), "a.db"))
	s.Check = 0.1
	var answered atomic.Int64
	lying := func(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
		a, err := (&memwall.Asker{}).AskContext(ctx, r)
		if answered.Add(1) > 30 {
			a.Verdict = memwall.DoesNotFit
		}
		return a, err
	}
	liar := identity(t, "liar")
	ended := make(chan error, 1)
	go func() {
		ended <- f.Work(t.Context(), &Worker{Name: "liar", By: liar, Tables: here, Slots: 1, Ask: lying})
	}()
	s.Report = func(at Progress) {
		if len(at.Liars) > 0 {
			s.Report = func(Progress) {}
			go help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
		}
	}
	at := run(t, s)
	check(t, s)
	if at.Done != 300 || !slices.Equal(at.Liars, []string{liar.String()}) || at.AskedAgain == 0 {
		t.Errorf("%+v", at)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "is refused") {
		t.Errorf("the liar is told: %v", err)
	}
	if !said.has("ATTENTION: " + liar.String()) {
		t.Errorf("%q", said.all)
	}
}

// TestTrust: however lies are spread over names, what stays unfound is as little as is promised: of n answers of a name of
// which all from the mth on are lies, all escape with a chance of (m-1)/n.
func TestTrust(t *testing.T) {
	const tries = 20_000
	for _, c := range []struct{ n, m int }{{1, 1}, {2, 2}, {10, 2}, {10, 6}, {50, 50}, {50, 40}} {
		escaped := 0
		for range tries {
			trust, found := newTrust("own", 1e-9), false
			for i := 1; i <= c.n; i++ {
				found = trust.chosen("liar", "") && i >= c.m || found
			}
			if !found {
				escaped++
			}
		}
		want := float64(c.m-1) / float64(c.n)
		if got := float64(escaped) / tries; got < want-0.02 || got > want+0.02 {
			t.Errorf("%d answers, lies from the %dth on: %.3f escape, want %.3f", c.n, c.m, got, want)
		}
	}
	trust := newTrust("own", 0.4)
	for range 1000 {
		if trust.chosen("own", "") {
			t.Fatal("the sweep computes its own answers twice")
		}
	}
	if trust.refuse("own", "") || !trust.refuse("a", "") || trust.refuse("a", "") || !trust.refuse("b", "") || trust.share != 1 ||
		!trust.refused("a") || trust.refused("c") {
		t.Errorf("%+v", trust)
	}
}

// TestPlausible: no answer of memwall is suspect by itself, whatever is asked; what is not memwall's, or of another
// question, is.
func TestPlausible(t *testing.T) {
	t.Parallel()
	asker := (&memwall.Asker{}).Remembering()
	for _, text := range []string{
		fits(3), "ask: fit\nmodels: [llama-3.1-8b, deepseek-v3]\nhardware: [2xh100, rtx-4090+rtx-3060, 8xNVIDIA H100 80GB HBM3]\nplan: " +
			"{weights: [Q4_K - Medium, fp8], context: 8k, engine: [llama.cpp, vllm], tp: [1, 2, 7]}\n",
		"ask: sim\nmodels: llama-3.1-8b\nhardware: [h100, rtx-3060]\nworkload: {rate: [1, 2.5], requests: 20, prompt: {mean: " +
			"100}}\ngoals: [{ttft_ms: {p99: 500}}]\nseeds: 1..3\n",
		"ask: plan\nmodels: llama-3.1-8b\nhardware: [2xh100, rtx-4090]\nplan: {context: [8k, 64k]}\n",
		"ask: train\nmodels: llama-3.1-8b\nhardware: [8xh100, rtx-4090]\nplan: {method: [full, qlora, dora], sequence_length: [1k, " +
			"3000], micro_batch: [1, 3], tp: [1, 2]}\n",
	} {
		s, err := study.Read("s.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		var before []byte
		for p := range s.All(here) {
			answer, err := Answer(p.Request, asker.Ask)
			if err != nil {
				t.Fatal(err)
			}
			if why := implausible(s.Ask, p.Request, answer); why != "" {
				t.Errorf("%s: %s", p.Request, why)
			}
			if before != nil && !bytes.Contains(answer, []byte(`"error":`)) && !bytes.Contains(before, []byte(`"error":`)) && implausible(s.Ask, p.Request, before) == "" && s.Ask != "train" {
				t.Errorf("%s: the answer to the question before it passes", p.Request)
			}
			before = answer
			for _, other := range []string{"", "{}", "[]", string(answer) + " ", strings.Replace(string(answer), `"schema":`, `"x":1,"schema":`, 1), strings.Replace(string(answer), memwall.Version, "9.9.9", 1),
				strings.Replace(string(answer), `"ask":"`+s.Ask, `"ask":"x`, 1)} {
				if implausible(s.Ask, p.Request, []byte(other)) == "" {
					t.Fatalf("%.200s passes", other)
				}
			}
		}
	}
	if why := implausible("fit", []byte(`{}`), []byte(strings.Repeat("[", 1<<20))); why == "" {
		t.Error("depth passes")
	}
}

// FuzzRecord: whatever stands where a record should, reading it ends, and takes nothing that was not signed.
func FuzzRecord(f *testing.F) {
	by, err := NewIdentity("w")
	if err != nil {
		f.Fatal(err)
	}
	key := study.Key{1}
	r, err := recordOf(by, key, []byte(`{"a":1}`), 1)
	if err != nil {
		f.Fatal(err)
	}
	good, err := r.write()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("{}\n"))
	f.Add(bytes.Repeat([]byte("x"), 3*maxHead))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readRecord(key, by.ID(), data)
		if err == nil && !bytes.Equal(got.packed, r.packed) {
			t.Errorf("%q passes", data)
		}
		if err == nil {
			_, _ = studyfile.Unpack(got.packed)
		}
		if e, err := readEvent(data); err == nil && (e.Worker != printable(e.Worker) || len(fmt.Sprint(e.Why)) > 8*longWhy) {
			t.Errorf("%+v", e)
		}
	})
}
