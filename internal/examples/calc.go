package examples

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// calc is what rows compute with: a Book that records formulas, and look-ups in the program's own tables
// that introduce their results as named inputs. The first failure is kept; values after it mean nothing.
type calc struct {
	*ledger.Book
	err error
}

func newCalc() *calc { return &calc{Book: &ledger.Book{}} }

func (c *calc) fail(format string, args ...any) ledger.Num {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	return c.Lit(1)
}

// is sets a value beside what was said.
func (c *calc) is(s Said, n ledger.Num) Finding {
	return Finding{Said: s, Value: n.V, How: formula(c.Formula(n))}
}

// when is a value that holds under an assumption.
func (c *calc) when(assumption string, s Said, n ledger.Num) Finding {
	f := c.is(s, n)
	f.When = assumption
	return f
}

// shown is a value that is shown and not judged.
func (c *calc) shown(name string, u Unit, n ledger.Num) Finding {
	f := c.when(name, Said{Unit: u}, n)
	f.Role = Aside
	return f
}

// given introduces an input that the document itself states.
func (c *calc) given(name string, v float64) ledger.Num { return c.In(name, v, "") }

// weights of a model of so many parameters, all in one width.
func (c *calc) weights(parameters, bytes float64) ledger.Num {
	return c.Mul(c.given("parameters", parameters), c.given("bytes", bytes))
}

// width is the size of one element of a large matrix under a scheme or in a plain format, in bits, scales included.
func (c *calc) width(of any) ledger.Num {
	s, ok := of.(*dtype.Scheme)
	if f, plain := of.(*dtype.Format); plain {
		s, ok = dtype.Of(f), true
	}
	if !ok {
		return c.fail("%v is not a format", of)
	}
	return c.In("bits", s.Bits(), s.Name+", scales included")
}

// element is the size of one element of a plain format, in bytes.
func (c *calc) element(f *dtype.Format) ledger.Num {
	return c.In(f.Name+"_bytes", float64(f.BlockBytes)/float64(f.BlockElems), "")
}

// model builds a model of the catalog; nil after a failure.
func (c *calc) model(id string) *model.Model {
	e, err := catalog.Find(id)
	if err != nil {
		c.fail("%w", err)
		return nil
	}
	s, err := e.Spec()
	if err != nil {
		c.fail("%s: %w", id, err)
		return nil
	}
	return s.Model(id)
}

// ofModel counts something of a model.
func (c *calc) ofModel(name, id, origin string, count func(*model.Model) int64) ledger.Num {
	m := c.model(id)
	if m == nil {
		return c.Lit(1)
	}
	return c.Int(name, count(m), origin)
}

// params counts a model's parameters.
func (c *calc) params(id string) ledger.Num {
	return c.ofModel("parameters", id, "counted over the tensors of "+id, (*model.Model).Params)
}

// active counts the parameters that one token uses.
func (c *calc) active(id string) ledger.Num {
	return c.ofModel("active_parameters", id, "counted over the tensors of "+id, (*model.Model).ActiveParams)
}

// stored is the size of a model under a recipe.
func (c *calc) stored(id, recipe string) ledger.Num {
	m, r := c.model(id), dtype.FindRecipe(recipe)
	if m == nil || r == nil {
		return c.fail("no recipe %s", recipe)
	}
	return c.Size("stored", m.Store(r).Bytes(), fmt.Sprintf("tensors of %s in %s", id, recipe))
}

// layer counts the parameters of one layer of a dense model.
func (c *calc) layer(id string) ledger.Num {
	return c.ofModel("layer_parameters", id, "one layer of "+id, func(m *model.Model) int64 { return m.Decoder().Kinds[0].Params() })
}

// ends counts the parameters before and after the layers: embedding, final norm, head.
func (c *calc) ends(id string) ledger.Num {
	return c.ofModel("embedding_and_head", id, id, func(m *model.Model) int64 {
		d := m.Decoder()
		return d.Pre.Params() + d.Post.Params()
	})
}

// saved is what one layer keeps for its backward pass, in bytes per token.
func (c *calc) saved(id string) ledger.Num {
	return c.ofModel("saved_per_token", id, "what autograd keeps of one layer of "+id+", bytes",
		func(m *model.Model) int64 { return m.Decoder().Kinds[0].SavedBytes(model.Style{}) })
}

// flop and bytesRead are halves of traffic.
func flop(c *calc, id, recipe string, batch, context int64) ledger.Num {
	n, _ := c.traffic(id, recipe, batch, context)
	return n
}

func bytesRead(c *calc, id, recipe string, batch, context int64) ledger.Num {
	_, n := c.traffic(id, recipe, batch, context)
	return n
}

// traffic is the arithmetic and the weight and cache bytes of one decode step.
func (c *calc) traffic(id, recipe string, batch, context int64) (flops, read ledger.Num) {
	m, r := c.model(id), dtype.FindRecipe(recipe)
	if m == nil || r == nil {
		n := c.fail("no recipe %s", recipe)
		return n, n
	}
	spans := m.Spans()
	k := m.Decoder().Compile(&m.Store(r).Parts[0], &model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4, Spans: spans})
	step := model.Step{Tokens: batch, Seqs: batch, Outputs: batch, Context: context}
	f := step.Features(spans, &model.Experts{N: max(1, m.Traits.Experts), Used: max(1, m.Traits.ExpertsUsed)})
	cost := k.Eval(&f)
	from := fmt.Sprintf("one decode step of %s, batch %d", id, batch)
	return c.In("flop", float64(cost.FLOPs), from), c.In("bytes_read", cost.Weights+cost.CacheRead, from)
}

// device finds an accelerator; the zero one after a failure.
func (c *calc) device(id string) hardware.Device {
	d, _, err := hardware.Find(id)
	if err != nil {
		c.fail("%w", err)
		return hardware.Device{}
	}
	return *d
}

// fact introduces a figure of the hardware catalog.
func fact[T hardware.Quantity](c *calc, name string, f hardware.Fact[T], id string) ledger.Num {
	if !f.Known {
		return c.fail("%s of %s is unknown", name, id)
	}
	return c.In(name, float64(f.Value), "hardware catalog, "+id)
}

func (c *calc) memory(id string) ledger.Num { return fact(c, "memory", c.device(id).Memory, id) }
func (c *calc) usable(id string) ledger.Num { return fact(c, "usable", c.device(id).Usable, id) }
func (c *calc) bandwidth(id string) ledger.Num {
	return fact(c, "bandwidth", c.device(id).Bandwidth, id)
}

func (c *calc) peak(id, format string) ledger.Num {
	d := c.device(id)
	return fact(c, "peak_"+format, d.Peaks.At(format), id)
}

// pcie is the rate of a device's PCI Express link in one direction.
func (c *calc) pcie(id string) ledger.Num {
	return fact(c, "pcie_each_way", c.device(id).PCIe.EachWay, id)
}

// link is the rate of a device's own link in one direction.
func (c *calc) link(id string) ledger.Num {
	return fact(c, "link_each_way", c.device(id).Link.EachWay, id)
}

// level gives a figure of a level of memory, the first that is known.
func level[T hardware.Quantity](c *calc, name, id, of string, get func(*hardware.Level) hardware.Fact[T]) ledger.Num {
	for _, l := range hardware.Levels(id) {
		if f := get(&l); l.Level == of && f.Known {
			return c.In(name, float64(f.Value), fmt.Sprintf("%s, %s", id, f.Basis))
		}
	}
	return c.fail("%s of %s %s is unknown", name, id, of)
}

func (c *calc) levelSize(id, of string) ledger.Num {
	return level(c, of+"_size", id, of, func(l *hardware.Level) hardware.Fact[unit.Bytes] { return l.Size })
}

func (c *calc) levelCycles(id, of string) ledger.Num {
	return level(c, of+"_cycles", id, of, func(l *hardware.Level) hardware.Fact[float64] { return l.Cycles })
}

func (c *calc) levelLatency(id, of string) ledger.Num {
	return level(c, of+"_latency", id, of, func(l *hardware.Level) hardware.Fact[unit.Seconds] { return l.Latency })
}

func (c *calc) levelRate(id, of string) ledger.Num {
	return level(c, of+"_rate", id, of, func(l *hardware.Level) hardware.Fact[unit.ByteRate] { return l.Bandwidth })
}

// node finds a computer of the catalog.
func (c *calc) node(id string) hardware.Node {
	n, ok := hardware.FindNode(id)
	if !ok {
		c.fail("no node called %s", id)
		return hardware.Node{}
	}
	return *n
}

// ask is a fit request in short.
type ask struct {
	Model, On, Weights, KV, Engine string
	Ctx, Users, Seqs, Batched      int64
	TP, PP                         int64
}

// answer is what memwall said, with the command that asks it.
type answer struct {
	*memwall.Answer
	c       *calc
	command string
}

// fit asks memwall. vLLM 0.24 is the engine unless another is named: what people claim is held against one version, whatever is newest.
func (c *calc) fit(q ask) answer {
	if q.Engine == "" {
		q.Engine = "vllm@0.24"
	}
	a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: q.Model, Hardware: q.On, Plan: plan.Plan{
		Engine: q.Engine, Weights: q.Weights, KV: q.KV, Context: plan.Int(q.Ctx), Sequences: plan.Int(q.Users), TP: q.TP, PP: q.PP,
		Serving: plan.Serving{MaxSeqs: plan.Int(q.Seqs), MaxBatchedTokens: plan.Int(q.Batched)}}})
	if err != nil {
		c.fail("%s: %w", q.command(), err)
		a = &memwall.Answer{}
	}
	return answer{a, c, q.command()}
}

// command is the same question in the terminal.
func (q *ask) command() string {
	words := []string{"memwall fit", q.Model}
	add := func(flag, value string) {
		if value != "" && value != "0" {
			words = append(words, "--"+flag, value)
		}
	}
	add("weights", q.Weights)
	add("on", q.On)
	add("engine", q.Engine)
	add("kv", q.KV)
	if q.Ctx > 0 {
		add("ctx", strings.ReplaceAll(unit.Length(q.Ctx), ",", ""))
	}
	add("users", fmt.Sprint(q.Users))
	add("tp", fmt.Sprint(q.TP))
	add("pp", fmt.Sprint(q.PP))
	add("max-num-seqs", fmt.Sprint(q.Seqs))
	add("max-num-batched-tokens", fmt.Sprint(q.Batched))
	return strings.Join(words, " ")
}

func (a answer) first() *memwall.Device {
	if len(a.Devices) == 0 {
		a.c.fail("%s: no devices in the answer", a.command)
		return &memwall.Device{}
	}
	return &a.Devices[0]
}

// needed is what each device of the deciding rank needs, usable what the plan may use of it.
func (a answer) needed() ledger.Num { return a.c.Size("needed", a.first().Needed, a.command) }

func (a answer) usable() unit.Bytes { return a.first().Usable }

// mayUse is usable as a number of the Book.
func (a answer) mayUse() ledger.Num { return a.c.Size("usable", a.usable(), a.command) }

// item is one line of the ledger.
func (a answer) item(id string) ledger.Num {
	for _, it := range a.first().Ledger {
		if it.ID == id {
			return a.c.Size(id, it.Bytes, a.command)
		}
	}
	return a.c.fail("%s: no item %s", a.command, id)
}

// perToken is what one more token of a sequence takes on each device.
func (a answer) perToken() ledger.Num {
	if a.KV == nil {
		return a.c.fail("%s: no cache", a.command)
	}
	return a.c.Size("bytes_per_token", a.KV.BytesPerToken, a.command)
}

// users is the most sequences at full length.
func (a answer) users() ledger.Num {
	if a.KV == nil || a.KV.MaxSequences == nil {
		return a.c.fail("%s: no bound on sequences", a.command)
	}
	return a.c.Int("max_sequences", *a.KV.MaxSequences, a.command)
}

// fits sets the need beside the claim that it fits.
func (a answer) fits(words string) Finding {
	return a.c.is(most(words, float64(a.usable()), gb), a.needed())
}

// fitsWhen does so under an assumption.
func (a answer) fitsWhen(assumption, words string) Finding {
	f := a.fits(words)
	f.When = assumption
	return f
}

// waits is a claim that waits, with nothing known yet.
func (c *calc) waits(s Said) Finding { return Finding{Said: s, Role: Waiting} }

// root is the square root, by name: its square is what the formula shows.
func (c *calc) root(n ledger.Num) ledger.Num {
	f := c.Formula(n)
	return c.In("root", math.Sqrt(n.V), "of "+f.Text)
}
