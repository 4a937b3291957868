package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
)

// servingOrder is a kind of order of runs at fixed concurrency.
type servingOrder struct {
	kind  OrderKind
	fold  *servingFold
	group func(*served) string
	open  bool // the load is chosen with the plan
	speed func(*served, timing) float64
}

// servingFold is a way to leave rows out: the measures whose predictions count.
type servingFold struct{ token, first []*Measure }

var (
	plansOut  = servingFold{[]*Measure{&tokenPlans, &tokenPools}, []*Measure{&firstPlans, &firstPools}}
	modelsOut = servingFold{[]*Measure{&tokenModels}, []*Measure{&firstModels}}
)

// At a load that is given, plans differ in nothing else, which is the choice that people have. Where users are counted
// for each device, many replicas of small plans stand beside few of large ones. The more of the load is left open, the
// easier: more users give more tokens a second with any plan.
var servingKinds = []servingOrder{
	{OrderKind{"serving, same load", "output tokens/s of a device, for the same users, prompts and answers on the same devices", true},
		&plansOut, (*served).sameLoad, false, (*served).rate},
	{OrderKind{"serving, new model", "as 'serving, same load', the model left out of the fit", false},
		&modelsOut, (*served).sameLoad, false, (*served).rate},
	{OrderKind{"serving, by TPOT", "time of an output token, for the same load on the same devices", false},
		&plansOut, (*served).sameLoad, false, (*served).pace},
	{OrderKind{"serving, replicas", "output tokens/s of a device by plans of any number of devices, for as many users of each device",
		true},
		&plansOut, (*served).loadOfEach, false, (*served).rate},
	{OrderKind{"serving, one engine", "as 'serving, replicas', of one release of an engine", false},
		&plansOut, (*served).engineAlone, false, (*served).rate},
	{OrderKind{"serving, any users", "output tokens/s of a device by plans and numbers of users, for the same prompts and answers on the same devices", false},
		&plansOut, (*served).lengths, true, (*served).rate},
	{OrderKind{"serving, any load", "output tokens/s of a device, of all that was measured of a model on the same devices", false},
		&plansOut, (*served).machine, true, (*served).rate},
}

func servingOrders(all []Comparison) (out []ordered, err error) {
	rules, rows := works{}, map[*servingFold][]*served{}
	for i := range servingKinds {
		k := &servingKinds[i]
		if rows[k.fold] == nil {
			if rows[k.fold], err = k.fold.served(all, rules); err != nil {
				return nil, err
			}
		}
		o := ordered{kind: &k.kind}
		for _, s := range rows[k.fold] {
			plan, settings := s.plan, s.settings
			if k.open {
				plan, settings = plan+s.lengthsAlone()+s.users(), slices.Concat(settings, s.load())
			}
			o.trials = append(o.trials, trial{s.subject(), k.group(s), plan,
				Option{settings, k.speed(s, s.measured), k.speed(s, s.ours), k.speed(s, s.thumb)}})
		}
		out = append(out, o)
	}
	return out, nil
}

// timing of a run, in milliseconds.
type timing struct{ token, first float64 }

// served is a run at fixed concurrency, and what we and a rule of thumb say of it.
type served struct {
	ask                   *memwall.Request
	device                *hardware.Device
	devices               int
	plan                  string // without its load
	settings              []Setting
	measured, ours, thumb timing
}

// served are the rows of which both times were measured and predicted.
func (f *servingFold) served(all []Comparison, rules works) (out []*served, err error) {
	at := map[*Row]*served{}
	for i := range all {
		c := &all[i]
		token, first := slices.Contains(f.token, c.Measure), slices.Contains(f.first, c.Measure)
		if c.Refused != "" || !token && !first {
			continue
		}
		if at[c.Row] == nil {
			if at[c.Row], err = serves(&c.Row.Ask); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Row.Name(), err)
			}
			out = append(out, at[c.Row])
		}
		at[c.Row].time(c, token)
	}
	out = slices.DeleteFunc(out, func(s *served) bool {
		return min(s.measured.token, s.measured.first, s.ours.token, s.ours.first) <= 0
	})
	for _, s := range out {
		s.thumb, _ = rules.thumb(s)
	}
	return out, nil
}

func (s *served) time(c *Comparison, token bool) {
	if token {
		s.measured.token, s.ours.token = c.Measured.Mid, c.Ours.Mid
	} else {
		s.measured.first, s.ours.first = c.Measured.Mid, c.Ours.Mid
	}
}

func serves(ask *memwall.Request) (*served, error) {
	m, _, err := hardware.Parse(ask.Hardware, int(ask.Devices))
	if err != nil {
		return nil, err
	}
	s := &served{ask: ask, device: &m.Groups[0].Device, devices: m.Devices(), plan: kindOfPlan(ask)}
	s.settings = s.chosen()
	return s, nil
}

// rate in output tokens a second of a device.
func (s *served) rate(t timing) float64 {
	if t.token <= 0 {
		return 0
	}
	life := t.first + float64(s.ask.OutputTokens-1)*t.token
	return 1e3 * float64(s.ask.Sequences) * float64(s.ask.OutputTokens) / life / float64(s.devices)
}

// pace in tokens a second of a user.
func (s *served) pace(t timing) float64 {
	if t.token <= 0 {
		return 0
	}
	return 1e3 / t.token
}

func (s *served) subject() string { return s.ask.Model + " · " + s.device.ID }

// machine names model and hardware.
func (s *served) machine() string {
	if s.devices == 1 {
		return s.subject()
	}
	return fmt.Sprintf("%s · %dx%s", s.ask.Model, s.devices, s.device.ID)
}

func (s *served) lengthsAlone() string {
	return fmt.Sprintf("%d in, %d out", s.ask.PromptTokens, s.ask.OutputTokens)
}

func (s *served) users() string { return fmt.Sprintf("%d users", s.ask.Sequences) }

func (s *served) lengths() string { return s.machine() + " · " + s.lengthsAlone() }

func (s *served) sameLoad() string { return s.lengths() + " · " + s.users() }

func (s *served) loadOfEach() string {
	each := strconv.FormatFloat(float64(s.ask.Sequences)/float64(s.devices), 'g', 4, 64)
	return fmt.Sprintf("%s · %s · %s users a device", s.subject(), s.lengthsAlone(), each)
}

func (s *served) engineAlone() string { return s.loadOfEach() + " · " + s.ask.Engine }

// chosen are the settings of a plan.
func (s *served) chosen() []Setting {
	engine, version, _ := strings.Cut(s.ask.Engine, "@")
	return []Setting{{ofEngine, engine}, {ofVersion, version}, {ofWeights, s.ask.Weights}, {"cache", prefixed("kv ", s.ask.KV)},
		{ofSplit, split(s.ask, s.devices)}}
}

func (s *served) load() []Setting {
	return []Setting{{"users", s.users()}, {ofLengths, s.lengthsAlone()}}
}

// split is how the devices share the work.
func split(ask *memwall.Request, devices int) string {
	out := fmt.Sprintf("on %d", devices) + prefixed(" ", ways{{"tp", ask.TP}, {"pp", ask.PP}, {"ep", ask.EP}, {"dp", ask.DP}}.String())
	if d := ask.Disaggregated; d != nil {
		out += fmt.Sprintf(" %d+%d workers", d.Prefill, d.Decode)
	}
	return out
}

// ways of a plan that have a number.
type ways []struct {
	name string
	n    int64
}

// String leaves out those of which there is one.
func (w ways) String() string {
	var out []string
	for _, x := range w {
		if x.n > 1 {
			out = append(out, x.name+strconv.FormatInt(x.n, 10))
		}
	}
	return strings.Join(out, " ")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
