package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
)

// note returns a note for an answer.
func note(code, severity, field, format string, args ...any) api.Note {
	return api.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)}
}

// remarks notes what the ranking depends on, and what it leaves out.
func (f *found) remarks(ranked []*candidate) (out []api.Note) {
	if f.base.Tokens == 0 && len(ranked) > 0 {
		out = append(out, note("no_tokens", "info", "tokens", "the length of the run is unknown: plans are ranked by "+
			"time per token; --tokens 15T sets it"))
	}
	if methods := f.among["method"]; len(methods) > 1 {
		out = append(out, note("methods_differ", "warn", "method",
			"%s train different things, and time and money alone rank them. Published: LoRA of usual ranks learns less of "+
				"code and mathematics than full fine-tuning and forgets less, and most of the gap closes for instructions at "+
				"rank 256 (arXiv:2405.09673); QLoRA keeps what fine-tuning in 16 bits reaches (arXiv:2305.14314)",
			strings.Join(methods, ", ")))
	}
	if f.offloads && f.kept.number > 0 {
		out = append(out, note("offloaded", "warn", "offload", "nothing fits in the memory of the devices alone: these plans "+
			"keep states or inputs of blocks on the host"))
	}
	return append(append(out, f.unsizedWords()...), f.unpriced(ranked)...)
}

// lighter notes the adapters that fit where the method does not, and what their best plan is.
func (f *found) lighter(ctx context.Context) []api.Note {
	asked := f.original
	if f.kept.number > 0 || f.among["method"] != nil || asked.Objective == "pretrain" || asked.Framework != "" {
		return nil
	}
	for _, method := range training.LighterMethods[cmp.Or(asked.Method, "full")] {
		r := *asked
		r.Method = method
		if a, err := Plan(ctx, f.env, &r); err == nil && a.Best != nil {
			does := map[api.Verdict]string{api.Fits: "fits", api.Tight: "may fit"}[a.Verdict]
			return []api.Note{note("lighter_method", "info", "method", "--method %s %s, with %s", method, does, a.Best.Change)}
		}
	}
	return nil
}

// unsizedWords notes list words that no plan was sized with, each with its reason.
func (f *found) unsizedWords() (out []api.Note) {
	for _, field := range api.TrainLists {
		for _, word := range f.among[field] {
			if !f.seen[field+" "+word] {
				out = append(out, note("refused", "warn", field, "no plan of %s = %s: %s", field, word, f.reason(word)))
			}
		}
	}
	return out
}

// unpriced notes machines without a price, if cost decides.
func (f *found) unpriced(ranked []*candidate) []api.Note {
	if f.want != "cost" {
		return nil
	}
	var names []string
	for _, p := range ranked {
		if name := p.site.words(); p.site.perHour == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return []api.Note{note("unpriced", "warn", "hardware",
		"no price of %s is known: plans on these are ranked apart, after the others, by time", strings.Join(names, ", "))}
}

// notesOf returns the notes of the best plan: assumptions about host memory, and the notes of its question.
func notesOf(best *detail) (out []api.Note) {
	n := best.onHost()
	if _, known := question.HostCapacity(best.training.Question.Job.Machine); !known && n > 0 {
		out = append(out, note("host_unknown", "warn", "hardware", "the best plan keeps %s in the memory of each node, and "+
			"how much that has is not known: %s,host=2TiB sets it", n, best.site.words()))
	}
	for _, n := range best.training.Notes() {
		if n.Severity != "info" || n.Code == "no_config" || n.Code == "fabric_assumed" {
			out = append(out, n)
		}
	}
	return out
}
