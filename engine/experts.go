package engine

import (
	"fmt"

	"github.com/memwall/memwall/plan"
)

// Slots returns the number of expert slots of a layer over all ranks that share them: one per expert, and one per
// replica.
func Slots(j *Job) int64 { return j.Model.Traits.Experts + int64(j.Plan.RedundantExperts) }

// TakeSlots converts a number of expert slots into a number of replicas; CheckSlots reports slots for which it could
// not.
func TakeSlots(j *Job) {
	p := j.Plan
	if CheckSlots(j) == nil && p.ExpertSlots > 0 {
		p.RedundantExperts, p.ExpertSlots = p.ExpertSlots-plan.Int(j.Model.Traits.Experts), 0
	}
}

// CheckSlots rejects fewer slots than experts, and fields that contradict each other.
func CheckSlots(j *Job) error {
	p, experts := j.Plan, plan.Int(j.Model.Traits.Experts)
	n, copies := p.ExpertSlots, p.ExpertSlots-experts
	refuse := func(message, fix string) error {
		return &plan.Problem{Field: "expert_slots", Value: fmt.Sprint(n), Impossible: true, Message: message, Fix: fix}
	}
	switch {
	case n == 0:
		return nil
	case experts == 0:
		return refuse(fmt.Sprintf("expert_slots = %d: %s has no experts", n, j.Model.ID), "leave expert_slots out")
	case copies < 0:
		return refuse(fmt.Sprintf("expert_slots = %d: the %d experts of %s need a place each", n, experts, j.Model.ID),
			fmt.Sprintf("--expert-slots %d or more", experts))
	case p.RedundantExperts > 0 && p.RedundantExperts != copies:
		return refuse(fmt.Sprintf("expert_slots = %d leaves %d for copies, and redundant_experts = %d", n, copies, p.RedundantExperts),
			"one of both")
	}
	return nil
}

func checkExperts(j *Job) error {
	ep, experts, ranks := j.Plan.EP, j.Model.Traits.Experts, max(1, j.Plan.TP)*max(1, j.Plan.DP)
	switch {
	case ep <= 1:
		return nil
	case experts == 0:
		return &plan.Problem{Field: "ep", Value: fmt.Sprint(ep), Impossible: true,
			Message: fmt.Sprintf("ep = %d: %s has no experts", ep, j.Model.ID), Fix: "leave ep out"}
	case ep > Slots(j):
		return &plan.Problem{Field: "ep", Value: fmt.Sprint(ep), Impossible: true,
			Message: fmt.Sprintf("ep = %d is more than the %d experts of %s", ep, Slots(j), j.Model.ID),
			Fix:     fmt.Sprintf("--ep %d or less, or --redundant-experts %d", experts, ep-experts)}
	case ranks%ep != 0:
		return &plan.Problem{Field: "ep", Value: fmt.Sprint(ep), Impossible: true,
			Message: fmt.Sprintf("ep = %d: experts are spread over all tensor and data parallel ranks, which are %d here", ep, ranks),
			Fix:     spreadFix(ep, ranks, j.Devices())}
	}
	return nil
}

// spreadFix of ep over ranks that it does not divide: as many ranks where there are as many devices, else all that there are.
func spreadFix(ep, ranks, devices int64) string {
	switch {
	case ep <= devices:
		return fmt.Sprintf("--tp %d, or a smaller ep", ep)
	case ranks == 1:
		return fmt.Sprintf("leave ep out, or %d devices", ep)
	}
	return fmt.Sprintf("--ep %d, or %d devices", ranks, ep)
}

// CheckEvenExperts rejects expert parallelism that gives ranks unequal numbers of experts, for engines that do the same
// (SGLang's fused_moe_triton/layer.py, TensorRT-LLM's fused_moe/interface.py). vLLM gives the first ranks one more
// (fused_moe/layer.py, determine_expert_map).
func CheckEvenExperts(j *Job) error {
	ep, experts := j.Plan.EP, j.Model.Traits.Experts
	if ep <= 1 || Slots(j)%ep == 0 {
		return nil
	}
	if j.Plan.RedundantExperts > 0 {
		return unevenSlots(j)
	}
	return &plan.Problem{Field: "ep", Value: fmt.Sprint(ep), Impossible: true,
		Message: fmt.Sprintf("ep = %d does not divide the %d experts of %s", ep, experts, j.Model.ID),
		Fix:     fmt.Sprintf("--redundant-experts %d, an ep that divides them, or none", wholeSlots(experts, ep, 1))}
}

// CheckRedundant rejects replicas of experts without expert parallelism, replicas that do not divide evenly among the
// ranks (vllm/config/parallel.py, EPLBConfig; sglang/srt/eplb/expert_location.py), and so many that a rank would hold
// an expert twice.
func CheckRedundant(j *Job) error {
	p, experts := j.Plan, j.Model.Traits.Experts
	n := int64(p.RedundantExperts)
	switch {
	case n == 0:
		return nil
	case experts == 0 || p.EP <= 1:
		return &plan.Problem{Field: "redundant_experts", Value: fmt.Sprint(n), Impossible: true,
			Message: "redundant_experts: copies of experts balance ranks that share experts, and none do here",
			Fix:     "--ep, or leave redundant_experts out"}
	case n > experts*(p.EP-1):
		return &plan.Problem{Field: "redundant_experts", Value: fmt.Sprint(n), Impossible: true,
			Message: fmt.Sprintf("redundant_experts = %d: with more than %d each of %d ranks would hold all %d experts of %s and more", n,
				experts*(p.EP-1), p.EP, experts, j.Model.ID),
			Fix: fmt.Sprintf("--redundant-experts %d", wholeSlots(experts, p.EP, 1))}
	case Slots(j)%p.EP != 0:
		return unevenSlots(j)
	case n > mostCopies(experts, p.EP):
		j.Note("copies_many", "warn", "redundant_experts", "%d copies of %d experts: with %d each has one, and more only take memory",
			n, experts, mostCopies(experts, p.EP))
	}
	return nil
}

// mostCopies is how many balance: one of each expert, or as many as give each of more ranks than that one expert.
func mostCopies(experts, ranks int64) int64 {
	return max(wholeSlots(experts, ranks, experts), ranks-experts)
}

func unevenSlots(j *Job) error {
	p, experts := j.Plan, j.Model.Traits.Experts
	n := int64(p.RedundantExperts)
	fewer, more := wholeSlots(experts, p.EP, n)-p.EP, wholeSlots(experts, p.EP, n)
	fix := fmt.Sprintf("--redundant-experts %d", more)
	switch {
	case n > mostCopies(experts, p.EP):
		fix = fmt.Sprintf("--redundant-experts %d", wholeSlots(experts, p.EP, 1))
	case fewer >= 0:
		fix += fmt.Sprintf(" or %d", fewer)
	}
	return &plan.Problem{Field: "redundant_experts", Value: fmt.Sprint(n), Impossible: true,
		Message: fmt.Sprintf("%d experts and %d copies do not go evenly over %d ranks", experts, n, p.EP), Fix: fix}
}

// wholeSlots returns the smallest number of replicas, at least from, for which all ranks hold equally many experts.
func wholeSlots(experts, ranks, from int64) int64 {
	return from + (ranks-(experts+from)%ranks)%ranks
}
