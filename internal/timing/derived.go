package timing

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/stream"
)

// derived computes the prefill speed: prompt tokens over the TTFT of a single user, using that figure's formula if
// there is one.
func derived(q *question.Question, v *api.Speed) {
	if q.Explain == nil || v.Unloaded == nil || *v.Unloaded <= 0 {
		return
	}
	f := speed.Formula{Text: "ttft_unloaded_ms", Inputs: []speed.Term{alone(v)}}
	at := slices.IndexFunc(q.Explain.Timing, func(x speed.Formula) bool { return x.Part == "ttft_unloaded_ms" })
	if at >= 0 {
		f = q.Explain.Timing[at]
	}
	tokens := speed.Term{Name: "prompt_tokens", Value: float64(q.Request.PromptTokens), Origin: "of a prompt"}
	q.Explain.Timing = append(q.Explain.Timing, speed.Formula{Part: "prefill_tokens_per_s", Text: "1000 × prompt_tokens / (" + f.Text + ")",
		Inputs: append([]speed.Term{tokens}, f.Inputs...)})
}

// streamed returns formulas for users who prefill in turn and share decode steps.
func streamed(v *api.Speed, p *stream.Predictor, t stream.Test, users int64, l *stream.Loop) []speed.Formula {
	out := p.Formulas(t, users)
	if v.Unloaded == nil {
		return out
	}
	n := speed.Term{Name: "users", Value: float64(max(1, users))}
	out = append(out, p.FirstToken(t))
	out = append(out, speed.Formula{Part: "ttft_ms", Text: "ttft_unloaded_ms × (users + 1) / 2", Inputs: []speed.Term{alone(v), n}})
	if users <= 1 {
		return append(out, speed.Formula{Part: "total_tokens_per_s", Text: "1000 / tpot_ms",
			Inputs: []speed.Term{{Name: "tpot_ms", Value: *v.TPOT}}})
	}
	return append(out, speed.Formula{Part: "total_tokens_per_s",
		Text: "1000 × users × output / (output × step_ms + users × ttft_unloaded_ms)",
		Inputs: []speed.Term{n, {Name: "output", Value: float64(max(1, t.Generated)), Origin: "tokens of an answer"},
			{Name: "step_ms", Value: speed.SixDigits(1000 * l.Step.Mid), Origin: "of all users"}, alone(v)}})
}

func alone(v *api.Speed) speed.Term {
	return speed.Term{Name: "ttft_unloaded_ms", Value: *v.Unloaded, Origin: "of a user alone"}
}

// withoutPrompts drops the formulas of prompts, where another model predicts them.
func withoutPrompts(x *question.Explainer) {
	if x != nil {
		x.Timing = slices.DeleteFunc(x.Timing, func(f speed.Formula) bool {
			kind, _, _ := strings.Cut(f.Part, "_")
			return slices.Contains([]string{"ttft", "total", "prefill"}, kind)
		})
	}
}

// priced explains energy and cost per token.
func priced(q *question.Question, d *hardware.Device, l cost.Load, devices int, v *api.Speed, total float64) {
	if q.Explain == nil {
		return
	}
	rate := speed.Term{Name: "total_tokens_per_s", Value: total, Origin: "of all users"}
	if f, known := cost.Drawing(d, l); known {
		f.Part, f.Text = "joules_per_token", f.Text+" × devices / total_tokens_per_s"
		f.Inputs = append(f.Inputs, speed.Term{Name: "devices", Value: float64(devices)}, rate)
		q.Explain.Timing = append(q.Explain.Timing, f)
	}
	if v.USDPerHour != nil {
		q.Explain.Timing = append(q.Explain.Timing, speed.Formula{Part: "usd_per_million_tokens",
			Text:   "usd_per_hour × 1000000 / (3600 × total_tokens_per_s)",
			Inputs: []speed.Term{{Name: "usd_per_hour", Value: *v.USDPerHour, Origin: v.Price}, rate}})
	}
}
