package memwall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Several models on one machine: each is sized alone first, and then answered with what the others take
// set aside.

// fitAll answers a fit request and those that share its hardware.
func (a *Asker) fitAll(ctx context.Context, r *Request) (*Answer, error) {
	all, err := sharing(r)
	if err != nil {
		return nil, err
	}
	taken, err := a.shares(ctx, all)
	if err != nil {
		return nil, err
	}
	answers := make([]*Answer, len(all))
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range all {
			if j != i {
				all[i].Reserved += plan.Size(taken[j])
			}
		}
		if answers[i], err = a.fit(&all[i]); err != nil {
			return nil, alsoError(err, i)
		}
	}
	return together(answers, taken), nil
}

// shares is what each takes, the others first: an engine that would fill the device is held to what its
// plan needs, by its own setting where it has one; the first has the rest.
func (a *Asker) shares(ctx context.Context, all []Request) ([]unit.Bytes, error) {
	taken := make([]unit.Bytes, len(all))
	rest := all[0]
	for i := range all[1:] {
		n, err := a.share(&all[i+1])
		if err != nil {
			return nil, alsoError(err, i+1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		taken[i+1] = n
		rest.Reserved += plan.Size(n)
	}
	one, err := a.Size(&rest)
	if err != nil {
		return nil, err
	}
	taken[0] = takes(one)
	return taken, nil
}

// share sizes a model alone. Where vLLM's share of the device is not given, the least that holds the plan
// is put into the request; another engine's pool counts for what the plan needs of it.
func (a *Asker) share(r *Request) (unit.Bytes, error) {
	one, err := a.Size(r)
	if err != nil {
		return 0, err
	}
	p := one.Plan
	switch least := leastShare(one); {
	case p.GPUMemoryUtilization != nil && r.GPUMemoryUtilization == nil && least < *p.GPUMemoryUtilization:
		r.GPUMemoryUtilization = &least
		one, err = a.Size(r)
	case p.MemFractionStatic != nil && r.MemFractionStatic == nil, p.FreeGPUMemoryFraction != nil && r.FreeGPUMemoryFraction == nil:
		return needs(one), nil
	}
	if err != nil {
		return 0, err
	}
	return takes(one), nil
}

// leastShare is the share of the device, in hundredths, that holds the high edge of what is needed.
func leastShare(a *Answer) float64 {
	least := 0.0
	for i := range a.Devices {
		d := &a.Devices[i]
		if u := a.Plan.GPUMemoryUtilization; u != nil && d.Usable > 0 {
			least = max(least, math.Ceil(100**u*float64(d.NeededHigh)/float64(d.Usable))/100)
		}
	}
	return least
}

// needs is the high edge of what a model must have.
func needs(a *Answer) unit.Bytes {
	return onWorst(a, func(d *Device) unit.Bytes { return d.NeededHigh }, func(it *Item) unit.Bytes { return it.High })
}

// takes is what a model occupies once it is loaded.
func takes(a *Answer) unit.Bytes {
	return onWorst(a, func(d *Device) unit.Bytes { return d.Used }, func(it *Item) unit.Bytes { return it.Bytes })
}

// onWorst adds what lies beside the budget to a figure of a device, on the device where the sum is most.
func onWorst(a *Answer, of func(*Device) unit.Bytes, beside func(*Item) unit.Bytes) (most unit.Bytes) {
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
func sharing(r *Request) ([]Request, error) {
	all := []Request{*r}
	all[0].Also = nil
	for i, o := range r.Also {
		at := fmt.Sprintf("also[%d].", i)
		switch {
		case o.Ask != "" && o.Ask != "fit":
			return nil, &Error{Code: BadField, Field: at + "ask", Value: o.Ask, Message: fmt.Sprintf("%sask = %q: only fit requests share hardware", at, o.Ask), Hint: "fit"}
		case len(o.Also) > 0:
			return nil, &Error{Code: BadField, Field: at + "also", Message: at + "also: requests in also share nothing with further ones", Hint: "list them all in one also"}
		case o.Hardware != "" && o.Hardware != r.Hardware:
			return nil, &Error{Code: BadField, Field: at + "hardware", Value: o.Hardware, Message: at + "hardware is not the hardware that is shared", Hint: "leave it out"}
		case o.Devices != 0 && o.Devices != r.Devices:
			return nil, &Error{Code: BadField, Field: at + "devices", Value: fmt.Sprint(o.Devices), Message: fmt.Sprintf("%sdevices = %d is not the number that is shared", at, o.Devices), Hint: "leave it out"}
		case r.Hardware == "":
			return nil, &Error{Code: BadField, Field: "hardware", Message: "hardware is missing: requests in also share it", Hint: "rtx-4090, 2xh100, …"}
		}
		o.Ask, o.Hardware, o.Devices, o.Explain = "fit", r.Hardware, r.Devices, r.Explain
		all = append(all, o)
	}
	return all, nil
}

func alsoError(err error, i int) error {
	var e *Error
	if i == 0 || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Field = strings.TrimSuffix(fmt.Sprintf("also[%d].%s", i-1, e.Field), ".")
	return &out
}

func together(answers []*Answer, taken []unit.Bytes) *Answer {
	main := answers[0]
	main.Also = answers[1:]
	others := unit.Bytes(0)
	for i, o := range main.Also {
		others += taken[i+1]
		if severity[o.Verdict] > severity[main.Verdict] {
			main.Verdict = o.Verdict
		}
	}
	main.Notes = append(main.Notes, Note{Code: "shared_hardware", Severity: "info", Field: "also", Text: fmt.Sprintf("%s are set aside on each device for %s", others, otherModels(len(main.Also)))})
	return main
}

func otherModels(n int) string {
	if n == 1 {
		return "the other model"
	}
	return fmt.Sprintf("the %d other models", n)
}
