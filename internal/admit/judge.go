package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/safe"
)

// Judge says whether pods fit.
type Judge struct {
	// Ask answers a fit request with models of the catalog: a pod opens no file and no address.
	Ask func(context.Context, *memwall.Request) (*memwall.Answer, error)
	// Warn refuses nothing, and says what it would have refused.
	Warn bool
	// Hardware is what pods run on that do not say; "" is unknown.
	Hardware string
	// Claims are the devices of resource claims, by the names of claims or of their templates.
	Claims map[string]string
}

// Judgement of an object.
type Judgement struct {
	Refused  string // why it is; "" where it is let in
	Warnings []string
}

// skip is the annotation by which who writes a pod leaves the judge out.
const skip = "memwall/admit"

// mostContainers of a pod that are judged.
const mostContainers = 16

// judge an object; a fault of the judge lets it in.
func (j *Judge) judge(ctx context.Context, text json.RawMessage) (out *Judgement) {
	out = &Judgement{}
	defer func() {
		if recover() != nil {
			out = &Judgement{Warnings: []string{"memwall itself failed on this object, let in"}}
		}
	}()
	var o object
	if json.Unmarshal(text, &o) != nil {
		return &Judgement{Warnings: []string{"this object is not read, let in"}}
	}
	if o.Metadata.Annotations[skip] == "skip" {
		return out
	}
	for _, p := range o.pods() {
		for i := range p.Containers[:min(len(p.Containers), mostContainers)] {
			j.container(ctx, &p, &p.Containers[i], out)
		}
	}
	if j.Warn && out.Refused != "" {
		out.Warnings, out.Refused = append([]string{out.Refused}, out.Warnings...), ""
	}
	return out
}

// container judges one: on each of the accelerators that its pod may land on.
func (j *Judge) container(ctx context.Context, p *podSpec, c *container, out *Judgement) {
	r, _, err := memwall.FromCommand(c.manifest())
	if err != nil || r.Model == "" {
		if c.accelerators().count > 0 && strings.Contains(strings.Join(append(c.Command, c.Args...), " "), "serve") {
			out.Warnings = append(out.Warnings, called(c)+"its launch line is not read: memwall fit --from says where")
		}
		return
	}
	on := p.claimed(c, j.Claims)
	for _, product := range p.products() {
		on = append(on, spelt(product, c.accelerators().profile))
	}
	if len(on) == 0 && j.Hardware != "" {
		on = []string{j.Hardware}
	}
	if len(on) == 0 {
		if c.accelerators().count > 0 || len(c.Res.Claims) > 0 {
			out.Warnings = append(out.Warnings, called(c)+"which GPU is not said (nodeSelector nvidia.com/gpu.product), not judged")
		}
		return
	}
	j.somewhere(ctx, c, r, on, out)
}

// somewhere: what fits on no device that it may land on is refused, what fits on some is let in with a warning.
func (j *Judge) somewhere(ctx context.Context, c *container, r *memwall.Request, on []string, out *Judgement) {
	const most = 8
	var refused, warned []string
	fits := false
	for _, hw := range on[:min(len(on), most)] {
		at := *r
		at.Ask, at.Hardware = "fit", hw
		memwall.DevicesOfText(&at)
		a, err := j.Ask(ctx, &at)
		switch {
		case err != nil:
			warned = append(warned, called(c)+"not judged on "+said(hw)+": "+whyNot(err))
			fits = true
		case a.Verdict == memwall.DoesNotFit && assumed(a):
			warned = append(warned, called(c)+short(a)+"; the model's name was not certain, let in")
			fits = true
		case a.Verdict == memwall.DoesNotFit:
			refused = append(refused, called(c)+short(a))
		default:
			fits = true
			if a.Verdict == memwall.Tight {
				warned = append(warned, called(c)+named(a)+" is tight: it fits, and not at the high edge of its band")
			}
		}
	}
	out.Warnings = append(out.Warnings, warned...)
	switch {
	case len(refused) == 0:
	case fits:
		out.Warnings = append(out.Warnings, refused...)
	default:
		if out.Refused != "" {
			out.Refused += "; "
		}
		out.Refused += refused[0]
	}
}

// assumed: the model is one of several that its name may mean, or one that stands for it.
func assumed(a *memwall.Answer) bool {
	return slices.ContainsFunc(a.Notes, func(n memwall.Note) bool { return n.Code == "name_read" && n.Severity == "warn" })
}

// called names a container; its name is a label of DNS, and what is not is left out.
func called(c *container) string {
	if c.Name == "" || len(c.Name) > 63 || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return "container " + c.Name + ": "
}

func said(hw string) string { return safe.Text(cut(hw, 60), "") }

// whyNot names the kind of an error alone: its words may hold what stands in a pod.
func whyNot(err error) string {
	switch e := memwall.AsError(err); e.Code {
	case memwall.UnknownModel:
		if e.Field == "draft_model" {
			return "the draft model is not in the catalog"
		}
		return "the model is not in the catalog"
	case memwall.UnknownHardware:
		return "the hardware is not in the catalog"
	case memwall.ImpossiblePlan:
		return "the plan is one that the engine refuses: memwall fit --from says why"
	}
	return "memwall fit --from says why"
}

func named(a *memwall.Answer) string {
	d := &a.Devices[0]
	n := int64(0)
	for i := range a.Devices {
		n += a.Devices[i].Count
	}
	return fmt.Sprintf("%s on %d × %s", a.Model.Name, n, d.Name)
}

// short says how much is, and what would fit.
func short(a *memwall.Answer) string {
	worst := &a.Devices[0]
	for i := range a.Devices {
		if a.Devices[i].Headroom < worst.Headroom {
			worst = &a.Devices[i]
		}
	}
	words := fmt.Sprintf("%s does not fit: needs %s of %s that each may use, %s short", named(a), worst.Needed, worst.Usable,
		-worst.Headroom)
	for _, s := range a.Suggestions {
		if !s.Slow && (s.Verdict == memwall.Fits || s.Verdict == memwall.Tight) {
			return words + ". Fits with: " + safe.Text(s.Change, "")
		}
	}
	return words + ". memwall plan says what would"
}
