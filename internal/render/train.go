package render

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Train draws an answer to a training question: verdict, the peak and its phase, phases as bars, the ledger of the peak, the
// duration of a step and the run, fixes, and configuration.
func Train(a *memwall.Answer, opt FitOptions, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a, opt: opt}
	if opt.Explain != "" && opt.Explain != All {
		s.explainOne(opt.Explain)
		return s.page.String()
	}
	s.page.Title(a.Verdict, TrainAsked(a))
	s.peak()
	s.phases()
	s.ledger(0)
	s.host(a.Host, "host memory", "/host/ledger")
	s.step()
	s.suggestions()
	s.reasons()
	s.configNames()
	s.footnotes()
	s.notes()
	if opt.Explain == All {
		s.explainAll()
	}
	return s.page.String()
}

// TrainAsked describes what is trained, how, and on what.
func TrainAsked(a *memwall.Answer) []string {
	p := a.Plan
	how := map[string]string{"full": "full training", "lora": "LoRA", "qlora": "QLoRA", "dora": "DoRA", "adalora": "AdaLoRA",
		"vera": "VeRA", "loha": "LoHa", "lokr": "LoKr", "ia3": "IA3", "oft": "OFT", "boft": "BOFT", "prompt_tuning": "prompt tuning",
		"prefix_tuning": "prefix tuning"}[p.Method]
	if p.Method != "full" {
		how += fmt.Sprintf(" r%d", p.LoRARank)
	}
	batch := fmt.Sprintf("%d × %s tokens", p.MicroBatch, unit.Count(int64(p.SequenceLength)))
	return []string{ModelName(a.Model), how, batch, machine(a), layoutOf(p)}
}

// layoutOf describes the framework and the parallel layout.
func layoutOf(p *memwall.Request) string {
	out := []string{p.Framework}
	for _, g := range []struct {
		name string
		n    int64
	}{{"tp", p.TP}, {"pp", p.PP}, {"cp", p.CP}, {"ep", p.EP}, {"dp", p.DP}} {
		if g.n > 1 {
			out = append(out, fmt.Sprintf("%s %d", g.name, g.n))
		}
	}
	if p.Sharding != "none" && p.Sharding != "" {
		out = append(out, p.Sharding)
	}
	return strings.Join(out, ", ")
}

// peak writes line 2: what the worst rank needs, in which phase, and what the vendor's monitor will show.
func (s *screen) peak() { s.page.Para(term.Pad(term.Gap), PeakText(s.a)) }

// PeakText returns the peak relative to usable memory; if the plan does not fit, the shortage and a fix.
func PeakText(a *memwall.Answer) term.Text {
	d, w := &a.Devices[0], a.PerDevice
	n := term.Needed(d)
	need, usable, name := term.Pair(n, d.Usable)
	if d.Usable > 0 {
		need += " of " + usable
	}
	x := term.Say("peak " + need + " " + name + each(a) + ", at " + w.When())
	if a.Verdict == memwall.DoesNotFit {
		x = term.Join(term.Say(term.GiB(-d.Headroom, n.Decimals())+" GiB short: ", term.InkBad), x)
		if c := firstThat(a, memwall.Fits); c != nil {
			if t := tightFirst(a, c); t != nil {
				x = term.Join(x, term.Say(". Tight with "+cmp.Or(patchFlags(t), t.Change)))
			}
			x = term.Join(x, term.Say(". Fits with "+cmp.Or(patchFlags(c), c.Change)))
		} else if c := firstThat(a, memwall.Tight); c != nil {
			x = term.Join(x, term.Say(". Tight with "+cmp.Or(patchFlags(c), c.Change)))
		}
	}
	if shown := smiText(a, name); shown != "" {
		x = term.Join(x, term.Say("; "+shown))
	}
	return x
}

// smiText returns what nvidia-smi or its like will show for a step that runs, in GiB, with the unit if before has another; else "".
func smiText(a *memwall.Answer, before string) string {
	w := a.PerDevice
	if w == nil || a.Devices[0].Usable == 0 || a.Verdict == memwall.DoesNotFit || w.Monitor == "" {
		return ""
	}
	smi := term.Banded{Mid: w.SMI, Low: w.SMILow, High: w.SMIHigh}
	shown := w.Monitor + " will show " + term.GiB(smi.Mid, smi.Decimals()) + smi.Band()
	if before != "GiB" {
		shown += " GiB"
	}
	return shown
}

// phases draws bars on one scale.
func (s *screen) phases() {
	d := &s.a.Devices[0]
	phases := d.Occupied()
	names, values := make([]term.Text, len(phases)), make([]term.Text, len(phases))
	scale := max(d.Capacity, d.Usable)
	for i := range phases {
		names[i], values[i] = term.Say(phases[i].Name), term.Say(term.GiB(phases[i].Bytes, 1))
		if phases[i].Name == s.a.PerDevice.PeakPhase {
			values[i] = term.Join(values[i], term.Say("  peak", term.Bold))
		}
		scale = max(scale, phases[i].Bytes)
	}
	term.Column(names, term.Left)
	term.Column(values, term.Decimal)
	s.page.Blank()
	for i := range phases {
		line := term.Join(term.Pad(term.Gap), names[i], term.Pad(term.Gap))
		if w := s.page.Style.Cells(); w >= term.Narrow {
			at := *d
			at.Ledger = phases[i].Ledger
			n := s.page.BarCells(line.Cells() + values[i].Cells() + term.Gap)
			line = term.Join(line, scaled(&at, n, scale), term.Pad(term.Gap))
		}
		s.page.Line(term.Join(line, values[i]))
	}
}

// step writes how long a step takes, its parts, and the whole run.
func (s *screen) step() {
	for i, r := range StepRows(s.a) {
		if i == 0 {
			s.page.Blank()
		}
		s.page.Para(term.Join(term.Pad(term.Gap), term.Say(fmt.Sprintf("%-9s", r[0]), term.Dim)), term.Say(r[1]))
	}
}

// StepRows returns labels and texts for the duration of a training step, its parts, and the whole run.
func StepRows(a *memwall.Answer) (out [][2]string) {
	v := a.Step
	if v == nil {
		return nil
	}
	without := ""
	if slices.ContainsFunc(a.Notes, func(n memwall.Note) bool { return n.Code == "generation_not_counted" }) {
		without = " without generation"
	}
	out = append(out, [2]string{"step", fmt.Sprintf("%s%s · %s tok/s per device · MFU %s, HFU %s",
		tookWithin(v.Seconds, v.SecondsLow, v.SecondsHigh), without, term.Significant(v.PerDevice, 3), term.Percent(v.MFU),
		term.Percent(v.HFU))},
		[2]string{"parts", largestParts(v)})
	if r := a.Run; r != nil {
		out = append(out, [2]string{"run", runText(r)})
	}
	if m := a.Disk; m != nil && m.Checkpoint > 0 {
		out = append(out, [2]string{"disk", diskText(m)})
	}
	return out
}

func diskText(m *memwall.Memory) string {
	out := m.Checkpoint.String() + " per checkpoint, " + m.OptimizerCheckpoint.String() + " more with optimizer states"
	if m.Swap > 0 {
		out += ", " + m.Swap.String() + " of swap files"
	}
	return out
}

func took(x float64) string { return unit.Seconds(x).String() }

// tookWithin formats a time with its band: 2.4 h (1.9–3.1 h), or 95 ms (80 ms–0.11 s) if the units differ.
func tookWithin(x, low, high float64) string {
	from, to := took(low), took(high)
	number, name, _ := strings.Cut(from, " ")
	if strings.HasSuffix(to, " "+name) {
		from = number
	}
	return fmt.Sprintf("%s (%s–%s)", took(x), from, to)
}

// largestParts describes the longest parts of a step.
func largestParts(v *memwall.TrainingStep) string {
	parts := append([]memwall.StepPart(nil), v.Parts...)
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].Seconds > parts[j].Seconds })
	var out []string
	for i := range parts[:min(len(parts), 4)] {
		p := &parts[i]
		out = append(out, strings.ReplaceAll(p.Label(), "_", "-")+" "+took(p.Seconds))
	}
	return strings.Join(out, ", ")
}

func runText(r *memwall.TrainingRun) string {
	out := term.Brief(r.Tokens) + " tokens: " + took(r.Seconds)
	if r.USD != nil {
		out += ", $" + term.Significant(*r.USD, 2)
	}
	if r.KWh != nil {
		out += ", " + term.Significant(*r.KWh, 2) + " kWh"
	}
	return out
}

// configNames mentions the available configurations.
func (s *screen) configNames() {
	var names []string
	for name := range s.a.Config {
		names = append(names, name)
	}
	if len(names) == 0 {
		return
	}
	sort.Strings(names)
	s.page.Blank()
	s.page.Para(term.Join(term.Pad(term.Gap), term.Say("config   ", term.Dim)), term.Say(strings.Join(names, ", ")+": --config writes it"))
}
