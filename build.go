package memwall

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// size turns ledgers into the part of an Answer that follows from them.
func (q *question) size(ranks []engine.Rank) *Answer {
	decidingFirst(ranks)
	a := &Answer{Model: q.modelInfo(), Plan: q.plan(), Verdict: q.verdict(ranks)}
	if q.request.Explain {
		q.explain = &explainer{book: q.book, out: map[string]Explain{}}
	}
	for i := range ranks {
		a.Devices = append(a.Devices, q.device(q.explain, i, &ranks[i]))
	}
	q.prompting(a)
	a.Host = q.host(q.explain, ranks)
	a.Disk = q.elsewhere(q.explain, "/disk/ledger", ranks, onDisk)
	a.Pool = q.elsewhere(q.explain, "/pool/ledger", ranks, inPool)
	a.KV = q.kv(&ranks[0])
	a.Prints = prints(&ranks[0])
	a.Speed = q.speed(a.KV)
	return a
}

// answer adds what the plan could hold, what would help and how to run it.
func (q *question) answer(ranks []engine.Rank) (*Answer, error) {
	a := q.size(ranks)
	if !ranks[0].Unlimited && q.resolved.UnknownArch == "" {
		q.outlook(a, ranks)
	}
	if ranks[0].Unlimited {
		a.FitsOn = q.fitsOn()
	}
	a.Suggestions = q.suggest(a)
	a.Flags = q.flags()
	a.Notes = append(a.Notes, q.notes()...)
	if q.request.Explain {
		q.explain.speed(a.Speed, a.Speed.source())
		q.explain.rest(a)
		a.Explain = q.explain.out
	}
	return a, nil
}

func (q *question) plan() *Request {
	p := q.request
	p.Also, p.Explain = nil, false
	return &p
}

func (q *question) modelInfo() *ModelInfo {
	m, r := q.job.Model, q.resolved
	info := &ModelInfo{ID: r.ID, Name: r.Name, Architecture: m.Arch, Layers: int64(len(m.Decoder().Layers)), Parameters: m.Params(), ActiveParameters: m.ActiveParams(),
		WeightsBytes: q.job.Weights.Bytes(), Context: m.Context, Provenance: r.Provenance}
	if mtp := m.Part(model.PartMTP); mtp != nil {
		info.ParametersMTP = mtp.Params()
	}
	info.EmbeddingParameters = m.Vocab * m.Hidden
	if r.UnknownArch != "" {
		info.Layers, info.Parameters, info.ActiveParameters = r.Layers, r.Parameters, r.Parameters
	}
	return info
}

func (q *question) device(x *explainer, i int, r *engine.Rank) Device {
	at := "/devices/" + strconv.Itoa(i)
	n := r.Needed()
	d := Device{Name: r.Name, Ranks: rankNames(r, q.request.TP), Count: r.Count * q.request.Workers(), Needed: n.Bytes, NeededLow: n.Low, NeededHigh: n.High, Used: n.Bytes, Limit: r.Limit}
	if !r.Unlimited {
		d.Capacity, d.Usable = r.Capacity.Bytes(), r.Usable.Bytes()
		d.Headroom = headroom(r)
		x.num(at+"/capacity_bytes", r.Capacity, r.UsableBasis)
		x.num(at+"/usable_bytes", r.Usable, r.UsableBasis)
	}
	d.Ledger = q.items(x, at+"/ledger", onDevice(r.Items))
	if unused := r.KV.Pool - r.KV.Needed; r.KV.Preallocated && unused > 0 && r.KV.Needed > 0 && !r.Unlimited {
		d.Used += unused
		k := q.book
		left := k.Sub(k.Size("pool", r.KV.Pool, "what the engine allocates ahead"), k.Size("needed", r.KV.Needed, "kv_cache and state"))
		it := ledger.Known("pool_unused", "left in the pool", left, ledger.Derived, ledger.SemiPersistent, ledger.Device, "pages no sequence of this plan uses")
		it = it.Band(max(0, it.Bytes-(n.High-n.Bytes)), it.Bytes+(n.Bytes-n.Low)) // what the rest takes more, the pool has less
		d.Ledger = append(d.Ledger, q.item(x, at+"/ledger/"+strconv.Itoa(len(d.Ledger)), &it))
	}
	x.total(at, n, d.Ledger)
	if len(r.Beside) > 0 {
		d.Beside = q.items(x, at+"/beside", r.Beside)
	}
	return d
}

func onDevice(items []ledger.Item) (out []ledger.Item) {
	for _, it := range items {
		if it.Place == ledger.Device {
			out = append(out, it)
		}
	}
	return out
}

// rankNames numbers the ranks of a replica that are alike.
func rankNames(r *engine.Rank, tp int64) string {
	last := r.Index + min(r.Count, max(1, tp)) - 1
	if last == r.Index {
		return strconv.FormatInt(r.Index, 10)
	}
	return fmt.Sprintf("%d-%d", r.Index, last)
}

func (q *question) items(x *explainer, at string, items []ledger.Item) []Item {
	out := make([]Item, len(items))
	for i := range items {
		out[i] = q.item(x, at+"/"+strconv.Itoa(i), &items[i])
	}
	return out
}

func (q *question) item(x *explainer, at string, it *ledger.Item) Item {
	out := Item{ID: it.ID, Name: it.Name, Bytes: it.Bytes, Low: it.Low, High: it.High, Unknown: it.Unknown, Basis: it.Basis, Life: it.Life, Place: it.Place, Source: it.Source}
	f := q.book.Formula(it.Why)
	out.Formula = f.Text
	x.item(at, it, f)
	if len(it.Items) > 0 {
		out.Items = q.items(x, at+"/items", it.Items)
	}
	return out
}

// elsewhere sums what lies in host memory or on disk, over the ranks of one node.
func (q *question) elsewhere(x *explainer, at string, ranks []engine.Rank, keep func(ledger.Place) bool) *Memory {
	var items []ledger.Item
	for i := range ranks {
		for _, it := range ranks[i].Host {
			if keep(it.Place) {
				items = append(items, q.times(it, min(ranks[i].Count, q.job.PerNode()), "of one node"))
			}
		}
	}
	if len(items) == 0 {
		return nil
	}
	n := ledger.Sum(items)
	return &Memory{Needed: n.Bytes, NeededLow: n.Low, NeededHigh: n.High, Ledger: q.items(x, at, items)}
}

// times is an item of one rank for as many ranks, which are so and so.
func (q *question) times(it ledger.Item, ranks int64, which string) ledger.Item {
	if ranks == 1 {
		return it
	}
	n := q.book.Mul(q.book.Int("ranks", ranks, which), it.Why)
	out := many(it, ranks)
	out.Why = n
	return out
}

// many multiplies the bytes of an item.
func many(it ledger.Item, ranks int64) ledger.Item {
	it.Bytes, it.Low, it.High, it.Items = it.Bytes*unit.Bytes(ranks), it.Low*unit.Bytes(ranks), it.High*unit.Bytes(ranks), nil
	return it
}

func (q *question) host(x *explainer, ranks []engine.Rank) *Memory {
	m := q.elsewhere(x, "/host/ledger", ranks, func(p ledger.Place) bool { return p != ledger.Disk && p != ledger.Pool })
	if room, ok := q.hostCapacity(); m != nil && ok {
		m.Capacity = room.Bytes()
		m.Headroom = m.Capacity - q.hostNeeds(ranks).Bytes
		q.notePaging(m)
	}
	return m
}

func onDisk(p ledger.Place) bool { return p == ledger.Disk }

func inPool(p ledger.Place) bool { return p == ledger.Pool }

func (q *question) kv(r *engine.Rank) *KV {
	k := r.KV
	out := &KV{BytesPerToken: k.PerToken, PoolBytes: k.Pool, NeededBytes: k.Needed, Blocks: k.Blocks, BlockTokens: k.BlockTokens}
	if k.Tokens >= 0 && k.Needed > 0 {
		out.CapacityTokens = &k.Tokens
	}
	return out
}

func prints(r *engine.Rank) (out []Print) {
	for _, p := range r.Prints {
		p = p.Banded()
		out = append(out, Print{Name: p.Name, Value: p.Value, Low: p.Low, High: p.High, Text: p.Text, Unit: p.Unit})
	}
	return out
}

func (q *question) notes() (out []Note) {
	for _, n := range q.job.Notes {
		out = append(out, Note{Code: n.Code, Severity: n.Severity, Field: n.Field, Text: n.Text})
	}
	return append(out, q.resolved.Notes...)
}

// flags are the command lines that run the plan: where some workers compute prompts for others, one of each kind. A network that is described or changed has no files to run.
func (q *question) flags() map[string]string {
	if q.resolved.Format == "description" || len(q.request.Override) > 0 {
		return nil
	}
	c := q.engine.Command(q.job)
	if c == "" {
		return nil
	}
	out := map[string]string{q.engine.Name(): c}
	if q.prompter != nil {
		out[q.engine.Name()+" (prompts)"] = q.prompter.engine.Command(q.prompter.job)
	}
	return out
}

// outlook is what the plan could hold: limits, rungs of context, reasons.
func (q *question) outlook(a *Answer, ranks []engine.Rank) {
	p := &q.request.Plan
	load := q.job.Load()
	a.KV.MaxSequences = q.maxSequences(load.Context)
	a.KV.MaxContext = q.maxContext(load.Sequences)
	if m := q.job.Model; a.KV.MaxContext == nil || encodes(m) {
		a.Notes = append(a.Notes, unbounded(m))
	}
	if nothing := a.KV.MaxContext == nil && a.KV.MaxSequences == nil && a.KV.NeededBytes == 0; !nothing {
		q.rungs(a, int64(p.Context))
	}
	a.Reasons = q.reasons(a, &ranks[0])
}

// rungs are three contexts, each the double of the one before: the one asked for, longer ones up to what the
// model was trained on, and shorter ones where no longer ones are left.
func (q *question) rungs(a *Answer, context int64) {
	for _, c := range steps(context, q.job.Model.Context) {
		users := a.KV.MaxSequences
		if c != context {
			users = q.maxSequences(c)
		}
		a.Rungs = append(a.Rungs, q.rung(c, users))
	}
}

// steps are three contexts; a trained length of 0 is not known and bounds nothing.
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

// encodes reports whether a model whose layers are known keeps nothing of what it reads.
func encodes(m *model.Model) bool { return len(m.Parts[0].Layers) > 0 && !m.Remembers() }

// unbounded says why no cache bounds the context.
func unbounded(m *model.Model) Note {
	n := Note{Code: "unbounded_context", Severity: "info", Field: "context", Text: "the state has a fixed size: memory does not bound the context"}
	if encodes(m) {
		n.Text = "an encoder caches nothing: what is read in one pass takes memory, and nothing stays"
	}
	return n
}

func (q *question) rung(context int64, users *int64) Rung {
	ranks := q.sizer.Size(nil, engine.Load{Context: context, Sequences: 1, Silent: true})
	decidingFirst(ranks)
	r := Rung{Context: context, KVBytes: ranks[0].KV.Needed, Verdict: q.verdict(ranks), MaxUsers: users}
	if room := headroom(&ranks[0]); room < 0 {
		r.Short = -room
	}
	return r
}

func (q *question) reasons(a *Answer, r *engine.Rank) *Reasons {
	out := &Reasons{}
	var largest *ledger.Item
	for i := range r.Items {
		if it := &r.Items[i]; it.Place == ledger.Device && (largest == nil || it.Bytes > largest.Bytes) {
			largest = it
		}
	}
	if largest != nil {
		out.Limits = fmt.Sprintf("%s: %s of %s GiB", largest.Name, unit.Fixed(largest.Bytes.GiB(), 1), unit.Fixed(r.Usable.Bytes().GiB(), 1))
	}
	out.Scales = q.scales(a)
	out.Breaks = q.breaks(a)
	return out
}

func (q *question) scales(a *Answer) string {
	one := q.sizer.Size(nil, engine.Load{Context: int64(q.request.Context), Sequences: 1, Silent: true})
	decidingFirst(one)
	per := one[0].KV.Needed
	if per == 0 {
		return "nothing: no token leaves anything behind"
	}
	s := fmt.Sprintf("%s per user at %s", per, unit.Length(int64(q.request.Context)))
	if a.KV.BytesPerToken > 0 {
		s = fmt.Sprintf("%s per token and device; %s", a.KV.BytesPerToken, s)
	}
	return s
}

func (q *question) breaks(a *Answer) string {
	users, length := a.KV.MaxSequences, a.KV.MaxContext
	switch {
	case users == nil:
		return "nothing in reach"
	case *users == 0:
		return "before the first user at full length"
	}
	s := fmt.Sprintf("at user %s at full length", unit.Count(*users+1))
	if length != nil {
		s += fmt.Sprintf(", or beyond %s tokens for %s", unit.Count(*length), people(q.job.Load().Sequences))
	}
	return s
}

func people(n int64) string {
	if n == 1 {
		return "one"
	}
	return unit.Count(n) + " each"
}
