package question

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Plan returns the request with defaults filled in, for an answer.
func (q *Question) Plan() *api.Request {
	p := q.Request
	p.Also, p.Explain = nil, false
	return &p
}

// ModelInfo describes what was sized.
func ModelInfo(r *api.Resolved, j *engine.Job) *api.ModelInfo {
	m := j.Model
	info := &api.ModelInfo{ID: r.ID, Name: r.Name, Architecture: m.Arch, Layers: int64(len(m.Decoder().Layers)), Parameters: m.Params(),
		ActiveParameters: m.ActiveParams(),
		WeightsBytes:     j.Weights.Bytes(), Context: m.Context, Provenance: r.Provenance}
	if mtp := m.Part(model.PartMTP); mtp != nil {
		info.ParametersMTP = mtp.Params()
	}
	info.EmbeddingParameters = m.Vocab * m.Hidden
	if r.UnknownArch != "" {
		info.Layers, info.Parameters, info.ActiveParameters = r.Layers, r.Parameters, r.Parameters
	}
	return info
}

// Device returns the answer's device for a class of ranks, with its ledger and verdict.
func (q *Question) Device(x *Explainer, i int, r *engine.Rank) api.Device {
	at := "/devices/" + strconv.Itoa(i)
	n := r.Needed()
	d := api.Device{Name: r.Name, Ranks: rankNames(r, q.Request.TP), Count: r.Count * q.Request.Workers(), Needed: n.Bytes,
		NeededLow: n.Low, NeededHigh: n.High, Used: n.Bytes, Limit: r.Limit}
	if !r.Unlimited {
		d.Capacity, d.Usable = r.Capacity.Bytes(), r.Usable.Bytes()
		d.Headroom = Headroom(r)
		x.num(at+"/capacity_bytes", r.Capacity, r.UsableBasis)
		x.num(at+"/usable_bytes", r.Usable, r.UsableBasis)
	}
	d.Ledger = Items(q.Book, x, at+"/ledger", OnDevice(r.Items))
	if unused := r.KV.Pool - r.KV.Needed; r.KV.Preallocated && unused > 0 && r.KV.Needed > 0 && !r.Unlimited {
		d.Used += unused
		k := q.Book
		left := k.Sub(k.Size("pool", r.KV.Pool, "what the engine allocates ahead"), k.Size("needed", r.KV.Needed, "kv_cache and state"))
		it := ledger.Known("pool_unused", "left in the pool", left, ledger.Derived, ledger.SemiPersistent, ledger.Device,
			"pages no sequence of this plan uses")
		it = it.Band(max(0, it.Bytes-(n.High-n.Bytes)), it.Bytes+(n.Bytes-n.Low)) // whatever the rest takes more, the pool has less
		d.Ledger = append(d.Ledger, itemOf(q.Book, x, at+"/ledger/"+strconv.Itoa(len(d.Ledger)), &it))
	}
	x.total(at, n, d.Ledger)
	if len(r.Beside) > 0 {
		d.Beside = Items(q.Book, x, at+"/beside", r.Beside)
	}
	return d
}

// OnDevice returns the items held on the device.
func OnDevice(items []ledger.Item) (out []ledger.Item) {
	for _, it := range items {
		if it.Place == ledger.Device {
			out = append(out, it)
		}
	}
	return out
}

// rankNames returns the numbers of identical ranks of a replica.
func rankNames(r *engine.Rank, tp int64) string {
	last := r.Index + min(r.Count, max(1, tp)) - 1
	if last == r.Index {
		return strconv.FormatInt(r.Index, 10)
	}
	return fmt.Sprintf("%d-%d", r.Index, last)
}

// Items converts ledger items to those of an answer, with explanations if requested.
func Items(b *ledger.Book, x *Explainer, at string, items []ledger.Item) []api.Item {
	out := make([]api.Item, len(items))
	for i := range items {
		out[i] = itemOf(b, x, at+"/"+strconv.Itoa(i), &items[i])
	}
	return out
}

func itemOf(b *ledger.Book, x *Explainer, at string, it *ledger.Item) api.Item {
	out := api.Item{ID: it.ID, Name: it.Name, Bytes: it.Bytes, Low: it.Low, High: it.High, Unknown: it.Unknown, Basis: it.Basis,
		Life: it.Life, Place: it.Place, Source: it.Source}
	f := b.Formula(it.Why)
	out.Formula = f.Text
	x.item(at, it, f)
	if len(it.Items) > 0 {
		out.Items = Items(b, x, at+"/items", it.Items)
	}
	return out
}

// Elsewhere sums what is held in host memory or on disk, over the ranks of one node.
func (q *Question) Elsewhere(x *Explainer, at string, ranks []engine.Rank, keep func(ledger.Place) bool) *api.Memory {
	var items []ledger.Item
	for i := range ranks {
		for _, it := range ranks[i].Host {
			if keep(it.Place) {
				items = append(items, Repeated(q.Book, it, min(ranks[i].Count, q.Job.PerNode()), "of one node"))
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	n := ledger.Sum(items)
	return api.MemoryOf(n, Items(q.Book, x, at, items))
}

// Repeated returns an item multiplied by a number of ranks, described by which.
func Repeated(b *ledger.Book, it ledger.Item, ranks int64, which string) ledger.Item {
	if ranks == 1 {
		return it
	}
	n := b.Mul(b.Int("ranks", ranks, which), it.Why)
	out := scaledItem(it, ranks)
	out.Why = n
	return out
}

// scaledItem multiplies the bytes of an item.
func scaledItem(it ledger.Item, ranks int64) ledger.Item {
	it.Bytes, it.Low, it.High, it.Items = it.Bytes*unit.Bytes(ranks), it.Low*unit.Bytes(ranks), it.High*unit.Bytes(ranks), nil
	return it
}

// Host returns the memory of one node's host used by ranks, or nil.
func (q *Question) Host(x *Explainer, ranks []engine.Rank) *api.Memory {
	m := q.Elsewhere(x, "/host/ledger", ranks, func(p ledger.Place) bool { return p != ledger.Disk && p != ledger.Pool })
	if room, ok := hostRoom(q.Job, ranks); m != nil && ok {
		m.Capacity = room
		m.Headroom = m.Capacity - HostNeeds(q.Job, ranks).Bytes
		notePaging(q.Job, m, ranks)
	}
	return m
}

// OnDisk reports whether a place is a disk.
func OnDisk(p ledger.Place) bool { return p == ledger.Disk }

// InPool reports whether a place is a memory pool beyond the host.
func InPool(p ledger.Place) bool { return p == ledger.Pool }

// KV converts a cache of ranks to that of an answer.
func KV(k *engine.KV) *api.KV {
	out := &api.KV{BytesPerToken: k.PerToken, PoolBytes: k.Pool, NeededBytes: k.Needed, Blocks: k.Blocks, BlockTokens: k.BlockTokens}
	if k.Tokens >= 0 && k.Needed > 0 {
		out.CapacityTokens = &k.Tokens
	}
	return out
}

// Prints returns the figures that the engine itself prints for a rank.
func Prints(r *engine.Rank) (out []api.Print) {
	for _, p := range r.Prints {
		p = p.Banded()
		out = append(out, api.Print{Name: p.Name, Value: p.Value, Low: p.Low, High: p.High, Text: p.Text, Unit: p.Unit})
	}
	return out
}

// Notes returns the notes on the plan.
func (q *Question) Notes() (out []api.Note) {
	for _, n := range q.Job.Notes {
		out = append(out, api.Note{Code: n.Code, Severity: n.Severity, Field: n.Field, Text: n.Text})
	}
	return append(out, q.Resolved.Notes...)
}

// Flags returns the command lines that run the plan: for disaggregated serving one for each kind of worker. A described
// or modified network has no files to run, and so none.
func (q *Question) Flags() map[string]string {
	if q.Resolved.Format == "description" || len(q.Request.Override) > 0 {
		return nil
	}
	c := q.Engine.Command(q.Job)
	if c == "" {
		return nil
	}
	out := map[string]string{q.Engine.Name(): c}
	if q.Prompter != nil {
		out[q.Engine.Name()+" (prompts)"] = q.Prompter.Engine.Command(q.Prompter.Job)
	}
	return out
}

// Rungs adds three contexts, each double the previous: the requested one and longer ones up to the trained length, or
// shorter ones if none are longer.
func (q *Question) Rungs(a *api.Answer, context int64) {
	for _, c := range steps(context, q.Job.Model.Context) {
		users := a.KV.MaxSequences
		if c != context {
			users = q.MaxSequences(c)
		}
		a.Rungs = append(a.Rungs, q.rung(c, users))
	}
}

// steps returns three contexts; a trained length of 0 is unknown and imposes no bound.
func steps(context, trained int64) (out []int64) {
	longest := context
	for range 2 {
		if 2*longest <= searchContext && (trained == 0 || 2*longest <= trained) {
			longest *= 2
		}
	}
	for _, c := range []int64{longest / 4, longest / 2, longest} {
		if c > 0 {
			out = append(out, c)
		}
	}
	return out
}

// Encodes reports whether a model with known layers keeps no state between tokens.
func Encodes(m *model.Model) bool { return len(m.Parts[0].Layers) > 0 && !m.Remembers() }

// Unbounded notes why no cache limits the context.
func Unbounded(m *model.Model) api.Note {
	n := api.Note{Code: "unbounded_context", Severity: "info", Field: "context",
		Text: "the state has a fixed size: memory does not bound the context"}
	if Encodes(m) {
		n.Text = "an encoder caches nothing: what is read in one pass takes memory, and nothing stays"
	}
	return n
}

func (q *Question) rung(context int64, users *int64) api.Rung {
	ranks := q.Sizes(engine.Load{Context: context, Sequences: 1, Silent: true})
	DecidingFirst(ranks)
	r := api.Rung{Context: context, KVBytes: ranks[0].KV.Needed, Verdict: q.Verdict(ranks), MaxUsers: users}
	if room := Headroom(&ranks[0]); room < 0 {
		r.Short = -room
	}
	return r
}

// Reasons says what limits the plan, what it scales with, and what breaks it first.
func (q *Question) Reasons(a *api.Answer, r *engine.Rank) *api.Reasons {
	out := &api.Reasons{}
	var largest *ledger.Item
	for i := range r.Items {
		if it := &r.Items[i]; it.Place == ledger.Device && (largest == nil || it.Bytes > largest.Bytes) {
			largest = it
		}
	}
	if largest != nil {
		out.Limits = fmt.Sprintf("%s: %s of %s GiB", largest.Name, unit.Fixed(largest.Bytes.GiB(), 1),
			unit.Fixed(r.Usable.Bytes().GiB(), 1))
	}
	out.Scales = q.scales(a)
	out.Breaks = breaks(a.KV, q.Job.Load().Sequences)
	return out
}

func (q *Question) scales(a *api.Answer) string {
	one := q.Sizes(engine.Load{Context: int64(q.Request.Context), Sequences: 1, Silent: true})
	DecidingFirst(one)
	per := one[0].KV.Needed
	if a.KV.Pictures {
		return "activations: with the pixels of each, and with how many are made at once"
	}
	if per == 0 {
		return "nothing: no token leaves anything behind"
	}
	s := fmt.Sprintf("%s per user at %s", per, unit.Length(int64(q.Request.Context)))
	if a.KV.BytesPerToken > 0 {
		s = fmt.Sprintf("%s per token and device; %s", a.KV.BytesPerToken, s)
	}
	return s
}

func breaks(kv *api.KV, sequences int64) string {
	users, length := kv.MaxSequences, kv.MaxContext
	switch {
	case users == nil:
		return "nothing in reach"
	case kv.Pictures && *users == 0:
		return "before the first of that size"
	case kv.Pictures:
		return fmt.Sprintf("at %s at once", unit.Count(*users+1))
	case *users == 0 && length != nil && *length > 0:
		return fmt.Sprintf("before the first user at full length; %s tokens fit for %s", unit.Count(*length), usersText(sequences))
	case *users == 0:
		return "before the first user at full length"
	}
	s := fmt.Sprintf("at user %s at full length", unit.Count(*users+1))
	if length != nil {
		s += fmt.Sprintf(", or beyond %s tokens for %s", unit.Count(*length), usersText(sequences))
	}
	return s
}

func usersText(n int64) string {
	if n == 1 {
		return "one"
	}
	return unit.Count(n) + " each"
}
