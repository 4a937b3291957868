package memwall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// A trace that links kernels with the operators that launched them is set beside the model's own operators, row by row.
// Rows of a class add up to the class's line, in the trace and in what memwall says. compare_products.go tells which
// operator of the model a matrix product is.

// OperatorLine is an operator of the model, or several that a trace does not tell apart, or one of PyTorch that is none of
// the model's. Times are milliseconds of a step of one device.
type OperatorLine struct {
	// Class of kernels, as in the line of the same class: products, attention, elementwise, ….
	Class string `json:"class"`
	Name  string `json:"name"`
	// Members are the model's operators that the row is, when they are more than one.
	Members []string `json:"members,omitempty"`
	// Shape of a layer's matrix as a rank has it, outputs by inputs; of a collective what is sent.
	Shape string `json:"shape,omitempty"`
	// Calls of PyTorch's operators in a step.
	Calls float64 `json:"calls"`
	// Printed is null when the trace has no such operator, Ours when memwall has none; why says what is missing then.
	Printed *float64 `json:"printed"`
	Ours    *float64 `json:"ours"`
	Low     *float64 `json:"ours_low,omitempty"`
	High    *float64 `json:"ours_high,omitempty"`
	Ratio   *float64 `json:"ratio"` // printed over ours
	Within  bool     `json:"within"`
	// FLOPs and Bytes a second that it reached; PeakFraction is the share of the device's dense peak for such operands.
	FLOPs        *float64 `json:"flops_per_s,omitempty"`
	Bytes        *float64 `json:"bytes_per_s,omitempty"`
	PeakFraction *float64 `json:"peak_fraction,omitempty"`
	// Of are the calls that it is made of, the longest first, at most eight.
	Of  []OperatorCall `json:"of,omitempty"`
	Why string         `json:"why,omitempty"`
}

// OperatorCall are calls of one operator of PyTorch with one shape.
type OperatorCall struct {
	Name string `json:"name"`
	// Shape of a product: rows by columns of the result, by the side that is summed over.
	Shape string  `json:"shape,omitempty"`
	Pass  string  `json:"pass,omitempty"`
	Calls float64 `json:"calls"`
	MS    float64 `json:"ms"`
}

const mostCalls = 8

// operated is a row on its way to an answer.
type operated struct {
	OperatorLine
	ms, flops, bytes float64 // measured; operations and bytes of a step
	timed            float64 // milliseconds of what operations are known of
	types            []string
	own              float64 // ms of memwall's, 0 without
	known            bool
	vague            bool // of operators that the trace does not tell apart
	place            int
}

// operators sets the operators of a trace beside the model's.
type operators struct {
	c      *comparison
	device *hardware.Device
	own    []ownOperator
	whole  estimate // a step
	rows   []*operated
	byKey  map[string]*operated
}

// ownOperator is one of memwall's with the class of its kernels.
type ownOperator struct {
	speed.Operator
	class string
}

// operators adds the rows of a trace that has any.
func (c *comparison) operators(a *Asker) []OperatorLine {
	if len(c.log.Operators) == 0 {
		return nil
	}
	o := &operators{c: c, byKey: map[string]*operated{}}
	o.predicted(a)
	match := newMatcher(o.own, c.log.Operators)
	for i := range c.log.Operators {
		o.measured(&c.log.Operators[i], match)
	}
	for i := range o.own {
		o.predictedRow(i, match)
	}
	o.otherShapes()
	o.blended()
	return o.lines()
}

// otherShapes warns when most products are of shapes that the model does not have.
func (o *operators) otherShapes() {
	var all, known float64
	for _, r := range o.rows {
		if r.Class == "products" && r.flops > 0 {
			all += r.ms
			if r.known {
				known += r.ms
			}
		}
	}
	if o.whole.known && known < all/2 {
		o.c.note("other_shapes", "warn", "model", "%.0f %% of the time of matrix products is of shapes that %s does not have in this plan: is it of another model, or shared by other groups (--tp)?", 100*(1-known/all), o.c.request.Model)
	}
}

// blended makes one row of a class's operators that the trace does not show and of what may be any of them: kernels and
// products that the trace does not tell apart, and of PyTorch's cheap operators all that are none of the model's, whose
// sums and products of elements are parts of any.
func (o *operators) blended() {
	for _, class := range o.classes() {
		var own, measured []*operated
		for _, r := range o.rows {
			switch {
			case r.Class != class:
			case r.Printed == nil:
				own = append(own, r)
			case !r.known && (class == "elementwise" || r.vague):
				measured = append(measured, r)
			}
		}
		if len(own) > 0 && len(measured) > 0 {
			o.rows = slices.DeleteFunc(o.rows, func(r *operated) bool { return slices.Contains(own, r) || slices.Contains(measured, r) })
			o.rows = append(o.rows, blend(class, own, measured))
		}
	}
}

// classes of all rows.
func (o *operators) classes() (out []string) {
	for _, r := range o.rows {
		if !slices.Contains(out, r.Class) {
			out = append(out, r.Class)
		}
	}
	return out
}

// several is a name for so many operators.
func several(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
	}
	return strings.Join(names, ", ")
}

func blend(class string, own, measured []*operated) *operated {
	r := &operated{OperatorLine: OperatorLine{Class: class}, known: true, place: own[0].place}
	r.Printed = &r.ms
	slices.SortStableFunc(own, func(a, b *operated) int { return cmp.Compare(b.own, a.own) })
	var names []string
	for _, x := range own {
		names, r.own = append(names, x.Name), r.own+x.own
	}
	for _, x := range measured {
		r.ms, r.Calls, r.Of = r.ms+x.ms, r.Calls+x.Calls, append(r.Of, x.Of...)
	}
	slices.SortStableFunc(r.Of, func(a, b OperatorCall) int { return cmp.Compare(b.MS, a.MS) })
	r.Name, r.Members, r.Of = several(names), names, r.Of[:min(len(r.Of), mostCalls)]
	return r
}

// predicted are memwall's operators, where the trace has steps and memwall a time for them.
func (o *operators) predicted(a *Asker) {
	c := o.c
	if c.sized == nil || c.log.Find("time_step") == nil {
		return
	}
	classes, list, parts := trainingParts, []speed.Operator(nil), []StepPart(nil)
	switch {
	case c.sized.Step != nil:
		o.whole, parts = stepPart(c.sized.Step, "step"), c.sized.Step.Parts
		list, o.device = c.trainingOperators(a)
	case c.sized.Speed != nil && !c.log.Noted("mixed_steps") && !c.log.Noted("prompt_steps"):
		classes, o.whole = decodingParts, decodePart(c.sized.Speed, "step")
		for _, p := range c.sized.Speed.Parts {
			parts = append(parts, StepPart{Name: p.Name, Seconds: p.MS / 1e3})
		}
		list, o.device = c.decodingOperators(a)
	}
	for _, x := range agreeing(list, parts) {
		if class := classOfPart(classes, x.Part); class != "" {
			o.own = append(o.own, ownOperator{x, class})
		}
	}
}

// agreeing are the operators of the parts that they add up to, and of others the part alone.
func agreeing(list []speed.Operator, parts []StepPart) (out []speed.Operator) {
	const rounding = 2e-3
	for _, p := range parts {
		var of []speed.Operator
		sum := 0.0
		for _, x := range list {
			if identifier(x.Part) == p.Name {
				x.Part = p.Name
				of, sum = append(of, x), sum+x.Seconds
			}
		}
		if math.Abs(sum-p.Seconds) > rounding*p.Seconds {
			of = []speed.Operator{{Part: p.Name, Rest: true, Seconds: p.Seconds}}
		}
		out = append(out, of...)
	}
	return out
}

// classOfPart is the class of kernels that a part of a step stands beside; "" for what runs no kernel.
func classOfPart(classes map[string]string, part string) string {
	for class, parts := range classes {
		if class != "idle" && hasWord(parts, part) {
			return class
		}
	}
	return ""
}

func (c *comparison) trainingOperators(a *Asker) ([]speed.Operator, *hardware.Device) {
	t, err := a.trained(&c.request)
	if err != nil || t.job.Machine == nil {
		return nil, nil
	}
	device := &t.job.Machine.Groups[0].Device
	p, err := t.paced(t.job.Training)
	if err != nil {
		return nil, device
	}
	list, err := p.Operators()
	if err != nil {
		return nil, device
	}
	return list, device
}

func (c *comparison) decodingOperators(a *Asker) ([]speed.Operator, *hardware.Device) {
	q, err := a.prepare(&c.request)
	if err != nil || q.job.Machine == nil {
		return nil, nil
	}
	in, err := q.served(c.sized.KV)
	if err != nil || !slices.Contains(serving.Engines(), q.engine.Name()) {
		return nil, q.job.Device(0)
	}
	m, err := q.compiled(in)
	if err != nil {
		return nil, in.Device
	}
	p := q.request.Plan
	return m.Operators(serving.Load{Users: int64(p.Sequences), Prompt: int64(p.PromptTokens), Output: int64(p.OutputTokens), Burst: true}), in.Device
}

// row with a key, which is made when it is asked for first.
func (o *operators) row(class, key, name, shape string) *operated {
	key = class + "\x00" + key
	r := o.byKey[key]
	if r == nil {
		r = &operated{OperatorLine: OperatorLine{Class: class, Name: name, Shape: shape}, place: len(o.rows)}
		o.byKey[key] = r
		o.rows = append(o.rows, r)
	}
	return r
}

// matched is the row of the model's products of one shape.
func (o *operators) matched(class string, m *matched) *operated {
	r := o.row(class, m.key, m.name, m.shape)
	if len(m.names) > 1 {
		r.Members = m.names
	}
	return r
}

// measured adds an operator of the trace to its row.
func (o *operators) measured(x *startup.Operator, m *matcher) {
	r := o.rowOf(x, m)
	r.Printed = &r.ms
	r.ms += x.MS
	r.Calls += x.Calls
	if p := x.Product; p != nil && x.Class == "products" {
		r.flops, r.timed = r.flops+p.FLOPs()*x.Calls, r.timed+x.MS
		if !slices.Contains(r.types, p.Type) {
			r.types = append(r.types, p.Type)
		}
	}
	if x.Message != nil {
		r.bytes += float64(x.Message.Bytes) * x.Calls
	}
	if len(r.Of) < mostCalls && x.Name != "" {
		r.Of = append(r.Of, callOf(x))
	}
}

var passNames = map[startup.Pass]string{startup.Forward: "forward", startup.InputGradient: "input gradient", startup.WeightGradient: "weight gradient", startup.SomeBackward: "backward"}

func callOf(x *startup.Operator) OperatorCall {
	c := OperatorCall{Name: x.Name, Calls: x.Calls, MS: x.MS}
	if p := x.Product; p != nil {
		c.Shape, c.Pass = productShape(p), passNames[p.Pass]
	}
	if m := x.Message; m != nil {
		c.Shape = messageShape(m)
	}
	return c
}

func productShape(p *startup.Product) string {
	s := fmt.Sprintf("%d×%d×%d", p.M, p.N, p.K)
	if p.Batch > 1 {
		s = fmt.Sprintf("%d of %s", p.Batch, s)
	}
	return s
}

func messageShape(m *startup.Message) string {
	return fmt.Sprintf("%s, %d ranks", unit.Bytes(m.Bytes), m.Group)
}

// rowOf an operator of the trace.
func (o *operators) rowOf(x *startup.Operator, m *matcher) *operated {
	class := x.Class
	if class == "norms" && o.c.log.Find("time_elementwise") != nil {
		class = "elementwise" // as the lines have them
	}
	switch {
	case x.Class == "products" && x.Product != nil:
		if found := m.find(x.Product); found != nil {
			return o.matched(class, found)
		}
		return o.row(class, x.Name+productShape(x.Product), x.Name, productShape(x.Product))
	case x.Class == "collectives":
		return o.sending(x)
	case oneRow[class] != "":
		return o.row(class, "", oneRow[class], "")
	case x.Class == "norms":
		return o.row(class, "kind norms", "norms", "")
	}
	if kind := elementOf(x.Name); class == "elementwise" && kind != "" {
		return o.row(class, "kind "+kind, kind, "")
	}
	if x.Name == "" || class == "products" {
		return o.unknown(class, x.Name)
	}
	return o.row(class, x.Name, x.Name, "")
}

// sending is the row of a collective; an engine's own has no message, and is told by its operator's name.
func (o *operators) sending(x *startup.Operator) *operated {
	m := cmp.Or(x.Message, &startup.Message{Collective: x.Name})
	if part := o.sentFor(m); part != "" {
		return o.row(x.Class, "part "+part, sendings[part], "")
	}
	if x.Message != nil {
		return o.row(x.Class, x.Name+messageShape(m), x.Name, messageShape(m))
	}
	return o.unknown(x.Class, x.Name)
}

// unknown is a row that may be any of the model's operators that the trace does not show.
func (o *operators) unknown(class, name string) *operated {
	r := o.row(class, name, cmp.Or(name, "no operator known"), "")
	r.vague = true
	return r
}

// oneRow are classes whose operators are one row: which of them a kernel is of, its class says.
var oneRow = map[string]string{"experts": "experts", "attention": "attention", "loss": "loss", "optimizer": "optimizer", "unpacking": "unpacking of weights", "copies": "copies"}

// predictedRow adds an operator of memwall's to its row.
func (o *operators) predictedRow(i int, m *matcher) {
	x := &o.own[i]
	ms := x.Seconds * 1e3
	switch {
	case x.class == "products" && len(x.Members) > 0:
		total := float64(x.total())
		for j := range x.Members {
			o.book(o.matched(x.class, m.rowOf(i, j)), ms*float64(x.Members[j].Rows)/total)
		}
		return
	case x.class == "collectives":
		o.book(o.row(x.class, "part "+x.Part, cmp.Or(sendings[x.Part], x.Part), ""), ms)
		return
	case oneRow[x.class] != "":
		r := o.row(x.class, "", oneRow[x.class], "")
		o.book(r, ms)
		if x.class == "attention" && r.ms > 0 {
			r.flops, r.timed, r.types = r.flops+x.FLOPs, r.ms, []string{"c10::BFloat16"}
		}
		return
	}
	name := elementName(x)
	o.book(o.row(x.class, "kind "+name, name, ""), ms)
}

// book adds memwall's own time to a row.
func (o *operators) book(r *operated, ms float64) { r.own, r.known = r.own+ms, true }

// lines are the rows in the order of classes, the longest first; those of a class that are none of the model's and short
// are one.
func (o *operators) lines() (out []OperatorLine) {
	order := map[string]int{}
	for i := range o.c.log.Operators {
		if class := o.c.log.Operators[i].Class; order[class] == 0 {
			order[class] = i + 1
		}
	}
	slices.SortStableFunc(o.rows, func(a, b *operated) int {
		return cmp.Or(cmp.Compare(order[a.Class], order[b.Class]), cmp.Compare(a.Class, b.Class), cmp.Compare(max(b.ms, b.own), max(a.ms, a.own)), cmp.Compare(a.place, b.place))
	})
	for _, r := range o.lumped() {
		o.finish(r)
		out = append(out, r.OperatorLine)
	}
	return out
}

// mostUnmatched rows of a class that are none of the model's are told apart.
const mostUnmatched = 5

// lumped makes one row of what is left of a class behind its longest rows.
func (o *operators) lumped() (out []*operated) {
	left := map[string][]*operated{}
	for _, r := range o.rows {
		if !r.known {
			left[r.Class] = append(left[r.Class], r)
		}
	}
	for _, r := range o.rows {
		at := slices.Index(left[r.Class], r)
		switch {
		case at < mostUnmatched || len(left[r.Class]) == mostUnmatched+1:
			out = append(out, r)
		case at == mostUnmatched:
			out = append(out, lump(left[r.Class][at:]))
		}
	}
	return out
}

func lump(rest []*operated) *operated {
	r := &operated{OperatorLine: OperatorLine{Class: rest[0].Class, Name: fmt.Sprintf("%d others", len(rest))}}
	r.Printed = &r.ms
	for _, x := range rest {
		r.ms, r.Calls = r.ms+x.ms, r.Calls+x.Calls
	}
	return r
}

// finish works out what stands beside a row's times.
func (o *operators) finish(r *operated) {
	switch {
	case r.known:
		o.estimated(r, share(o.whole, r.own, r.Class))
	case o.whole.known:
		r.Why = "none of the model's"
	default:
		r.Why = "memwall has no time for the step"
	}
	if r.Printed == nil {
		r.Why = "not in the trace"
		return
	}
	if r.flops > 0 && r.timed > 0 {
		x := r.flops / (r.timed / 1e3)
		r.FLOPs = rounded(x)
		o.peak(r, x)
	}
	if r.bytes > 0 && r.ms > 0 {
		r.Bytes = rounded(r.bytes / (r.ms / 1e3))
	}
}

func (o *operators) estimated(r *operated, e estimate) {
	if !e.known {
		r.Why = e.why
		return
	}
	r.Ours, r.Low, r.High = &e.value, &e.low, &e.high
	if r.Printed == nil {
		return
	}
	if strings.Contains(r.Name, expertMatrices) {
		r.Why = "what is multiplied is booked with experts"
		return
	}
	r.Ratio = rounded(r.ms / e.value)
	r.Within = e.low <= r.ms && r.ms <= e.high
}

// peaks are the formats whose dense peak products of a type are held against. Of 32 bits nobody says whether they are
// rounded to TF32.
var peaks = map[string]string{"c10::BFloat16": "bf16", "c10::Half": "fp16", "c10::Float8_e4m3fn": "fp8", "c10::Float8_e4m3fnuz": "fp8", "c10::Float8_e5m2": "fp8", "signed char": "int8"}

func (o *operators) peak(r *operated, flops float64) {
	if o.device == nil || len(r.types) != 1 {
		return
	}
	if p := o.device.Peaks.At(peaks[r.types[0]]); p.Known {
		dies := float64(max(1, o.device.Dies))
		r.PeakFraction = rounded(flops / (float64(p.Value) / dies))
	}
}

// sendings are what ranks send for, by the part of a step.
var sendings = map[string]string{
	"tp": "tensor parallel", "ep": "tokens to experts", "cp": "keys and values around", "pp": "between stages", "sharding": "weights and their gradients", "reduce": "gradients of replicas",
	"all_reduce": "tensor parallel", "all_to_all": "tokens to experts", "hand_over": "between stages", "tensor_parallel": "tensor parallel", "expert_parallel": "tokens to experts",
}

// sentFor is the part of a step that a collective belongs to; "" where several could be. Of those that send by the same
// collective the size of the group decides.
func (o *operators) sentFor(m *startup.Message) string {
	var fits, sized []string
	for i := range o.own {
		x := &o.own[i]
		if x.class != "collectives" || slices.Contains(fits, x.Part) || !carries(x.Part, m.Collective) {
			continue
		}
		fits = append(fits, x.Part)
		if m.Group > 0 && o.groupOf(x.Part) == m.Group {
			sized = append(sized, x.Part)
		}
	}
	if len(fits) > 1 {
		fits = sized
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return ""
}

// groupOf is how many ranks send to each other for a part; 0 where the plan does not say.
func (o *operators) groupOf(part string) int64 {
	p := &o.c.request.Plan
	switch part {
	case "tp", "all_reduce", "tensor_parallel":
		return int64(p.TP)
	case "ep", "all_to_all", "expert_parallel":
		return int64(p.EP)
	case "cp":
		return int64(p.CP)
	case "sharding", "reduce":
		return int64(max(1, p.DP) * max(1, p.CP))
	}
	return 0
}

// carries reports whether a part of a step sends by a collective, in c10d's or NCCL's word for it.
func carries(part, collective string) bool {
	words := map[string]string{
		"tp": "allreduce allgather reducescatter", "all_reduce": "allreduce allgather reducescatter", "ep": "alltoall", "all_to_all": "alltoall", "cp": "send recv allgather alltoall", "pp": "send recv",
		"hand_over": "send recv", "sharding": "allgather reducescatter", "reduce": "allreduce reducescatter allgather",
	}[part]
	name := strings.NewReplacer("_", "", "base", "", "coalesced", "").Replace(strings.ToLower(collective))
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Contains(name, w) })
}
