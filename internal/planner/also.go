package planner

import (
	"cmp"
	"context"
	"fmt"
	"sort"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Several servers on one machine start one after the other, and each counts what is free as it starts. The first of a request has
// what the others leave: it starts last. The others take what they need and no more, the largest first.

// FitAll answers a fit request and those that share its hardware.
func FitAll(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	all, err := sharing(r)
	if err != nil {
		return nil, err
	}
	order, err := startOrder(ctx, a, all)
	if err != nil {
		return nil, err
	}
	answers, before := make([]*api.Answer, len(all)), unit.Bytes(0)
	for n, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i].Reserved += plan.Size(before)
		held, err := settle(a, &all[i], i == 0)
		if err != nil {
			return nil, api.AlsoError(err, i)
		}
		if answers[i], err = Fit(a, &all[i]); err != nil {
			return nil, api.AlsoError(err, i)
		}
		answers[i].Start = n + 1
		if i != 0 {
			before += held
		}
	}
	return mergeAnswers(answers, before), nil
}

// startOrder returns the positions of the requests in the order in which their servers start.
func startOrder(ctx context.Context, a *question.Env, all []api.Request) ([]int, error) {
	needs, order := make([]unit.Bytes, len(all)), make([]int, 0, len(all))
	for i := range all[1:] {
		one, err := timing.Size(a, &all[i+1])
		if err != nil {
			return nil, api.AlsoError(err, i+1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		needs[i+1] = onWorst(one, func(d *api.Device) unit.Bytes { return d.NeededHigh })
		order = append(order, i+1)
	}
	stable.Sort(order, func(i, j int) int { return cmp.Compare(needs[j], needs[i]) })
	return append(order, 0), nil
}

// settle returns what a server holds of each device once running. A server that shares the device without getting the
// rest is given the smallest memory fraction that holds its plan, if its engine has such a setting and it is not set.
func settle(a *question.Env, r *api.Request, rest bool) (unit.Bytes, error) {
	q, ranks, err := a.SizedRanks(r)
	if err != nil {
		return 0, err
	}
	if !rest {
		for _, at := range sharesOfMemory {
			if u := *at(&q.Request.Plan); u != nil && *at(&r.Plan) == nil {
				*at(&r.Plan) = leastShare(a, *r, at, *u)
				if q, ranks, err = a.SizedRanks(r); err != nil {
					return 0, err
				}
			}
		}
	}
	return engine.Outside(q.Engine, q.Job) + onWorst(timing.SizedAnswer(q, ranks), func(d *api.Device) unit.Bytes { return d.Used }), nil
}

// sharesOfMemory are the settings by which engines limit their share of a device.
var sharesOfMemory = []func(*plan.Plan) **float64{
	func(p *plan.Plan) **float64 { return &p.GPUMemoryUtilization },
	func(p *plan.Plan) **float64 { return &p.MemFractionStatic },
	func(p *plan.Plan) **float64 { return &p.FreeGPUMemoryFraction },
}

// leastShare returns the smallest share, in hundredths, that certainly holds a plan; nil if even the largest does not.
func leastShare(a *question.Env, r api.Request, at func(*plan.Plan) **float64, most float64) *float64 {
	n := int(most * 100)
	least := 1 + sort.Search(n, func(i int) bool {
		*at(&r.Plan) = new(float64(i+1) / 100)
		q, ranks, err := a.SizedRanks(&r)
		return err == nil && q.Verdict(ranks) == api.Fits
	})
	if least > n {
		return nil
	}
	return new(float64(least) / 100)
}

// onWorst adds items beyond the budget to a figure of a device, and returns the maximum over devices.
func onWorst(a *api.Answer, of func(*api.Device) unit.Bytes) (most unit.Bytes) {
	for i := range a.Devices {
		d := &a.Devices[i]
		n := of(d)
		for j := range d.Beside {
			n += d.Beside[j].Bytes
		}
		most = max(most, n)
	}
	return most
}

// sharing returns the request alone and the others, all on its hardware.
func sharing(r *api.Request) ([]api.Request, error) {
	all := []api.Request{*r}
	all[0].Also = nil
	for i, o := range r.Also {
		at := fmt.Sprintf("also[%d].", i)
		switch {
		case o.Ask != "" && o.Ask != "fit":
			return nil, &api.Error{Code: api.BadField, Field: at + "ask", Value: o.Ask,
				Message: fmt.Sprintf("%sask = %q: only fit requests share hardware", at, o.Ask), Hint: "fit"}
		case len(o.Also) > 0:
			return nil, &api.Error{Code: api.BadField, Field: at + "also",
				Message: at + "also: requests in also share nothing with further ones", Hint: "list them all in one also"}
		case o.Hardware != "" && o.Hardware != r.Hardware:
			return nil, &api.Error{Code: api.BadField, Field: at + "hardware", Value: o.Hardware,
				Message: at + "hardware is not the hardware that is shared", Hint: "leave it out"}
		case o.Devices != 0 && o.Devices != r.Devices:
			return nil, &api.Error{Code: api.BadField, Field: at + "devices", Value: fmt.Sprint(o.Devices),
				Message: fmt.Sprintf("%sdevices = %d is not the number that is shared", at, o.Devices), Hint: "leave it out"}
		case r.Hardware == "":
			return nil, &api.Error{Code: api.BadField, Field: "hardware", Message: "hardware is missing: requests in also share it",
				Hint: "rtx-4090, 2xh100, …"}
		}
		o.Ask, o.Hardware, o.Devices, o.Explain = "fit", r.Hardware, r.Devices, r.Explain
		all = append(all, o)
	}
	return all, nil
}

// mergeAnswers returns the first answer with the others, and the worst verdict of all.
func mergeAnswers(answers []*api.Answer, others unit.Bytes) *api.Answer {
	main := answers[0]
	main.Also = answers[1:]
	for _, o := range main.Also {
		if question.VerdictSeverity[o.Verdict] > question.VerdictSeverity[main.Verdict] {
			main.Verdict = o.Verdict
		}
	}
	main.Notes = append([]api.Note{
		{Code: "start_order", Severity: "info", Field: "also",
			Text: "start each when the one before answers, on a port of its own: what another loads meanwhile counts as a server's own"},
		{Code: "shared_hardware", Severity: "info", Field: "also",
			Text: fmt.Sprintf("%s of each device are of %s; speeds are of a device that works for one of them", others,
				otherModels(len(main.Also)))},
	}, main.Notes...)
	return main
}

func otherModels(n int) string {
	if n == 1 {
		return "the other model"
	}
	return fmt.Sprintf("the %d other models", n)
}
