package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model/catalog"
)

// fewRequests are asked in every run of the tests; MEMWALL_REQUESTS says how many are asked instead, and from which on.
const fewRequests = 10_000

// TestRandomAnswers: every answer to a random request agrees with itself: it is what the schema says, its ledgers add up, no band is
// turned round, no share lies outside of 0 to 1, and its verdict follows from its bytes. What is refused says why and what to do.
func TestRandomAnswers(t *testing.T) {
	from, count := 0, fewRequests
	if testing.Short() {
		count /= 10
	}
	if text := os.Getenv("MEMWALL_REQUESTS"); text != "" {
		first, n, two := strings.Cut(text, "+")
		if !two {
			first, n = "0", text
		}
		var err, other error
		from, err = strconv.Atoi(first)
		count, other = strconv.Atoi(n)
		if err != nil || other != nil {
			t.Fatalf("MEMWALL_REQUESTS=%s: COUNT or FIRST+COUNT", text)
		}
	}
	c := &consistency{t: t, ids: catalog.IDs(), asker: &memwall.Asker{Models: &once{found: map[string]*memwall.Resolved{}}},
		answered: map[string]*atomic.Int64{}}
	c.schema, _ = load(t, "")
	for _, a := range askedAs {
		c.answered[a.ask] = &atomic.Int64{}
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				c.ask(uint64(from) + uint64(i))
			}
		})
	}
	all.Wait()
	t.Logf("%d are drawn by the faces", c.shown.Load())
	for _, a := range askedAs {
		n := c.answered[a.ask].Load()
		if t.Logf("%s: %d of about %d are answered", a.ask, n, count*a.times/100); n*20 < int64(count*a.times/100) {
			t.Errorf("%s: only %d are answered", a.ask, n)
		}
	}
}

// once is the catalog with every entry resolved once.
type once struct {
	mu    sync.Mutex
	found map[string]*memwall.Resolved
}

func (o *once) Model(ref string) (*memwall.Resolved, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.found[ref]; r != nil {
		return r, nil
	}
	r, err := memwall.Catalog{}.Model(ref)
	if err == nil {
		o.found[ref] = r
	}
	return r, err
}

type consistency struct {
	t        *testing.T
	ids      []string
	asker    *memwall.Asker
	schema   *validator
	answered map[string]*atomic.Int64
	shown    atomic.Int64 // answers that the faces drew
}

func (c *consistency) ask(seed uint64) {
	r := randomRequest(rand.New(rand.NewPCG(seed, 7)), c.ids)
	text, _ := json.Marshal(r)
	where := fmt.Sprintf("request %d: %s", seed, text)
	defer func() {
		if p := recover(); p != nil {
			c.t.Errorf("%s: %v", where, p)
		}
	}()
	a, err := c.asker.AskContext(context.Background(), r)
	data, bad := json.Marshal(a)
	if bad != nil {
		c.t.Errorf("%s: %v", where, bad)
		return
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		c.t.Fatal(err)
	}
	if err := c.schema.check("", c.schema.defs["Answer"], v); err != nil {
		c.t.Errorf("%s: %v", where, err)
	}
	if err != nil {
		c.refused(where, err)
		return
	}
	c.answered[r.Ask].Add(1)
	found := append(contradictions("", v), ofVerdict(a)...)
	if seed%shownToo == 0 && (r.Ask == "fit" || r.Ask == "train") {
		found = append(found, c.differences(r, a)...)
	}
	for _, wrong := range found {
		c.t.Errorf("%s\n%s", where, wrong)
	}
}

func (c *consistency) refused(where string, err error) {
	e, ok := errors.AsType[*memwall.Error](err)
	codes := []string{memwall.UnknownModel, memwall.UnknownHardware, memwall.BadField, memwall.ImpossiblePlan, memwall.Unsupported,
		memwall.BadFile, memwall.Remote, memwall.Limit}
	if !ok || !slices.Contains(codes, e.Code) || e.Message == "" || e.Hint == "" {
		c.t.Errorf("%s: %T %+v", where, err, err)
	}
}
