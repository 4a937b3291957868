package validation

// Summary is a report as JSON.
type Summary struct {
	Used     int          `json:"rows_used"`
	Refused  int          `json:"rows_refused"`
	Met      int          `json:"measures_met"`
	Measures []MeasureRow `json:"measures"`
	Fitted   []MeasureRow `json:"fitted"`
	Groups   []MeasureRow `json:"groups,omitempty"`
	Reasons  []ReasonRow  `json:"refused"`
	Peers    []PeerRow    `json:"peers,omitempty"`
	Orders   []OrderRow   `json:"orders"`
	Verdicts []CallsRow   `json:"verdicts"`
	// Diagnoses are messages of failures, and logs without any.
	Diagnoses DiagnosesRow `json:"diagnoses"`
}

// DiagnosesRow counts messages read correctly, and false alarms in ordinary logs, as JSON.
type DiagnosesRow struct {
	Messages int     `json:"messages"`
	Kind     int     `json:"kind_right"`
	Engine   int     `json:"engine_right"`
	Figures  int     `json:"figures_right"`
	Right    float64 `json:"right_share"`
	Ordinary int     `json:"ordinary_logs"`
	Alarms   int     `json:"false_alarms"`
}

// CallsRow are verdicts beside reports, as JSON.
type CallsRow struct {
	Plans       string  `json:"plans"`
	Ran         int     `json:"ran"`
	RanRight    int     `json:"ran_right"`
	Failed      int     `json:"failed"`
	FailedRight int     `json:"failed_right"`
	Tight       int     `json:"tight"`
	Right       float64 `json:"right_share"`
}

// MeasureRow is a score as JSON. Errors are relative, or in GiB where unit says so.
type MeasureRow struct {
	Measure  string     `json:"measure"`
	About    string     `json:"about"`
	Group    string     `json:"group,omitempty"`
	Unit     string     `json:"unit,omitempty"`
	Given    int        `json:"figures_given"`
	Used     int        `json:"figures_used"`
	Equal    int        `json:"equal"`
	Median   float64    `json:"median_error"`
	P90      float64    `json:"p90_error"`
	Max      float64    `json:"max_error"`
	Bias     float64    `json:"bias"`
	Coverage *float64   `json:"coverage,omitempty"`
	Width    *float64   `json:"width,omitempty"`
	Exact    bool       `json:"exact"`
	Target   float64    `json:"target"`
	Met      bool       `json:"met"`
	Worst    []WorstRow `json:"worst,omitempty"`
}

// WorstRow is a comparison as JSON.
type WorstRow struct {
	Row      string  `json:"row"`
	Figure   string  `json:"figure"`
	Question string  `json:"question"`
	Measured string  `json:"measured"`
	Ours     string  `json:"ours"`
	Error    float64 `json:"error"`
	Source   string  `json:"source"`
}

// ReasonRow is a reason as JSON.
type ReasonRow struct {
	Rows   int    `json:"rows"`
	Reason string `json:"reason"`
}

// PeerRow is a peer's errors of the total on devices beside ours, as JSON.
type PeerRow struct {
	Peer    string    `json:"peer"`
	Version string    `json:"version"`
	Source  string    `json:"source"`
	Rows    int       `json:"rows"`
	Ours    ErrorsRow `json:"ours"`
	Theirs  ErrorsRow `json:"theirs"`
}

// ErrorsRow is relative errors as JSON.
type ErrorsRow struct {
	Within int     `json:"within_1_percent"`
	Median float64 `json:"median_error"`
	P90    float64 `json:"p90_error"`
	Max    float64 `json:"max_error"`
}

func (e Errors) row() ErrorsRow { return ErrorsRow(e) }

// Summary gives the report's numbers without its rows.
func (r *Report) Summary() *Summary {
	s := &Summary{Used: r.Used, Refused: r.Refused, Met: r.Met(), Measures: measureRows(r.Scores), Fitted: measureRows(r.Fitted),
		Groups: measureRows(r.Groups)}
	for _, x := range r.Reasons {
		s.Reasons = append(s.Reasons, ReasonRow{x.Rows, x.Text})
	}
	for i := range r.Orders {
		s.Orders = append(s.Orders, r.Orders[i].row())
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		s.Verdicts = append(s.Verdicts, CallsRow{c.Kind, c.Ran, c.RanRight, c.Failed, c.FailedRight, c.Tight, c.RightShare()})
	}
	if d := r.Diagnoses; d != nil {
		s.Diagnoses = DiagnosesRow{d.Messages, d.Kind, d.Engine, d.Figures, d.Right(), d.Ordinary, d.Alarms}
	}
	for _, b := range r.Besides {
		s.Peers = append(s.Peers, PeerRow{b.Peer.Name, b.Peer.Version, b.Peer.Source, b.Rows, b.Ours.row(), b.Theirs.row()})
	}
	return s
}

func measureRows(scores []Score) (out []MeasureRow) {
	for i := range scores {
		s := &scores[i]
		m := MeasureRow{Measure: s.Measure.Name, About: s.Measure.About, Group: s.Group, Given: s.Given, Used: s.Used, Equal: s.Equal,
			Median: s.Median, P90: s.P90, Max: s.Max, Bias: s.Bias, Exact: s.Measure.Exact, Target: s.Measure.Target, Met: s.Met()}
		if s.Measure.Absolute {
			m.Unit = "GiB"
		}
		if !m.Exact && !s.Measure.Bandless {
			c, w := s.Coverage(), s.Width
			m.Coverage, m.Width = &c, &w
		}
		for j := 0; j < len(s.Worst) && j < worstShown && s.Worst[j].Error != 0; j++ {
			c := &s.Worst[j]
			m.Worst = append(m.Worst, WorstRow{c.Row.Name(), c.Figure, c.Question(), c.Measured.Text, c.OursText(), c.Error, c.Row.Source})
		}
		out = append(out, m)
	}
	return out
}
