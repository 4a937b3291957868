package snapshot

import "math"

// Category is the purpose of an allocation.
type Category string

// Categories, in display order.
const (
	Parameters Category = "parameters"
	Gathered   Category = "gathered parameters"
	Gradients  Category = "gradients"
	Optimizer  Category = "optimizer states"
	Activation Category = "activations"
	Temporary  Category = "temporary"
	Workspace  Category = "cuBLAS workspace"
	Inputs     Category = "inputs"
	Collective Category = "collectives"
	KVCache    Category = "KV cache"
	Older      Category = "from before the record"
	Other      Category = "other"
)

// Categories returns all categories.
func Categories() []Category {
	return []Category{Parameters, Gathered, Optimizer, Gradients, Activation, Temporary, Workspace, Inputs, Collective, KVCache, Older,
		Other}
}

// Sizes of cuBLAS's workspace if the stack does not name it: :4096:2:16:8 in KiB, and 32 MiB from Hopper on
// (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize).
const (
	workspaceBytes       = 2*4096<<10 + 8*16<<10
	workspaceBytesHopper = 32 << 20
)

// judge categorizes allocations by their origin and lifetime.
type judge struct {
	*replay
	last       span           // end of the recording
	parameters map[int64]bool // their sizes, which equal those of gradients
	before     map[int64]Category
	model      map[int64]Category // by the model's tensors
}

func newJudge(r *replay) *judge {
	j := &judge{replay: r, parameters: map[int64]bool{}}
	made := gradients{of: map[int]map[int64]int{}, first: math.MaxInt}
	if n := len(r.spans); n > 0 {
		j.last = r.spans[n-1]
	}
	r.lives(func(l *life) {
		if r.stacks.roles[l.stack]&loading != 0 && l.died == never {
			j.parameters[l.size] = true
		}
		if l.born >= 0 && j.category(l) == Gradients {
			made.add(l, j.spanAt(l.born).step)
		}
	})
	j.before = made.recognise(r.older)
	j.model = j.fromModel()
	return j
}

// gradients counts the gradients of each size per step, and the first event that creates one.
type gradients struct {
	of    map[int]map[int64]int
	first int
}

func (g *gradients) add(l *life, step int) {
	if g.of[step] == nil {
		g.of[step] = map[int64]int{}
	}
	g.of[step][l.size]++
	g.first = min(g.first, l.born)
}

// recognise categorizes what was allocated before the recording by the sizes of gradients, which equal those of
// parameters: of each size, as many are parameters as a step creates gradients; the others of that size, or of twice
// its bytes, are optimizer states; and what is freed before the first recorded gradient belongs to the previous step.
func (g *gradients) recognise(older []life) map[int64]Category {
	most := map[int64]int{}
	for _, sizes := range g.of {
		for size, n := range sizes {
			most[size] = max(most[size], n)
		}
	}
	out, used := map[int64]Category{}, map[int64]int{}
	for i := range older {
		switch l := &older[i]; {
		case l.stack != 0:
		case most[l.asked] > 0 && l.died != never && l.died < g.first:
			out[l.address] = Gradients
		case used[l.asked] < most[l.asked]:
			used[l.asked]++
			out[l.address] = Parameters
		case most[l.asked] > 0, most[l.asked/2] > 0:
			out[l.address] = Optimizer
		}
	}
	return out
}

// category returns the category of an allocation. The stack decides if it names the origin; otherwise the phases of
// allocation and release do: allocated in forward and freed in backward is an activation, remaining after backward is a
// gradient.
func (j *judge) category(l *life) Category {
	roles := j.stacks.roles[l.stack]
	born, died := j.spanAt(l.born), j.last
	if l.died != never {
		died = j.spanAt(l.died)
	}
	within := l.died != never && died.phase == born.phase && died.step == born.step // freed in the phase that allocated it
	switch {
	case roles&workspace != 0:
		return Workspace
	case roles&caching != 0:
		return KVCache
	case roles&optimizing != 0:
		return either(within, Temporary, Optimizer)
	case roles&accumulating != 0:
		return Gradients
	case roles&gathering != 0:
		return Gathered
	case roles&reducing != 0:
		return either(within && roles&loading == 0, Collective, Gradients)
	case roles&exchanging != 0:
		return Collective
	case roles&feeding != 0:
		return Inputs
	case roles&backward != 0 && roles&forward != 0:
		return Activation // recomputed
	case roles&backward != 0, l.stack == 0 && l.born >= 0 && born.phase == inBackward:
		return j.backward(l, within)
	case roles&forward != 0:
		return j.forward(l, born, within)
	case roles&loading != 0:
		return either(within, Temporary, Parameters)
	}
	return j.bySize(l)
}

// bySize returns the category of an allocation that no stack identifies.
func (j *judge) bySize(l *life) Category {
	if is, ok := j.before[l.address]; ok && l.born < 0 {
		return is
	}
	if is, ok := j.model[l.address]; ok && l.died == never {
		return is
	}
	return either(l.born < 0, Older, Other)
}

func either(is bool, yes, no Category) Category {
	if is {
		return yes
	}
	return no
}

// backward distinguishes gradients, which outlive the backward pass, from its temporary memory. If the recording ends
// within the pass, gradients are those as large as a parameter.
func (j *judge) backward(l *life, within bool) Category {
	switch {
	case within:
		return Temporary
	case l.died == never && j.last == j.spanAt(l.born) && !j.parameters[l.size]:
		return Temporary
	}
	return Gradients
}

// forward distinguishes activations, kept for the backward pass, from temporary memory, and from what outlives the
// step.
func (j *judge) forward(l *life, born span, within bool) Category {
	switch {
	case l.died == never && (l.size == workspaceBytes || l.size == workspaceBytesHopper) && j.last.step > born.step:
		return Workspace
	case within:
		return Temporary
	case l.died == never && j.last.step > born.step:
		return Other // persists across steps
	}
	return Activation
}
