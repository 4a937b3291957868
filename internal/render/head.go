package render

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// writeHeadline writes line 2: the headline figure, and what it buys or lacks. The longest ending that fits on the line is used;
// otherwise one goes on its own line.
func writeHeadline(p *term.Page, a *memwall.Answer) {
	if len(a.Devices) == 0 {
		return
	}
	d := &a.Devices[0]
	if d.Usable == 0 || a.Verdict == memwall.Unknown {
		p.Para(term.Pad(term.Gap), unbounded(a, d))
		return
	}
	x, endings := figure1(a, d)
	writeFollow(p, x, endings)
	for i := range a.Siblings {
		p.Para(term.Pad(term.Gap), sibling(a, &a.Siblings[i]))
	}
}

// sibling describes a smaller model of the line that the plan holds, with its speed and both scores.
func sibling(a *memwall.Answer, s *memwall.Sibling) term.Text {
	x := term.Join(term.Say("Smaller and fits: "), term.Say(s.Name+" "+s.Weights, term.Bold),
		term.Say(", "+term.GiB(s.Headroom, 1)+" GiB free"))
	if s.Decode != nil {
		x = term.Join(x, term.Say(", "+term.Significant(*s.Decode, 2)+" tok/s"))
	}
	if b := s.Score; b != nil && s.ScoreOfAsked != nil && a.Model != nil {
		x = term.Join(x, term.Say("; "+b.Name+" "), ScoreCell(b), term.Say(" against "), ScoreCell(s.ScoreOfAsked))
	}
	return x
}

// figure1 returns the headline figure, and what it buys or lacks, longest text first.
func figure1(a *memwall.Answer, d *memwall.Device) (x term.Text, endings []string) {
	switch {
	case a.Verdict == memwall.DoesNotFit && hostLacks(a):
		return hostShort(a.Host), cures(a)
	case a.Verdict == memwall.DoesNotFit:
		return shortBy(a, d), cures(a)
	case a.Verdict == memwall.Tight:
		return term.Join(needs(a, d), term.Say(perUser(a))), cures(a)
	}
	return needs(a, d), usersAndContext(a)
}

// hostLacks reports whether the devices hold their part but the host does not.
func hostLacks(a *memwall.Answer) bool {
	return a.Devices[0].Headroom >= 0 && a.Host != nil && a.Host.Headroom < 0
}

// writeFollow writes a text and the first of several endings that fits on its line; if none does, one goes below.
func writeFollow(p *term.Page, x term.Text, endings []string) {
	x = term.Join(term.Pad(term.Gap), x).Clean(p.Style.ASCII)
	for _, e := range endings {
		if e = term.Clean(e, p.Style.ASCII); x.Cells()+term.Cells(e) <= p.Style.Cells() {
			p.Para(term.Pad(term.Gap), term.Join(x[1:], term.Say(e)))
			return
		}
	}
	p.Para(term.Pad(term.Gap), x[1:])
	if len(endings) > 0 {
		p.Para(term.Pad(term.Gap), term.Say(sentence(p, endings)))
	}
}

// sentence returns the first ending that fits on a line, else the longest, broken over several.
func sentence(p *term.Page, endings []string) string {
	own := func(e string) string { return term.Capital(strings.TrimLeft(e, ".; ")) }
	for _, e := range endings {
		if e = own(e); term.Gap+term.Cells(term.Clean(e, p.Style.ASCII)) <= p.Style.Cells() {
			return e
		}
	}
	return own(endings[0])
}

// needs returns "needs 69.5 ±0.6 of 72.8 GiB per GPU".
func needs(a *memwall.Answer, d *memwall.Device) term.Text {
	n := term.Needed(d)
	need, usable, name := term.Pair(n, d.Usable)
	v, band, _ := strings.Cut(need, " ")
	x := term.Say("needs " + least1(d) + v)
	if band != "" {
		x = term.Join(x, term.Say(" "+band, term.Dim))
	}
	return term.Join(x, term.Say(" of "+usable+" "+name+each(a)+besideOnHost(a)))
}

// muchOnHost is the amount of weights in host memory from which the headline mentions it.
const muchOnHost = unit.GiB

// besideOnHost returns " and 57.5 on the host", so that the headline does not hide the larger half.
func besideOnHost(a *memwall.Answer) string {
	if a.Host == nil {
		return ""
	}
	for i := range a.Host.Ledger {
		if it := &a.Host.Ledger[i]; it.ID == "weights" && it.Bytes >= muchOnHost {
			return " and " + term.GiB(it.Bytes, 1) + " of weights on the host"
		}
	}
	return ""
}

// least1 returns ≥ before a sum with an unknown part.
func least1(d *memwall.Device) string {
	for i := range d.Ledger {
		if d.Ledger[i].Unknown {
			return "≥"
		}
	}
	return ""
}

// each returns "per GPU" if there are several.
func each(a *memwall.Answer) string {
	n := int64(0)
	for i := range a.Devices {
		n += a.Devices[i].Count
	}
	switch {
	case n < 2:
		return ""
	case len(a.Devices) > 1:
		return " on " + RankName(&a.Devices[0])
	}
	return " per " + deviceWord(&a.Devices[0])
}

// deviceWord returns the common word for the device.
func deviceWord(d *memwall.Device) string {
	for _, w := range []string{"TPU", "CPU"} {
		if strings.Contains(d.Name, w) {
			return w
		}
	}
	for _, w := range []string{"Gaudi", "Trainium", "Inferentia", "Ascend", "without bounds", "Xeon", "EPYC"} {
		if strings.Contains(d.Name, w) {
			return "device"
		}
	}
	return "GPU"
}

// RankName returns "GPU 0" or "GPU 0–3".
func RankName(d *memwall.Device) string {
	return deviceWord(d) + " " + strings.ReplaceAll(d.Ranks, "-", "–")
}

// usersAndContext describes how many users and how long a context the plan holds, longest text first.
func usersAndContext(a *memwall.Answer) (out []string) {
	k := a.KV
	if k == nil || a.Plan == nil || a.Plan.Context == 0 {
		return nil
	}
	if k.Pictures {
		return pictures(k)
	}
	long := k.MaxContext != nil && *k.MaxContext > int64(a.Plan.Context)
	if k.MaxSequences != nil {
		users := "; holds " + term.Users(*k.MaxSequences) + " at " + unit.Length(int64(a.Plan.Context))
		rate := perUser(a)
		if long {
			out = append(out, users+", or "+lengthFor(a)+rate)
		}
		return append(out, users+rate)
	}
	if long {
		out = append(out, "; holds "+lengthFor(a))
	}
	return out
}

// pictures returns "; makes 8 at once", for images or videos.
func pictures(k *memwall.KV) []string {
	if k.MaxSequences == nil {
		return nil
	}
	return []string{"; makes " + unit.Count(*k.MaxSequences) + " at once"}
}

// perUser returns "; 4 get 37 tok/s each", or "; 37 tok/s" for one user.
func perUser(a *memwall.Answer) string {
	v := a.Speed
	if v == nil || v.Decode == nil {
		return ""
	}
	rate := term.Significant(*v.Decode, 2) + " tok/s"
	switch n := int64(max(1, a.Plan.Sequences)); {
	case a.Plan.Samples > 1:
		return "; " + unit.Count(n*int64(a.Plan.Samples)) + " answers get " + rate + " each"
	case n > 1:
		return "; " + unit.Count(n) + " get " + rate + " each"
	}
	return "; " + rate
}

// lengthFor returns "1 at 29,808 tokens".
func lengthFor(a *memwall.Answer) string {
	return unit.Count(max(1, int64(a.Plan.Sequences))) + " at " + tokens(*a.KV.MaxContext)
}

func tokens(n int64) string {
	if s := unit.Length(n); strings.HasSuffix(s, "k") || strings.HasSuffix(s, "M") {
		return s
	}
	return unit.Count(n) + " tokens"
}

// shortBy returns "2.8 GiB short: needs 26.3 of 23.5", followed by a fix.
func shortBy(a *memwall.Answer, d *memwall.Device) term.Text {
	n := term.Needed(d)
	short, _, name := term.Pair(term.Banded{Mid: -d.Headroom, Low: -d.Headroom, High: -d.Headroom}, 0)
	need, usable, unitOf := term.Pair(n, d.Usable)
	if name == "GiB" || unitOf == "GiB" {
		short, name = term.GiB(-d.Headroom, n.Decimals()), "GiB"
	}
	v, band, _ := strings.Cut(need, " ")
	x := term.Say(short+" "+name+" short"+each(a)+": ", term.InkBad)
	if name == unitOf {
		unitOf = ""
	} else {
		unitOf = " " + unitOf
	}
	x = term.Join(x, term.Say("needs "+least1(d)+v))
	if band != "" {
		x = term.Join(x, term.Say(" "+band, term.Dim))
	}
	return term.Join(x, term.Say(" of "+usable+unitOf))
}

// hostShort returns "2.8 GiB of host memory short: needs 66.8 of 64.0".
func hostShort(m *memwall.Memory) term.Text {
	n := term.Banded{Mid: m.Needed, Low: m.NeededLow, High: m.NeededHigh}
	need, there, name := term.Pair(n, m.Capacity)
	v, band, _ := strings.Cut(need, " ")
	x := term.Join(term.Say(term.GiB(-m.Headroom, n.Decimals())+" "+name+" of host memory short: ", term.InkBad), term.Say("needs "+v))
	if band != "" {
		x = term.Join(x, term.Say(" "+band, term.Dim))
	}
	return term.Join(x, term.Say(" of "+there))
}

// cures returns what happens and what to do, longest text first.
func cures(a *memwall.Answer) []string {
	out, w := mends(a), waiting(a)
	if w == "" {
		return out
	}
	var full []string
	brief, starts := "", ". Starts with "+unit.Count(*a.KV.MaxSequences)+" users"
	for _, e := range out {
		full, brief = append(full, w+e), e
	}
	return append(full, starts+", others wait"+brief, starts+brief, w)
}

// waiting returns ". Starts, holds 6 of 64 users, others wait": an engine with a shared pool rejects nobody.
func waiting(a *memwall.Answer) string {
	k := a.KV
	if a.Verdict != memwall.DoesNotFit || hostLacks(a) || k == nil || k.Blocks == 0 || k.MaxSequences == nil || *k.MaxSequences < 1 ||
		*k.MaxSequences >= int64(a.Plan.Sequences) {
		return ""
	}
	return fmt.Sprintf(". Starts, holds %s of %s users, others wait", unit.Count(*k.MaxSequences), unit.Count(int64(a.Plan.Sequences)))
}

// mends returns the cheapest change that certainly helps, and how to request it; else what the plan would hold.
func mends(a *memwall.Answer) []string {
	if s := firstThat(a, memwall.Fits); s != nil {
		slow := slowly(s)
		if t := tightFirst(a, s); t != nil {
			return []string{". Tight with " + briefFlags(t) + ", fits with " + briefFlags(s), ". Tight with " + briefFlags(t)}
		}
		if grants(s) {
			return []string{". Fits with " + s.Change + slow + ": " + briefFlags(s), ". Fits with " + s.Change + slow}
		}
		return []string{". Fits with " + s.Change + slow + ": " + briefFlags(s), ". Fits with " + briefFlags(s) + slow,
			". Fits with " + briefFlags(s)}
	}
	if s := firstThat(a, memwall.Tight); s != nil && a.Verdict == memwall.DoesNotFit {
		return []string{". Tight with " + s.Change + ": " + briefFlags(s), ". Tight with " + briefFlags(s)}
	}
	k := a.KV
	if k == nil || a.Plan == nil || a.Verdict == memwall.Tight {
		return []string{"; the band crosses the limit"}
	}
	shorter := k.MaxContext != nil && *k.MaxContext > 0 && *k.MaxContext < int64(a.Plan.Context)
	if len(a.FitsOn) > 0 {
		f, here := &a.FitsOn[0], "Nothing sensible fits here"
		if shorter && *k.MaxContext >= memwall.DefaultContext { // a shorter one answers no question
			here = "Holds " + tokens(*k.MaxContext) + " here"
		}
		return []string{". " + here + "; " + term.Counted(f.Devices, f.Name) + " would do: --on " + on(f),
			". Fits on " + term.Counted(f.Devices, f.Name) + ": --on " + on(f)}
	}
	if k.MaxSequences != nil && *k.MaxSequences > 0 && a.Plan.Sequences > 1 && k.Blocks == 0 {
		return []string{fmt.Sprintf("; holds %s of the %s users", unit.Count(*k.MaxSequences), unit.Count(int64(a.Plan.Sequences)))}
	}
	if shorter {
		return []string{"; holds " + lengthFor(a)}
	}
	return nil
}

// tightFirst returns a fix that leaves the plan tight, if it precedes one that fits only with other hardware or another engine; nil
// if there is none.
func tightFirst(a *memwall.Answer, fits *memwall.Suggestion) *memwall.Suggestion {
	t := firstThat(a, memwall.Tight)
	if t == nil || a.Verdict != memwall.DoesNotFit || t != &a.Suggestions[0] || !replaces(fits) || replaces(t) {
		return nil
	}
	return t
}

// grants reports whether a fix only raises the system's GPU share of unified memory.
func grants(s *memwall.Suggestion) bool {
	to, _ := s.Patch["hardware"].(string)
	return len(s.Patch) == 1 && strings.Contains(to, ",usable=")
}

// briefFlags returns patchFlags for a headline, without patterns that name dozens of layers, which the table of changes has.
func briefFlags(s *memwall.Suggestion) string {
	words := patchFlags(s)
	if pattern, ok := s.Patch["override_tensor"].(string); ok && len(pattern) > longPattern {
		words = strings.Replace(words, pattern, "…", 1)
	}
	return words
}

// longPattern is the length from which a tensor pattern does not fit in a headline.
const longPattern = 30

// replaces reports whether a fix needs other hardware or another engine.
func replaces(s *memwall.Suggestion) bool {
	to, _ := s.Patch["hardware"].(string)
	return to != "" && !strings.Contains(to, ",usable=") || s.Patch["engine"] != nil
}

// slowly returns " (4.8 tok/s)" if a fix leaves output below reading speed.
func slowly(s *memwall.Suggestion) string {
	if s.Decode == nil || *s.Decode >= readsAtEase {
		return ""
	}
	return " (" + term.Significant(*s.Decode, 2) + " tok/s)"
}

// readsAtEase is the rate in tokens per second below which readers wait for words.
const readsAtEase = 20

func firstThat(a *memwall.Answer, v memwall.Verdict) *memwall.Suggestion {
	for i := range a.Suggestions {
		if s := &a.Suggestions[i]; s.Verdict == v && !s.Slow {
			return s
		}
	}
	return nil
}

// patchFlags formats a patch as command-line flags; removed fields need none.
func patchFlags(s *memwall.Suggestion) string {
	names := make([]string, 0, len(s.Patch))
	for name := range s.Patch {
		names = append(names, name)
	}
	sort.Strings(names)
	var out []string
	for _, name := range names {
		f := memwall.FieldByName(name)
		switch v := s.Patch[name]; {
		case v == nil || f == nil:
		case f.Flag != "":
			out = append(out, "--"+f.Flag+flagValue(f, v))
		case reflect.TypeOf(v).Kind() == reflect.Struct:
			out = append(out, "--"+f.Name+" "+inParts(reflect.ValueOf(v)))
		}
	}
	return strings.Join(out, " ")
}

// inParts formats the set parts of a field as its flag takes them: optimizer=host,params=host.
func inParts(v reflect.Value) string {
	var out []string
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); !v.Field(i).IsZero() {
			out = append(out, name+"="+fmt.Sprint(v.Field(i)))
		}
	}
	return strings.Join(out, ",")
}

func flagValue(f *memwall.Field, v any) string {
	switch x := v.(type) {
	case bool:
		if x {
			return ""
		}
		return "=false"
	case int64:
		if f.Type == reflect.TypeFor[plan.Size]() {
			return " " + unit.Exact(unit.Bytes(x))
		}
		if f.Unit == "length" {
			return " " + strings.ReplaceAll(unit.Length(x), ",", "")
		}
	case float64:
		if f.Unit == "length" && x == math.Trunc(x) {
			return " " + strings.ReplaceAll(unit.Length(int64(x)), ",", "")
		}
		return " " + strconv.FormatFloat(x, 'f', -1, 64)
	}
	return " " + fmt.Sprint(v)
}

// unbounded returns the headline without a limit to compare with, or with an unknown part.
func unbounded(a *memwall.Answer, d *memwall.Device) term.Text {
	n := term.Needed(d)
	v, usable, name := term.Pair(n, d.Usable)
	v, band, _ := strings.Cut(v, " ")
	x := term.Say("needs " + least1(d) + v)
	if band != "" {
		x = term.Join(x, term.Say(" "+band, term.Dim))
	}
	switch {
	case d.Usable > 0:
		x = term.Join(x, term.Say(" of "+usable+" "+name+each(a)))
	default:
		x = term.Join(x, term.Say(" "+name+each(a)))
	}
	if u := unknownParts(d); u != "" {
		x = term.Join(x, term.Say("; unknown: "+u))
	}
	if len(a.FitsOn) > 0 {
		f := &a.FitsOn[0]
		x = term.Join(x, term.Say("; fits on "+term.Counted(f.Devices, f.Name)))
	}
	return x
}

func unknownParts(d *memwall.Device) string {
	var out []string
	for i := range d.Ledger {
		if d.Ledger[i].Unknown {
			name, _, _ := strings.Cut(d.Ledger[i].Name, ": ")
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}
