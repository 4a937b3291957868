package planner

import (
	"context"
	"fmt"
	"math"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Several models on one machine: each is sized alone first, and then answered with what the others take
// set aside.

// FitAll answers a fit request and those that share its hardware.
func FitAll(ctx context.Context, a *question.Env, r *api.Request) (*api.Answer, error) {
	all, err := sharing(r)
	if err != nil {
		return nil, err
	}
	taken, err := shares(ctx, a, all)
	if err != nil {
		return nil, err
	}
	answers := make([]*api.Answer, len(all))
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range all {
			if j != i {
				all[i].Reserved += plan.Size(taken[j])
			}
		}
		if answers[i], err = Fit(a, &all[i]); err != nil {
			return nil, api.AlsoError(err, i)
		}
	}
	return mergeAnswers(answers, taken), nil
}

// shares is what each takes, the others first: an engine that would fill the device is held to what its
// plan needs, by its own setting where it has one; the first has the rest.
func shares(ctx context.Context, a *question.Env, all []api.Request) ([]unit.Bytes, error) {
	taken := make([]unit.Bytes, len(all))
	rest := all[0]
	for i := range all[1:] {
		n, err := share(a, &all[i+1])
		if err != nil {
			return nil, api.AlsoError(err, i+1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		taken[i+1] = n
		rest.Reserved += plan.Size(n)
	}
	one, err := timing.Size(a, &rest)
	if err != nil {
		return nil, err
	}
	taken[0] = loadedBytes(one)
	return taken, nil
}

// share sizes a model alone. Where vLLM's share of the device is not given, the least that holds the plan
// is put into the request; another engine's pool counts for what the plan needs of it.
func share(a *question.Env, r *api.Request) (unit.Bytes, error) {
	one, err := timing.Size(a, r)
	if err != nil {
		return 0, err
	}
	p := one.Plan
	switch least := leastShare(one); {
	case p.GPUMemoryUtilization != nil && r.GPUMemoryUtilization == nil && least < *p.GPUMemoryUtilization:
		r.GPUMemoryUtilization = &least
		one, err = timing.Size(a, r)
	case p.MemFractionStatic != nil && r.MemFractionStatic == nil, p.FreeGPUMemoryFraction != nil && r.FreeGPUMemoryFraction == nil:
		return neededBytes(one), nil
	}
	if err != nil {
		return 0, err
	}
	return loadedBytes(one), nil
}

// leastShare is the share of the device, in hundredths, that holds the high edge of what is needed.
func leastShare(a *api.Answer) float64 {
	least := 0.0
	for i := range a.Devices {
		d := &a.Devices[i]
		if u := a.Plan.GPUMemoryUtilization; u != nil && d.Usable > 0 {
			least = max(least, math.Ceil(100**u*float64(d.NeededHigh)/float64(d.Usable))/100)
		}
	}
	return least
}

// neededBytes is the high edge of what a model must have.
func neededBytes(a *api.Answer) unit.Bytes {
	return onWorst(a, func(d *api.Device) unit.Bytes { return d.NeededHigh }, func(it *api.Item) unit.Bytes { return it.High })
}

// loadedBytes is what a model occupies once it is loaded.
func loadedBytes(a *api.Answer) unit.Bytes {
	return onWorst(a, func(d *api.Device) unit.Bytes { return d.Used }, func(it *api.Item) unit.Bytes { return it.Bytes })
}

// onWorst adds what lies beside the budget to a figure of a device, on the device where the sum is most.
func onWorst(a *api.Answer, of func(*api.Device) unit.Bytes, beside func(*api.Item) unit.Bytes) (most unit.Bytes) {
	for i := range a.Devices {
		d := &a.Devices[i]
		n := of(d)
		for j := range d.Beside {
			n += beside(&d.Beside[j])
		}
		most = max(most, n)
	}
	return most
}

// sharing are the request alone and the others, all on its hardware.
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

func mergeAnswers(answers []*api.Answer, taken []unit.Bytes) *api.Answer {
	main := answers[0]
	main.Also = answers[1:]
	others := unit.Bytes(0)
	for i, o := range main.Also {
		others += taken[i+1]
		if question.VerdictSeverity[o.Verdict] > question.VerdictSeverity[main.Verdict] {
			main.Verdict = o.Verdict
		}
	}
	main.Notes = append(main.Notes, api.Note{Code: "shared_hardware", Severity: "info", Field: "also",
		Text: fmt.Sprintf("%s are set aside on each device for %s", others, otherModels(len(main.Also)))})
	return main
}

func otherModels(n int) string {
	if n == 1 {
		return "the other model"
	}
	return fmt.Sprintf("the %d other models", n)
}
