package train

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/unit"
)

// pin is a number given in the request.
type pin struct {
	field string
	n     int64
}

// checkPins rejects given group sizes that fit none of the machines, and names the two that contradict.
func checkPins(r *api.Request, all sites) error {
	var last error
	for i := range all {
		if last = contradiction(r, &all[i]); last == nil {
			return nil
		}
	}
	return last
}

// contradiction returns the contradiction between the given groups on a machine; nil if they are compatible.
func contradiction(r *api.Request, x *site) error {
	var given []pin
	groups := int64(1)
	for _, p := range []pin{{"tp", r.TP}, {"pp", r.PP}, {"cp", r.CP}, {"dp", r.DP}} {
		if p.n <= 0 {
			continue
		}
		if p.n > x.devices || x.devices%(min(groups, x.devices)*p.n) != 0 {
			return contradicts(x, append(given, p))
		}
		groups *= p.n
		given = append(given, p)
	}
	replicas := x.devices / max(1, r.TP*r.PP*r.CP)
	if r.TP > 0 && r.PP > 0 && r.MicroBatch > 0 && r.GlobalBatch > 0 &&
		int64(r.GlobalBatch)%(int64(r.MicroBatch)*max(1, replicas)) != 0 {
		each := int64(r.MicroBatch) * replicas
		return &api.Error{Code: api.ImpossiblePlan, Field: "global_batch", Value: fmt.Sprint(r.GlobalBatch),
			Message: fmt.Sprintf("global_batch = %d and micro_batch = %d contradict: %d replicas take %d sequences at a time",
				r.GlobalBatch, r.MicroBatch, replicas, each),
			Hint: fmt.Sprintf("--global-batch %d, or leave micro_batch out", unit.CeilDiv(int64(r.GlobalBatch), each)*each)}
	}
	return nil
}

// contradicts names the group that is too large, and those that leave no room for it.
func contradicts(x *site, given []pin) error {
	last := given[len(given)-1]
	e := &api.Error{Code: api.ImpossiblePlan, Field: last.field, Value: fmt.Sprint(last.n)}
	if len(given) == 1 {
		e.Message = fmt.Sprintf("%s = %d does not divide the %d devices of %s", last.field, last.n, x.devices, x.words())
		e.Hint = fmt.Sprintf("a %s that divides %d, or leave it out: it is searched", last.field, x.devices)
		return e
	}
	words, groups := []string{}, int64(1)
	for _, p := range given {
		words, groups = append(words, fmt.Sprintf("%s = %d", p.field, p.n)), groups*p.n
	}
	e.Message = fmt.Sprintf("%s contradict: groups of %d devices do not divide the %d of %s", strings.Join(words, " and "), groups,
		x.devices, x.words())
	e.Hint = fmt.Sprintf("leave %s or %s out: what is absent is searched", given[len(given)-2].field, last.field)
	return e
}
