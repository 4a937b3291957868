package page

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
)

// Keys of a day on replicas and of a pool, which are not request fields.
const (
	dayKey    = "load"
	modelsKey = "models"
	migKey    = "mig"
)

var packWords = []string{modelsKey, migKey}

func scalingWords() (names []string) {
	words := autoscale.Usual().Words()
	for i := range words {
		names = append(names, words[i].Name)
	}
	return names
}

// drawDay draws what autoscaling policies make of a day's load.
func drawDay(v *view) {
	v.asking()
	r, err := replayed(v)
	if err != nil {
		v.fail(err)
		v.add(v.failure())
		return
	}
	v.answer = &memwall.Answer{Notes: r.Notes}
	v.parts(cards.AutoscaleParts(r))
	if len(r.Policies) > 0 {
		v.add(chart(svg.ScalingChart(r, "day")))
	}
	files := r.Files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		v.add(el("details", el("summary", txt(name)), command(files[name])))
	}
	v.notes()
}

// replayed returns the report of the question.
func replayed(v *view) (*autoscale.ScalingReport, error) {
	if v.err != nil {
		return nil, v.err
	}
	asked := autoscale.Usual()
	words := asked.Words()
	for i := range words {
		w := &words[i]
		if !v.state.query.Has(w.Name) {
			continue
		}
		if err := w.Set(v.state.query.Get(w.Name)); err != nil {
			return nil, &memwall.Error{Code: memwall.BadField, Field: w.Name, Value: v.state.query.Get(w.Name), Message: w.Name + ": " + err.Error(),
				Hint: w.Hint("")}
		}
	}
	return autoscale.Run(v.ctx, v.site.Asker, v.request, asked, noFile)
}

// noFile rejects files: a page reads none of its server's machine.
func noFile(string) (io.ReadCloser, error) {
	return nil, errors.New("the page reads no files: give requests per second, separated by commas")
}

// drawPool draws the placement of models on the devices of a pool.
func drawPool(v *view) {
	v.asking()
	r, err := packed(v)
	if err != nil {
		v.fail(err)
		v.add(v.failure())
		return
	}
	v.answer = &memwall.Answer{}
	v.parts(cards.PackParts(r))
}

func packed(v *view) (*pack.Packing, error) {
	if v.err != nil {
		return nil, v.err
	}
	texts := strings.FieldsFunc(v.state.query.Get(modelsKey), func(r rune) bool { return r == ';' || r == '\n' })
	plans, err := pack.Plans(texts, func(text string) (*pack.Plan, error) {
		r, err := planOf(text)
		return &pack.Plan{Text: text, Request: r}, err
	})
	if err != nil {
		return nil, err
	}
	return pack.Pack(v.ctx, v.site.Asker.AskContext, v.request.Hardware, v.state.query.Has(migKey), plans)
}

// planOf parses a model with its flags in the form of the command line.
func planOf(text string) (*memwall.Request, error) {
	r := &memwall.Request{Ask: "fit"}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		flag, isFlag := strings.CutPrefix(words[i], "--")
		if !isFlag {
			if r.Model != "" {
				return nil, badPlan(words[i], "a plan has one model, but "+r.Model+" was named before it")
			}
			r.Model = words[i]
			continue
		}
		flag, value, said := strings.Cut(flag, "=")
		if !said && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			i++
			value, said = words[i], true
		}
		f := fieldOf(flag)
		if f == nil || !f.OfAsk("fit") {
			return nil, badPlan("--"+flag, "fit has no flag --"+flag)
		}
		if !said {
			value = "true"
		}
		if err := r.Set(f.Name, value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func badPlan(word, message string) *memwall.Error {
	return &memwall.Error{Code: memwall.BadField, Field: modelsKey, Value: word, Message: message,
		Hint: "models with their flags, separated by semicolons: qwen3-8b --ctx 8k; 2x llama-3.1-8b"}
}
