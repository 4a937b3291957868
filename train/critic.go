package train

import (
	"errors"
	"slices"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// PPO's critic is a second trained model. trl wraps it with the policy: one optimizer, one loss, one backward pass over
// both, and the critic fully trained even with adapters (trl/trainer/ppo_trainer.py, PolicyAndValueWrapper). OpenRLHF
// and verl train it in a separate engine, with the policy's method, before or after the policy
// (openrlhf/trainer/ray/ppo_critic.py; verl/workers/critic).

// criticDefaults starts the critic of PPO as the policy with a scalar head, unless another is named
// (trl/trainer/ppo_trainer.py, value_model; openrlhf/cli/train_ppo_ray.py, critic_pretrain).
func (j *Job) criticDefaults() {
	t := j.Training
	if t.Objective != "ppo" {
		return
	}
	if t.CriticModel == "" {
		t.CriticModel = "none"
		if j.Critic != nil {
			t.CriticModel = j.Critic.ID
		}
		j.Default("critic_model", t.CriticModel)
	}
	if j.Critic != nil {
		j.Note("policy_time", "info", "critic_model", "the time of learning is the policy's: what the critic and the scores of answers take is not in it")
	}
	if t.RewardModel == "" && j.Reward == nil {
		j.Note("no_reward_model", "info", "reward_model", "no reward model is counted: rewards come from a function or from another machine")
	}
}

// critic returns the job of the critic.
func (j *Job) critic() *Job {
	p, t := *j.Plan, *j.Training
	t.Rollout = nil
	c := &Job{Model: j.Critic, Machine: j.Machine, Plan: &p, Training: &t, Framework: j.Framework, Version: j.Version, Longest: j.Longest}
	if j.Framework.WithCritic && j.Adapters() {
		t.Method = "full"
		if j.quantisedBase() {
			p.Weights = c.baseFormat()
		}
	}
	return c
}

// checkCritic rejects a critic that the plan cannot train.
func checkCritic(j *Job) error {
	if j.Critic == nil {
		return nil
	}
	for _, check := range []func(*Job) error{checkModel, checkGroups, checkFrozen, checkPipeline, checkRecompute} {
		if err := check(j.critic()); err != nil {
			return ofCritic(j, err)
		}
	}
	return nil
}

// ofCritic marks an error as concerning the critic.
func ofCritic(j *Job, err error) error {
	e, ok := errors.AsType[*plan.Problem](err)
	if !ok {
		return err
	}
	x := *e
	x.Field, x.Value, x.Message = "critic_model", j.Critic.ID, "the critic: "+e.Message
	return &x
}

// addCritic compiles the critic.
func (s *Sizer) addCritic() (err error) {
	if s.j.Critic == nil {
		return nil
	}
	if s.critic, err = Compile(s.j.critic()); err != nil {
		return ofCritic(s.j, err)
	}
	return nil
}

// criticOn books the critic's rank of a stage; nil without a critic.
func (s *Sizer) criticOn(b *ledger.Book, stage int) *filler {
	if s.critic == nil {
		return nil
	}
	var most *share
	for i := range s.critic.ranks {
		h := &s.critic.ranks[i]
		if h.pl.Stage == stage && (most == nil || h.dense.trained+h.expert.trained > most.dense.trained+most.expert.trained) {
			most = h
		}
	}
	return &filler{s: s.critic, h: most, b: b, role: "critic"}
}

// called prefixes an item's name with the model it belongs to.
func (f *filler) called(it ledger.Item) ledger.Item {
	if f.role != "" {
		it.ID, it.Name = f.role+"."+it.ID, f.role+", "+it.Name
	}
	return it
}

// inTurn returns the phases of the policy and then of its critic, while the other's states are idle.
func (f *filler) inTurn(c *filler) []Phase {
	own := slices.Clone(f.base)
	f.base = append(f.base, c.base...)
	c.base = append(own, c.base...)
	out := f.four()
	for _, p := range c.four() {
		out = append(out, Phase{"critic, " + p.Name, p.Items})
	}
	return out
}

// together returns the phases of a policy and critic with one loss: the critic runs forward first, so its backward pass
// is last and its activations are kept until then.
func (f *filler) together(c *filler) []Phase {
	f.base = append(f.base, c.base...)
	out := f.four()
	for i := range 3 {
		out[i].add(c.called(c.kept()), c.called(c.headKept()))
		if f.s.micro > 1 {
			out[i].add(c.grads)
		}
	}
	out[3].add(c.grads, c.called(c.stepping()))
	c.base = slices.Clone(f.base)
	begins, ends := c.begins(), c.ends()
	for _, p := range []*Phase{&begins, &ends} {
		p.Name = "critic, " + p.Name
		p.add(f.grads)
	}
	return slices.Insert(out, 3, begins, ends)
}

// add adds non-empty items to a phase.
func (p *Phase) add(items ...ledger.Item) {
	for i := range items {
		if items[i].Bytes > 0 {
			p.Items = append(p.Items, items[i])
		}
	}
}
