package snapshot

import "math"

// Category is what an allocation was for.
type Category string

// Categories, in the order in which they are shown.
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

// Categories are all of them.
func Categories() []Category {
	return []Category{Parameters, Gathered, Optimizer, Gradients, Activation, Temporary, Workspace, Inputs, Collective, KVCache, Older,
		Other}
}

// Sizes of cuBLAS's workspace where the stack does not name it: :4096:2:16:8 in KiB, and 32 MiB from Hopper on
// (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize).
const (
	workspaceBytes       = 2*4096<<10 + 8*16<<10
	workspaceBytesHopper = 32 << 20
)

// judge tells categories by who allocated and when it was freed.
type judge struct {
	*replay
	last       span           // of the record's end
	parameters map[int64]bool // their sizes: gradients are as large
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

// gradients are how many of each size the steps of a record make, and the first event that makes one.
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

// recognise tells what was there before the record by the sizes of gradients, which are those of parameters: of a size as many are
// parameters as a step makes gradients, the others of that size, or of twice as many bytes, are states of the optimizer, and what goes
// before the record's first gradient is that of the step before.
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

// category of an allocation. The stack decides where it names the maker; otherwise the phases of birth and death do: what a
// forward pass makes and a backward pass frees is an activation, what a backward pass leaves is a gradient.
func (j *judge) category(l *life) Category {
	roles := j.stacks.roles[l.stack]
	born, died := j.spanAt(l.born), j.last
	if l.died != never {
		died = j.spanAt(l.died)
	}
	within := l.died != never && died.phase == born.phase && died.step == born.step // freed in the phase that made it
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
		return Activation // computed again
	case roles&backward != 0, l.stack == 0 && l.born >= 0 && born.phase == inBackward:
		return j.backward(l, within)
	case roles&forward != 0:
		return j.forward(l, born, within)
	case roles&loading != 0:
		return either(within, Temporary, Parameters)
	}
	return j.bySize(l)
}

// bySize is the category of what no stack names.
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

// backward parts gradients, which outlive their pass, from what it needs on its way. Where the record ends within the pass, gradients
// are those that are as large as a parameter.
func (j *judge) backward(l *life, within bool) Category {
	switch {
	case within:
		return Temporary
	case l.died == never && j.last == j.spanAt(l.born) && !j.parameters[l.size]:
		return Temporary
	}
	return Gradients
}

// forward parts activations, which are kept for the backward pass, from what the forward pass frees itself, and from what outlives the
// step.
func (j *judge) forward(l *life, born span, within bool) Category {
	switch {
	case l.died == never && (l.size == workspaceBytes || l.size == workspaceBytesHopper) && j.last.step > born.step:
		return Workspace
	case within:
		return Temporary
	case l.died == never && j.last.step > born.step:
		return Other // it stays from step to step
	}
	return Activation
}
