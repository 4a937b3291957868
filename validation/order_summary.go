package validation

// OrderRow is how well plans are ordered, as JSON. Tau and regret are medians over the groups; the regret of any plan is that of a
// random choice.
type OrderRow struct {
	Order        string      `json:"order"`
	About        string      `json:"about"`
	Groups       int         `json:"groups"`
	Subjects     int         `json:"models_on_devices"`
	Plans        int         `json:"plans"`
	Pairs        int         `json:"pairs"`
	Right        float64     `json:"right_share"`
	Tau          float64     `json:"median_tau"`
	Regret       float64     `json:"median_regret"`
	RegretP90    float64     `json:"p90_regret"`
	RegretMax    float64     `json:"max_regret"`
	Best         float64     `json:"best_share"`
	Thumb        *ThumbRow   `json:"rule_of_thumb,omitempty"`
	Random       float64     `json:"any_plan_regret"`
	TargetTau    float64     `json:"target_tau"`
	TargetRegret float64     `json:"target_regret"`
	Met          bool        `json:"met"`
	Differ       []ApartRow  `json:"differ_in,omitempty"`
	Worst        []ChoiceRow `json:"worst,omitempty"`
}

// ThumbRow is the result of following a rule of thumb, as JSON.
type ThumbRow struct {
	Right  float64 `json:"right_share"`
	Tau    float64 `json:"median_tau"`
	Regret float64 `json:"median_regret"`
}

// ApartRow is the pairs of plans that differ in a single setting, as JSON.
type ApartRow struct {
	In    string  `json:"in"`
	Pairs int     `json:"pairs"`
	Right float64 `json:"right_share"`
}

// ChoiceRow is a group of plans, with its pair furthest apart that we have the other way round, as JSON. Ratios are of the
// plan measured to be faster over the other.
type ChoiceRow struct {
	Group    string  `json:"group"`
	Plans    int     `json:"plans"`
	Tau      float64 `json:"tau"`
	Regret   float64 `json:"regret"`
	Fast     string  `json:"fast,omitempty"`
	Slow     string  `json:"slow,omitempty"`
	Measured float64 `json:"measured_ratio,omitempty"`
	Ours     float64 `json:"our_ratio,omitempty"`
}

func (o *Order) row() OrderRow {
	r := OrderRow{Order: o.Kind.Name, About: o.Kind.About, Groups: len(o.Choices), Subjects: o.Subjects, Plans: o.Plans, Pairs: o.Pairs,
		Right: o.RightShare(), Tau: o.Tau, Regret: o.Regret,
		RegretP90: o.RegretP90, RegretMax: o.RegretMax, Best: o.BestShare(), Random: o.Random, TargetTau: TauTarget,
		TargetRegret: RegretTarget, Met: o.Met()}
	if t := o.Thumb; t != nil {
		r.Thumb = &ThumbRow{t.RightShare, t.Tau, t.Regret}
	}
	for _, a := range o.Differing() {
		r.Differ = append(r.Differ, ApartRow{a.In, a.Pairs, share(a.Right, a.Pairs)})
	}
	for i := range min(worstShown, len(o.Choices)) {
		c := &o.Choices[i]
		x, _ := c.Misordered()
		r.Worst = append(r.Worst, ChoiceRow{c.Group, len(c.Options), c.Tau, c.Regret, x.Fast, x.Slow, x.Measured, x.Ours})
	}
	return r
}
