package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/train"
	"github.com/memwall/memwall/unit"
)

// What of a request contradicts itself, what frameworks refuse, and what comes nearest where nothing fits.

// choices reads the fields that have a list, and refuses words that are not known.
func (s *trainSearch) choices() error {
	s.among = map[string][]string{}
	for _, name := range api.TrainLists {
		f := api.FieldByName(name)
		v := f.Value(&s.asked)
		list := strings.Split(strings.ReplaceAll(v.String(), " ", ""), ",")
		if slices.Equal(list, []string{api.AnyHardware}) && api.AnyOf[name] != nil {
			list = api.AnyOf[name]
		}
		if len(list) == 1 {
			continue
		}
		list = slices.DeleteFunc(list, func(w string) bool { return w == "" })
		for _, w := range list {
			if err := knownWord(f, w); err != nil {
				return err
			}
		}
		if name == "recompute" {
			list = leastFirst(list)
		}
		s.among[name] = list
		v.SetString("")
	}
	return nil
}

// knownWord refuses what no framework has; one word alone is checked where it is used.
func knownWord(f *api.Field, word string) error {
	if f.Name == "framework" {
		if name, _, _ := strings.Cut(word, "@"); train.FindFramework(name) == nil {
			return &api.Error{Code: api.BadField, Field: f.Name, Value: api.Shorten(word),
				Message: fmt.Sprintf("framework = %q is not known", api.Shorten(word)),
				Hint:    "one of " + strings.Join(train.Frameworks(), ", ")}
		}
		return nil
	}
	if f.Enum != nil && !slices.Contains(f.Enum, word) {
		return &api.Error{Code: api.BadField, Field: f.Name, Value: api.Shorten(word),
			Message: fmt.Sprintf("%s = %q is not known", f.Name, api.Shorten(word)), Hint: "one of " + strings.Join(f.Enum, ", ")}
	}
	return nil
}

// pin is a number that the request gives.
type pin struct {
	field string
	n     int64
}

// pins refuses groups that are given and do not go with any of the machines, and names the two that contradict.
func (s *trainSearch) pins() error {
	var last error
	for i := range s.sites {
		if last = s.contradiction(&s.sites[i]); last == nil {
			return nil
		}
	}
	return last
}

func (s *trainSearch) contradiction(x *trainSite) error {
	r := &s.asked
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
	if r.TP > 0 && r.PP > 0 && r.MicroBatch > 0 && r.GlobalBatch > 0 && int64(r.GlobalBatch)%(int64(r.MicroBatch)*max(1, replicas)) != 0 {
		each := int64(r.MicroBatch) * replicas
		return &api.Error{Code: api.ImpossiblePlan, Field: "global_batch", Value: fmt.Sprint(r.GlobalBatch),
			Message: fmt.Sprintf("global_batch = %d and micro_batch = %d contradict: %d replicas take %d sequences at a time",
				r.GlobalBatch, r.MicroBatch, replicas, each),
			Hint: fmt.Sprintf("--global-batch %d, or leave micro_batch out", unit.CeilDiv(int64(r.GlobalBatch), each)*each)}
	}
	return nil
}

// contradicts names the group that is too many, and those that leave no room for it.
func contradicts(x *trainSite, given []pin) error {
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

// refuse remembers why plans were refused, each reason once.
func (s *trainSearch) refuse(e *api.Error) {
	const enough = 64
	if len(s.refused) < enough && !slices.ContainsFunc(s.refused,
		func(x *api.Error) bool { return x.Field == e.Field && x.Message == e.Message }) {
		s.refused = append(s.refused, e)
	}
}

// refusal is why nothing was sized: the reason that speaks of a field that was given, else the first.
func (s *trainSearch) refusal() error {
	for _, e := range s.refused {
		if f := api.FieldByName(e.Field); f != nil && !f.Value(s.original).IsZero() {
			return e
		}
	}
	if len(s.refused) > 0 {
		return s.refused[0]
	}
	return &api.Error{Code: api.ImpossiblePlan, Message: "no groups of these devices go with what is given",
		Hint: "give less: what is absent is searched"}
}

// keepNearest keeps the plan that lacks least, on devices or on the host.
func (s *trainSearch) keepNearest(x *trainSite, r *api.Request, t *training.Training, worst *train.Rank, same []engine.Rank) {
	room := question.Headroom(&same[0])
	c := api.Candidate{Verdict: api.DoesNotFit, Headroom: room, Lacks: room}
	if host, known := question.HostCapacity(t.Question.Job.Machine); known && r.Offload != nil {
		needs := question.HostNeeds(t.Question.Job, same)
		left := host.Bytes() - needs.High
		c.HostHeadroom, c.Lacks = &left, min(room, left)
	}
	if s.nearest != nil && c.Lacks <= s.nearest.Lacks {
		return
	}
	p := &trainPlan{request: *r, site: x}
	c.Change, c.Capacity, c.USDPerHour, c.Plan, c.Patch, c.Why = p.words(s.original), x.capacity, x.perHour, t.Question.Plan(), s.patch(r),
		fills(worst)
	if c.Lacks >= 0 {
		c.Verdict = api.Tight
	}
	if c.Lacks < room {
		c.Why = "what it keeps in the memory of a node"
	}
	s.nearest = &c
}

// fills says what fills a device at its peak.
func fills(r *train.Rank) string {
	phase := &r.Phases[r.Peak]
	var name string
	var most unit.Bytes
	for _, it := range question.OnDevice(phase.Items) {
		if it.Bytes > most {
			name, most = it.Name, it.Bytes
		}
	}
	return fmt.Sprintf("%s are %s of %s at %s", name, most, r.Usable.Bytes(), phase.Name)
}

// remark says what the ranking rests on, and what it leaves out.
func (s *trainSearch) remark(ranked []*trainPlan) {
	if s.asked.Tokens == 0 {
		s.note("no_tokens", "info", "tokens", "without tokens there is no run to time: plans are ranked by what a token takes; --tokens "+
			"15T says how many")
	}
	if methods := s.among["method"]; len(methods) > 1 {
		s.note("methods_differ", "warn", "method",
			"%s train different things, and time and money alone rank them. Published: LoRA of usual ranks learns less of code and "+
				"mathematics than full fine-tuning and forgets less, and most of the gap closes for instructions at rank 256 "+
				"(arXiv:2405.09673); QLoRA keeps what fine-tuning in 16 bits reaches (arXiv:2305.14314)", strings.Join(methods, ", "))
	}
	if s.offloads && s.found.number > 0 {
		s.note("offloaded", "warn", "offload", "nothing fits in the memory of the devices alone: these plans keep states or inputs of "+
			"blocks on the host")
	}
	for _, field := range api.TrainLists {
		for _, word := range s.among[field] {
			if !s.seen[field+" "+word] {
				s.note("refused", "warn", field, "no plan of %s = %s: %s", field, word, s.reason(word))
			}
		}
	}
	s.remarkUnpriced(ranked)
}

// reason why a word was refused.
func (s *trainSearch) reason(word string) string {
	for _, e := range s.refused {
		if e.Value == word || strings.Contains(e.Message, word) {
			return e.Message
		}
	}
	return "it does not go with the rest"
}

// remarkHost says what a plan that keeps things on hosts takes for granted of them.
func (s *trainSearch) remarkHost(best *trainDetail) {
	n := best.onHost()
	if _, known := question.HostCapacity(best.training.Question.Job.Machine); !known && n > 0 {
		s.note("host_unknown", "warn", "hardware",
			"the best plan keeps %s in the memory of each node, and how much that has is not known: %s,host=2TiB says it", n,
			best.site.words())
	}
}

// remarkUnpriced names machines without a price, where money decides.
func (s *trainSearch) remarkUnpriced(ranked []*trainPlan) {
	if s.want != "cost" {
		return
	}
	var names []string
	for _, p := range ranked {
		if name := p.site.words(); p.site.perHour == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		s.note("unpriced", "warn", "hardware", "no price of %s is known: plans on these are ranked apart, after the others, by time",
			strings.Join(names, ", "))
	}
}
