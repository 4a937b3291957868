package train

import (
	"cmp"
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/train/config"
)

// task is the request for a search. Phases only read it.
type task struct {
	env      *question.Env
	original *api.Request
	asked    api.Request         // as a training question, without its lists
	among    map[string][]string // the words of each list
	want     string              // the objective
	network  network
}

// network is what bounds the groups of a model.
type network struct {
	layers  int64
	experts int64    // per layer
	context int64    // in tokens; 0 if unknown
	titan   bool     // torchtitan supports the model
	modules []string // that can be recomputed by themselves
}

// readTask splits a request into the objective, the lists, and what bounds the groups of the model.
func readTask(a *question.Env, r *api.Request) (t *task, err error) {
	t = &task{env: a.Remembering(), original: r, asked: *r}
	asked := &t.asked
	asked.Ask, asked.For, asked.Goal, asked.Explain, asked.All = api.AskTrain, "", nil, false, false
	asked.MaxDevices, asked.Among = 0, nil
	if t.want, err = minimized(r); err != nil {
		return nil, err
	}
	if t.among, err = takeLists(asked); err != nil {
		return nil, err
	}
	if t.network, err = readNetwork(t.env, asked); err != nil {
		return nil, err
	}
	return t, nil
}

// minimized returns a request's objective. Serving bounds are rejected for training.
func minimized(r *api.Request) (string, error) {
	g := r.Goal
	if g == nil {
		g = &api.Goal{}
	}
	switch {
	case len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Sure || g.QualityLoss != nil:
		return "", &api.Error{Code: api.BadField, Field: "goal",
			Message: "bounds on answers and on quality are goals of serving, and these plans train",
			Hint:    "goal.minimize: latency, cost or devices"}
	case g.Minimize == "quality_loss":
		return "", &api.Error{Code: api.BadField, Field: "goal.minimize", Value: g.Minimize,
			Message: "how good the trained model gets is not known, and plans are not ranked by it", Hint: "latency, cost or devices"}
	}
	if _, ok := change.PriceOfDoubling[g.Minimize]; !ok {
		return "", &api.Error{Code: api.BadField, Field: "goal.minimize", Value: api.Shorten(g.Minimize),
			Message: fmt.Sprintf("goal.minimize = %q is not known", api.Shorten(g.Minimize)), Hint: "latency, cost or devices"}
	}
	usual := "latency"
	if r.Hardware == api.AnyHardware && r.Method != "" {
		usual = "cost" // a fine-tune on rented devices: hundreds would finish it sooner, but nobody wants them
	}
	return cmp.Or(g.Minimize, usual), nil
}

// readNetwork returns what bounds the groups of the model.
func readNetwork(a *question.Env, r *api.Request) (network, error) {
	q, err := a.Open(r)
	if err != nil {
		return network{}, err
	}
	t := &training.Training{Question: q, Job: &train.Job{Plan: &q.Request.Plan, Training: &q.Request.Training}}
	if err := t.CheckLayers(); err != nil {
		return network{}, err
	}
	if err := t.Models(); err != nil {
		return network{}, err
	}
	m := t.Job.Model
	return network{layers: int64(len(m.Decoder().Layers)), experts: m.Traits.Experts, context: m.Context,
		modules: train.RecomputeModules(m), titan: config.Trains("torchtitan", q.Resolved.ID, q.Resolved.Hub)}, nil
}
