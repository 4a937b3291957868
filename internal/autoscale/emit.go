package autoscale

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/unit"
)

// forms of a policy as a file; each is called as the policy is.
var forms = []struct {
	name  string
	write func(r *ScalingReport, p *Policy, w *writing) error
}{{"hpa", writeHPA}, {"keda", writeKEDA}, {"dynamo", writeDynamo}}

// FormWords lists the files that a policy can be written as.
func FormWords() string {
	var all []string
	for _, f := range forms {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// Chosen is the policy that is best; nil where none keeps the goal.
func (r *ScalingReport) Chosen() *Policy {
	for i := range r.Policies {
		if r.Policies[i].Name == r.Best && r.Best != "" {
			return &r.Policies[i]
		}
	}
	return nil
}

// Drawn is the policy whose day is drawn: the best, or the oracle; nil of none.
func (r *ScalingReport) Drawn() *Policy {
	p := r.Chosen()
	if p == nil {
		p = r.Oracle
	}
	if p == nil || p.Error != "" || len(p.Parts) == 0 {
		return nil
	}
	return p
}

// Serving are a policy's replicas that serve, part by part of the day.
func (p *Policy) Serving() (ready []float64) {
	for i := range p.Parts {
		ready = append(ready, p.Parts[i].Ready)
	}
	return ready
}

// Files are the manifests of the policies that keep the goal, by their forms.
func (r *ScalingReport) Files() map[string]string {
	out := map[string]string{}
	for _, f := range forms {
		if text, err := r.Emit(f.name); err == nil {
			out[f.name] = text
		}
	}
	return out
}

// writing is a file that is being written.
type writing struct {
	strings.Builder
	name string // of the deployment that is scaled
}

func (w *writing) line(depth int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", depth) + fmt.Sprintf(format, args...) + "\n")
}

// For a file of a form its own policy is played, where nobody says more.
func (a *Asked) For(form string) {
	if form != "" && len(a.Policies) == 0 && slices.ContainsFunc(kinds, func(k kind) bool { return k.name == form }) {
		a.Policies = []string{form}
	}
}

// Emit writes a policy that keeps the goal as a file.
func (r *ScalingReport) Emit(form string) (string, error) {
	bad := func(message, hint string) error {
		return &memwall.Error{Code: memwall.BadField, Field: "emit", Value: form, Message: "--emit " + message, Hint: hint}
	}
	for _, f := range forms {
		if f.name != form {
			continue
		}
		i := slices.IndexFunc(r.Policies, func(p Policy) bool { return p.Name == form && p.Met })
		if i < 0 {
			return "", bad(form+": it does not keep the goal on this load, so no file is written",
				"a wider goal, a higher --max, or a faster plan")
		}
		p := &r.Policies[i]
		w := &writing{name: manifest.Name(r.Model + "-" + engineName(r.Engine))}
		w.line(0, "# %s of %s on %s.", p.Name, r.Model, r.Hardware)
		w.line(0, "# Replayed on %s requests in %s: %s in time, %s replicas on average, at most %d%s.", unit.Count(int64(r.Load.Requests)),
			unit.Seconds(r.Load.Seconds), percent(p.Kept), unit.Significant(p.Mean, 3), p.Peak, dollarWords(p))
		if err := f.write(r, p, w); err != nil {
			return "", err
		}
		return w.String(), nil
	}
	return "", bad(fmt.Sprintf("%.40q is none of %s", form, FormWords()), "--emit keda")
}

func dollarWords(p *Policy) string {
	if p.USD == nil {
		return ""
	}
	return fmt.Sprintf(", $%s", unit.Significant(*p.USD, 3))
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", math.Floor(10000*x)/100) }

func engineName(engine string) string {
	name, _, _ := strings.Cut(engine, "@")
	return name
}
