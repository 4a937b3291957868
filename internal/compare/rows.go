package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// row returns the row of a key, creating it on first use.
func (o *operators) row(class, key, name, shape string) *operated {
	key = class + "\x00" + key
	r := o.byKey[key]
	if r == nil {
		r = &operated{OperatorLine: api.OperatorLine{Class: class, Name: name, Shape: shape}, place: len(o.rows)}
		o.byKey[key] = r
		o.rows = append(o.rows, r)
	}
	return r
}

// matched returns the row of the model's products of one shape.
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
		o.batched = o.batched || p.Batch > 1
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

var passNames = map[startup.Pass]string{startup.Forward: "forward", startup.InputGradient: "input gradient",
	startup.WeightGradient: "weight gradient", startup.SomeBackward: "backward"}

func callOf(x *startup.Operator) api.OperatorCall {
	c := api.OperatorCall{Name: x.Name, Calls: x.Calls, MS: x.MS}
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

// rowOf returns the row of a trace operator.
func (o *operators) rowOf(x *startup.Operator, m *matcher) *operated {
	class := x.Class
	if class == "norms" && o.plan.Log.Find("time_elementwise") != nil {
		class = "elementwise" // as in the lines
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

// unknown returns a row for what may be any of the model's operators missing from the trace.
func (o *operators) unknown(class, name string) *operated {
	r := o.row(class, name, cmp.Or(name, "no operator known"), "")
	r.vague = true
	return r
}

// oneRow are classes whose operators form a single row, identified by the class.
var oneRow = map[string]string{"experts": "experts", "attention": "attention", "loss": "loss", "optimizer": "optimizer",
	"unpacking": "unpacking of weights", "copies": "copies"}

// predictedRow adds a predicted operator to its row.
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
		if x.class == "attention" && r.ms > 0 && !o.batched { // else some of its products are batched ones of the trace
			r.flops, r.timed, r.types = r.flops+x.FLOPs, r.ms, []string{"c10::BFloat16"}
		}
		return
	}
	name := elementName(x)
	o.book(o.row(x.class, "kind "+name, name, ""), ms)
}

// book adds predicted time to a row.
func (o *operators) book(r *operated, ms float64) { r.own, r.known = r.own+ms, true }
