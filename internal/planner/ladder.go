package planner

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/advice"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Ladder returns single changes to the request and the best plan of each kind found by a search, cheapest first, each
// verified by applying it. Single changes may override given fields, and say so.
func (p *Planner) Ladder(found []api.Candidate) []api.Candidate {
	p.single = true
	out, rungs := firstOfWays(found), p.rungs()
	for i, s := range rungs {
		p.reportProgress(api.PhaseLadder, i, len(rungs), 0, 0, found)
		out = addRung(p, out, &s)
	}
	if c, ok := (joint{p}).withMoreHost(); ok {
		out = append(out, c)
	}
	for _, s := range narrowed(p, cheapestThatFits(out)) {
		if more := addRung(p, out, &s); len(more) > len(out) && more[len(out)].Price < cheapestThatFits(out) {
			out = more
		}
	}
	if p.base.Verdict == api.DoesNotFit {
		if s := (joint{p}).together(cheapestThatFits(readAlongWith(out))); s != nil {
			out = addRung(p, out, s)
		}
	}
	stable.Sort(out, func(a, b api.Candidate) int {
		return cmp.Or(cmp.Compare(lastResort(&a), lastResort(&b)), cmp.Compare(a.Price, b.Price), -cmp.Compare(ratioOf(&a), ratioOf(&b)))
	})
	return withoutNeedless(out, p.base.Devices[0].Capacity/100)
}

// lastResort returns 2 for a change after which the plan still does not fit, pointless while another makes it fit, 1
// for one that runs too slowly to read, else 0.
func lastResort(c *api.Candidate) int {
	switch {
	case c.Verdict == api.DoesNotFit:
		return 2
	case c.Slow:
		return 1
	}
	return 0
}

// withoutNeedless drops changes that include all of another one without more speed or noticeably more headroom.
func withoutNeedless(all []api.Candidate, seen unit.Bytes) []api.Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c api.Candidate) bool {
		return slices.ContainsFunc(all, func(o api.Candidate) bool { return doesMore(&c, &o) && !gainsOver(&c, &o, seen) })
	})
}

// doesMore reports whether the changes of c include those of o and others.
func doesMore(c, o *api.Candidate) bool {
	for field, to := range o.Patch {
		if !reflect.DeepEqual(c.Patch[field], to) {
			return false
		}
	}
	return len(o.Patch) > 0 && len(c.Patch) > len(o.Patch)
}

// gainsOver reports whether c leaves noticeably more headroom than o, or is noticeably faster.
func gainsOver(c, o *api.Candidate, seen unit.Bytes) bool {
	return question.VerdictSeverity[c.Verdict] < question.VerdictSeverity[o.Verdict] ||
		c.Lacks-o.Lacks > seen || ratioOf(c) > noSlower*ratioOf(o)
}

// ratioOf returns a change's speed ratio; 1 if unknown.
func ratioOf(c *api.Candidate) float64 {
	if c.SpeedRatio == nil {
		return 1
	}
	return *c.SpeedRatio
}

// onlyTight is the price of a plan that may not start after all.
const onlyTight = 2

// addRung evaluates one more change, and adds it if it helps and a practitioner would suggest it. What its memory rules out is
// never timed.
func addRung(p *Planner, out []api.Candidate, s *change.Setting) []api.Candidate {
	r := p.Asked
	s.Set(&r)
	t, ok := try(p, &r, s.Words)
	if !ok || !t.mayHelp(p) || slices.ContainsFunc(out, func(o api.Candidate) bool { return reflect.DeepEqual(o.Plan, t.Plan) }) {
		return out
	}
	c := t.completed(p)
	cure := p.cure(&c)
	if !p.helps(&c) || advice.Refused(cure) != nil {
		return out
	}
	if now := p.base.Plan; r.Weights == "" && c.Plan.Engine == now.Engine && c.Plan.Weights != now.Weights {
		c.Change += ", " + c.Plan.Weights // the resulting default
	}
	c.Effort, c.Loss, c.Slow = s.Price, cure.Loss, advice.Slow(cure)
	c.Price += s.Price + p.slowdown(&api.Answer{Speed: c.Speed, Plan: c.Plan})
	if c.Verdict == api.Tight {
		c.Price += onlyTight
	}
	return append(out, c)
}

// readAlongWith returns changes that keep up with reading speed.
func readAlongWith(found []api.Candidate) []api.Candidate {
	return slices.DeleteFunc(slices.Clone(found), func(c api.Candidate) bool { return c.Slow })
}

// cheapestThatFits returns the lowest price of changes after which the plan fits; infinite if none.
func cheapestThatFits(found []api.Candidate) float64 {
	least := math.Inf(1)
	for i := range found {
		if found[i].Verdict == api.Fits {
			least = min(least, found[i].Price)
		}
	}
	return least
}

// cure returns what advice depends on of a candidate.
func (p *Planner) cure(c *api.Candidate) *advice.Cure {
	asked, r := &p.Question.Request, c.Plan
	x := &advice.Cure{Users: float64(r.Sequences) / float64(max(1, asked.Sequences)),
		Context:    float64(r.Context) / float64(max(1, asked.Context)),
		AskedUsers: int64(asked.Sequences), Serves: !p.gguf() && p.Question.Engine.Name() != question.TransformersEngine,
		Starts:      roomFor(p.Question) > 0,
		Lacks:       p.base.Verdict != api.Fits || p.want != "" || spillsSlowly(p, p.base),
		Experts:     p.Question.Job.Model.ActiveParams() < p.Question.Job.Model.Params(),
		OtherEngine: engineName(r.Engine) != engineName(asked.Engine)}
	if name := r.Weights; name != asked.Weights {
		x.Loss = lossOfWeights(p.Order, asked.Weights, name)
		if f := dtype.FindRecipe(name); f != nil {
			x.Bits, x.Guessed = f.BulkBits(), p.Order.Weights(f).Guess != ""
		}
	}
	if l := c.Quality; l != nil && l.LowerIsBetter {
		x.Loss = max(x.Loss, l.Mid) // what is shown with it
	}
	if c.SpeedRatio != nil {
		x.Speed = *c.SpeedRatio
	}
	if c.Speed != nil && c.Speed.Decode != nil {
		x.Decode = *c.Speed.Decode
	}
	for name := range c.Patch {
		x.Given = x.Given || p.Among[name] != nil
	}
	return x
}

// roomFor returns how many users a plan serves at once, while others wait.
func roomFor(q *question.Question) int64 {
	if n := q.MaxSequences(q.Job.Load().Context); n != nil {
		return *n
	}
	return 0
}

// engineName returns an engine without its version.
func engineName(s string) string {
	name, _, _ := strings.Cut(s, "@")
	return name
}

// helps reports whether the change makes the plan fit, or removes a good part of the shortage; for a plan that fits,
// whether it makes it faster or much smaller.
func (p *Planner) helps(c *api.Candidate) bool {
	d := &p.base.Devices[0]
	least := max(1, -d.Headroom/20)
	if p.base.Verdict == api.Fits {
		faster := c.SpeedRatio != nil && *c.SpeedRatio > 1.05
		keeps := !addsDevices(p.base.Plan, c.Plan) && p.cure(c).Loss < 1
		return faster || c.Saves >= d.Needed/20 && keeps
	}
	return question.VerdictSeverity[c.Verdict] < question.VerdictSeverity[p.base.Verdict] || c.Saves >= least
}

// addsDevices reports whether a plan uses more or other hardware, which nobody buys for headroom they already have.
func addsDevices(from, to *api.Request) bool {
	return to.Hardware != from.Hardware || to.Devices != from.Devices
}

// firstOfWays returns the best plan of each way to run the model.
func firstOfWays(found []api.Candidate) (out []api.Candidate) {
	for i := range found {
		if len(found[i].Patch) == 0 {
			continue // as requested
		}
		if !slices.ContainsFunc(out, func(c api.Candidate) bool { return c.Way == found[i].Way }) {
			out = append(out, found[i])
		}
	}
	return out
}

// rungs returns all single changes.
func (p *Planner) rungs() (out []change.Setting) {
	for _, a := range p.axes(p.Question, true, false) {
		out = append(out, a.Settings[1:]...)
	}
	out = append(out, smallerLoads(p.Question)...)
	out = append(out, fewerGraphs(p.Question)...)
	out = append(out, granted(p)...)
	for _, w := range p.ways(true) {
		switch {
		case w.words != "" && !w.spills:
			out = append(out, change.Setting{Words: w.words, Short: w.words, Set: w.Set, Price: w.price})
		case w.spills && w.words == "":
			if r := p.Placed(&p.Asked); r != nil {
				out = append(out, change.Setting{Words: placedWords(p.Question, r), Short: "",
					Set: func(to *api.Request) { *to = *r }, Price: w.price})
			} else if s := placedOnLargerHost(p); s != nil {
				out = append(out, *s)
			}
		case w.spills && p.Question.Job.Device(0).Consumer():
			r := p.Asked
			w.Set(&r)
			if to := p.Placed(&r); to != nil {
				words := w.words + ", " + placedWords(p.Question, to)
				out = append(out, change.Setting{Words: words, Short: words, Set: func(r *api.Request) { *r = *to }, Price: w.price})
			}
		}
	}
	if e, ok := p.Question.Engine.(llamacpp.Engine); ok && e.Fits(p.Question.Job) && p.Question.Request.Fit != "on" &&
		p.Spillable(p.Question) {
		out = append(out, change.Setting{Words: "llama.cpp's own --fit", Short: "", Set: func(r *api.Request) { r.Fit = "on" },
			Price: leftToEngine + spillPrice(p)})
	}
	return append(out, p.moreDevices()...)
}

// leftToEngine is the price of a placement that the engine determines itself: an explicit one is the same on every
// start.
const leftToEngine = 1

// placedWords describes what is placed on the host.
func placedWords(q *question.Question, r *api.Request) string {
	m := q.Job.Model
	var words []string
	if n := r.GPULayers; n != nil && *n >= 0 {
		words = append(words, fmt.Sprintf("%d of %d layers on the device", *n, len(m.Decoder().Layers)+1))
	}
	if n := r.CPUMoE; n != nil && *n < 0 {
		words = append(words, "all experts on the host")
	}
	if n := r.CPUMoE; n != nil && *n > 0 {
		words = append(words, fmt.Sprintf("experts of %d layers on the host", *n))
	}
	if r.OverrideTensor != "" && len(words) < 2 {
		words = append(words, "some experts on the host")
	}
	if n := r.CPUOffload; n > 0 {
		words = append(words, unit.Bytes(n).String()+" of weights"+ofEach(q)+" on the host")
	}
	if len(words) == 0 {
		return "layers shared by what devices hold"
	}
	return strings.Join(words, ", ")
}

// ofEach adds that an amount is per device, if there are several.
func ofEach(q *question.Question) string {
	if q.Job.Machine.Devices() > 1 {
		return " of each device"
	}
	return ""
}

// placedOnLargerHost offloads what the devices lack to a host with more memory, if the stated one is too small.
func placedOnLargerHost(p *Planner) *change.Setting {
	for _, n := range largerHosts {
		r := p.Asked
		r.Hardware = withHost(r.Hardware, int64(n/unit.GiB))
		if h := p.Question.Job.Machine; h == nil || !h.Host.Memory.Known || n <= h.Host.Memory.Value ||
			p.largerHost(p.Question, question.Spare(n)) != n {
			continue
		}
		if to := p.Placed(&r); to != nil {
			words := onHostOf(placedWords(p.Question, to), n)
			return &change.Setting{Words: words, Set: func(r *api.Request) { *r = *to }, Price: hostToBuy(n)}
		}
	}
	return nil
}

// onHostOf adds to a placement how much memory its host has.
func onHostOf(words string, n unit.Bytes) string {
	return strings.Replace(words, "the host", fmt.Sprintf("a %d GiB host", n/unit.GiB), 1)
}

// lessIsDear is the price of half the context, or half the users.
const lessIsDear = 5

// smallerLoads returns a context or number of users that memory allows.
func smallerLoads(q *question.Question) (out []change.Setting) {
	if n := q.MaxContext(q.Job.Load().Sequences); n != nil {
		if c := *n / 1024 * 1024; c >= 1024 && c < int64(q.Request.Context) {
			words := fmt.Sprintf("%s %s → %s", lengthWord(q), unit.Length(int64(q.Request.Context)), unit.Length(c))
			out = append(out, change.Setting{Words: words, Short: words,
				Set:   func(r *api.Request) { r.Context, r.PromptTokens, r.OutputTokens, r.ContextTotal = plan.Int(c), 0, 0, 0 },
				Price: lessIsDear * math.Log2(float64(q.Request.Context)/float64(c))})
		}
	}
	if n, now := q.MaxSequences(q.Job.Load().Context),
		int64(q.Request.Sequences); n != nil && *n > 0 && *n < now {
		out = append(out, change.Setting{Words: fmt.Sprintf("%s %s instead of %s", unit.Count(*n), loadWord(q), unit.Count(now)), Short: "",
			Set: func(r *api.Request) { r.Sequences = plan.Int(*n) }, Price: lessIsDear * math.Log2(float64(now)/float64(*n))})
	}
	return out
}

// lengthWord and loadWord name a load's length and number; for a diffusion model, of images.
func lengthWord(q *question.Question) string {
	if makesPictures(q) {
		return "tokens of each"
	}
	return "context"
}

func loadWord(q *question.Question) string {
	if makesPictures(q) {
		return "at once"
	}
	return "users"
}

func makesPictures(q *question.Question) bool { return q.Job.Model.Part(model.PartDenoiser) != nil }

// moreDevices returns more devices of the same kind: the fewest doublings that hold the plan, else one.
func (p *Planner) moreDevices() []change.Setting {
	m := p.Question.Job.Machine
	if !growsByDevices(m) {
		return nil
	}
	once := withDevices(p.Question, 2*m.Groups[0].Count)
	for n := 2 * m.Groups[0].Count; n <= mostDevices(p, m); n *= 2 {
		s, r := withDevices(p.Question, n), p.Asked
		s.Set(&r)
		if q, ranks, err := p.env.SizedRanks(&r); err == nil && q.Verdict(ranks) == api.Fits {
			return []change.Setting{s}
		}
	}
	return []change.Setting{once}
}

// growsByDevices reports whether more devices of its kind can be added to a machine, or more such machines combined.
func growsByDevices(m *hardware.Machine) bool {
	return m != nil && len(m.Groups) == 1 && m.Node == "" && question.UnifiedPool(m) == 0
}

// mostDevices returns the most devices that people would add to a machine for the load: a single user with PC cards at
// most doubles them, and otherwise changes model or card.
func mostDevices(p *Planner, m *hardware.Machine) int {
	most := mostOf(&m.Groups[0].Device)
	d := &m.Groups[0].Device
	alone := p.gguf() || p.Question.Engine.Name() == question.TransformersEngine
	few := int64(p.Question.Request.Sequences) <= advice.FewUsers && unit.Bytes(most)*d.Memory.Value <= largestCard
	if (alone || few) && d.Consumer() {
		return min(most, 2*m.Groups[0].Count)
	}
	return most
}

// largestCard is the largest memory of a PC card: a user with a light load buys one such card rather than four that hold no more.
const largestCard = 32 * unit.GiB

// mostOf returns the most devices of a kind that people add to hold one model: eight data-center nodes, one machine of other cards,
// and as many as one power supply carries at home.
func mostOf(d *hardware.Device) int {
	if strings.HasPrefix(d.Kind, "HBM") {
		return 64
	}
	if d.Consumer() {
		return 4
	}
	return 8
}

// withDevices returns a change to n devices of the machine's kind: one pipeline stage per node beyond a node, and the engine's own
// sharing within one.
func withDevices(q *question.Question, n int) change.Setting {
	d, to := &q.Job.Machine.Groups[0].Device, change.HardwareOfKind(q, n)
	tp, pp := int64(0), int64(0)
	if node := int64(d.PerNode.Value); d.PerNode.Known && int64(n) > node && !engine.ReadsGGUF(q.Engine) {
		tp, pp = node, int64(n)/node
	}
	return change.Setting{Words: fmt.Sprintf("%d × %s", n, d.Name), Short: "",
		Set:   func(r *api.Request) { r.Hardware, r.Devices, r.TP, r.PP, r.DP = to, 0, tp, pp, 0 },
		Price: priceOfDevices(n, q.Job.Machine.Groups[0].Count)}
}

// speedRatio returns the ratio of total throughput, including users that wait for memory; for a single user, of that user's rate.
func (p *Planner) speedRatio(to *api.Speed) *float64 {
	if p.Question.Request.Sequences > 1 {
		return question.MoreTokens(p.base.Speed, to)
	}
	return question.Faster(p.base.Speed, to)
}

// largerHosts are the memory sizes beyond the usual one that a PC takes.
var largerHosts = []unit.Bytes{64 * unit.GiB, 96 * unit.GiB, 128 * unit.GiB, 192 * unit.GiB, 256 * unit.GiB}

// memoryToBuy is the price of a host with twice the memory of a usual one.
const memoryToBuy = 2

// hostToBuy returns the price of a host with n bytes of memory relative to a usual one.
func hostToBuy(n unit.Bytes) float64 {
	return memoryToBuy * math.Log2(float64(n)/float64(largerHosts[0]/2))
}

// spared reports whether the host has n bytes free beside the system, or usually would if its memory is not given.
func (p *Planner) spared(q *question.Question, n unit.Bytes) bool {
	return n <= max(question.SpareHost(q.Job.Machine), p.onHost) || question.UnifiedPool(q.Job.Machine) > 0
}

// largerHost returns the memory of a PC that has the needed bytes free, if the host is not given; 0 if no PC has as much.
func (p *Planner) largerHost(q *question.Question, needed unit.Bytes) unit.Bytes {
	m := q.Job.Machine
	if m == nil || m.Host.Memory.Known && !p.single || m.Nodes > 1 || len(m.Groups) != 1 || !m.Groups[0].Device.Consumer() || !p.gguf() {
		return 0
	}
	for _, n := range largerHosts {
		if needed <= question.Spare(n) && (!m.Host.Memory.Known || n > m.Host.Memory.Value) {
			return n
		}
	}
	return 0
}

// onLargerHost sizes the request on a host with the needed memory; ok is false if no PC has it.
func (p *Planner) onLargerHost(q *question.Question, r *api.Request, needed unit.Bytes, words string) (trial, bool) {
	n := p.largerHost(q, needed)
	if n == 0 {
		return trial{}, false
	}
	to := *r
	to.Hardware = withHost(to.Hardware, int64(n/unit.GiB))
	t, ok := try(p, &to, onHostOf(words, n))
	t.Price = hostToBuy(n)
	return t, ok
}

// addCommandAndCost adds the command that runs a candidate and its cost.
func (p *Planner) addCommandAndCost(c *api.Candidate, q *question.Question) {
	c.Flags = q.Flags()
	if m := q.Job.Machine; m != nil {
		c.Capacity, c.USDPerHour = m.Memory(), p.env.PerHour(m)
	}
	c.MaxSequences = q.MaxSequences(q.Job.Load().Context)
	c.Arguments = addedArguments(p.command, c.Flags[q.Engine.Name()])
	if c.Speed != nil {
		c.Cost = c.Speed.USDPerMillion
	}
	for name := range c.Patch {
		if f := api.FieldByName(name); f != nil && !f.Value(&p.Asked).IsZero() {
			c.Relaxes = append(c.Relaxes, name)
		}
	}
	slices.Sort(c.Relaxes)
}

// addedArguments returns the arguments of one command line that another lacks.
func addedArguments(from, to string) string {
	has := map[string]bool{}
	for _, a := range arguments(from) {
		has[a] = true
	}
	var out []string
	for _, a := range arguments(to) {
		if !has[a] {
			out = append(out, a)
		}
	}
	return strings.Join(out, " ")
}

// arguments returns the options of a command line, each with its value, without the program and the model it loads.
func arguments(command string) (out []string) {
	for _, word := range argv.Words(command) {
		switch {
		case strings.HasPrefix(word, "-") && (len(word) > 1 && (word[1] < '0' || word[1] > '9')):
			out = append(out, word)
		case len(out) > 0:
			out[len(out)-1] += " " + word
		}
	}
	return out
}
