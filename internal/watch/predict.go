package watch

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/plan"
)

// asked is a prediction, on its way or there.
type asked struct {
	key  string // what it was asked about
	done bool
	said *live.Prediction
}

// ask asks memwall about engines that are new or run otherwise than before. Models far away may take long: predictions
// come when they come.
func (w *Watcher) ask(m *live.Moment, found []*engine) {
	if w.Ask == nil || w.smi.present && len(m.Devices) == 0 {
		return // what devices there are is not known now
	}
	for _, e := range found {
		on := usedBy(m, e.pid)
		key := fmt.Sprint(e.text, on, len(m.Devices))
		if e.loaded != nil {
			key += fmt.Sprint(*e.loaded)
		}
		w.mu.Lock()
		have := w.said[e.pid]
		if have == nil || have.done && have.key != key && (len(on) > 0 || have.said.Answer == nil) {
			next := &asked{key: key}
			if have != nil {
				next.said = have.said
			}
			w.said[e.pid] = next
			of := *e // the next moment may know more of it
			go w.predict(&of, next, on, slices.Clone(m.Devices))
		}
		w.mu.Unlock()
	}
}

// Predictions are those that are there, by the engine's PID.
func (w *Watcher) Predictions() map[int]*live.Prediction {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[int]*live.Prediction{}
	for pid, a := range w.said {
		if a.said != nil {
			out[pid] = a.said
		}
	}
	return out
}

// Asking: a prediction is on its way.
func (w *Watcher) Asking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.said {
		if !a.done {
			return true
		}
	}
	return false
}

// predict fills in one prediction.
func (w *Watcher) predict(e *engine, a *asked, on []int, devices []live.Device) {
	w.asks.Lock() // one at a time: who answers may remember
	defer w.asks.Unlock()
	said := w.prediction(e, on, devices)
	w.mu.Lock()
	defer w.mu.Unlock()
	a.said, a.done = said, true
}

// prediction reads a command line with the readers of --from and asks what it means.
func (w *Watcher) prediction(e *engine, on []int, devices []live.Device) *live.Prediction {
	r, notes, err := w.request(e)
	if err != nil {
		return unsaid(err, notes)
	}
	if r == nil || r.Model == "" {
		return &live.Prediction{Why: "its model is not known", Hint: "name it: memwall watch MODEL", Notes: notes}
	}
	p := &live.Prediction{Notes: notes}
	p.On = w.hardware(r, on, devices)
	r.Ask = "fit"
	if p.Answer, err = w.Ask(r); err != nil {
		return unsaid(err, notes)
	}
	p.Answer = outlined(p.Answer)
	p.On = ranked(p, devices)
	return p
}

// outlined is what a watch needs of an answer: the plan, its ledgers and its cache.
func outlined(a *memwall.Answer) *memwall.Answer {
	return &memwall.Answer{Schema: a.Schema, Version: a.Version, Ask: a.Ask, Model: a.Model, Plan: a.Plan, Verdict: a.Verdict,
		Devices: a.Devices, Host: a.Host, KV: a.KV, Notes: a.Notes}
}

func unsaid(err error, notes []memwall.Note) *live.Prediction {
	p := &live.Prediction{Why: err.Error(), Notes: notes}
	var e *memwall.Error
	if errors.As(err, &e) {
		p.Why, p.Hint = e.Message, e.Hint
	}
	return p
}

// request is what a command line and the user say together; nil where nobody says anything.
func (w *Watcher) request(e *engine) (r *memwall.Request, notes []memwall.Note, err error) {
	if e.text != "" && w.Read != nil {
		var unread []string
		if r, unread, err = w.Read(e.text); err != nil && w.Settle == nil {
			return nil, nil, err
		}
		for _, arg := range unread {
			notes = append(notes, memwall.Note{Code: "unknown_argument", Severity: "info", Field: "from",
				Text: arg + " was not recognised: the prediction leaves it out"})
		}
	}
	if r != nil {
		w.locate(r, e)
	}
	if w.Settle != nil {
		r = w.Settle(r)
	}
	return r, notes, nil
}

// locate finds files that the command line names by paths of its own folder, and a model that a page names.
func (w *Watcher) locate(r *memwall.Request, e *engine) {
	if l := e.loaded; l != nil && e.name == "ollama" {
		if r.Model = "ollama:" + l.model; l.context > 0 {
			r.Context = plan.Int(l.context)
		}
		return
	}
	for _, ref := range []*string{&r.Model, &r.MMProj, &r.DraftModel} {
		*ref = w.located(*ref, e)
	}
}

// located is a path as this program finds it; other names stay as they are.
func (w *Watcher) located(name string, e *engine) string {
	local := strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".gguf")
	if !local {
		return name
	}
	if w.Machine.OS == "windows" {
		if e.folder != "" && !filepath.IsAbs(name) {
			return filepath.Join(e.folder, name)
		}
		return name
	}
	from := name
	if !path.IsAbs(from) && e.folder != "" {
		from = path.Join(e.folder, from)
	}
	inside := fmt.Sprintf("proc/%d/root%s", e.pid, from) // of its container
	switch {
	case !path.IsAbs(from):
	case w.Machine.Has(strings.TrimPrefix(from, "/")):
		return from
	case w.Machine.Has(inside):
		return "/" + inside
	}
	return name
}

// usedBy are the devices that an engine's processes hold memory of, in order.
func usedBy(m *live.Moment, pid int) (on []int) {
	for i := range m.Processes {
		if p := &m.Processes[i]; pid != 0 && p.Engine == pid {
			for _, h := range p.Held {
				if !slices.Contains(on, h.Device) {
					on = append(on, h.Device)
				}
			}
		}
	}
	slices.Sort(on)
	return on
}

// hardware names the devices that an engine uses, where nobody named any, and gives their numbers.
func (w *Watcher) hardware(r *memwall.Request, on []int, devices []live.Device) []int {
	if r.Hardware != "" {
		return on
	}
	want := int(max(r.Devices, r.Plan.Ranks()))
	r.Devices = 0
	switch {
	case len(devices) == 0 || w.onProcessor(r):
		r.Hardware = w.local.IdleCPU
		if len(devices) == 0 {
			r.Hardware = w.local.Idle
		}
		return []int{live.OnHost}
	case len(on) < want && want > 1 && want <= len(devices):
		on = firstOf(devices, want)
	case len(on) == 0 && spreads(r):
		on = firstOf(devices, len(devices))
	case len(on) == 0:
		on = firstOf(devices, 1)
	}
	if len(on) == len(devices) && w.local.Idle != "" && len(w.local.Devices) == len(devices) {
		r.Hardware = w.local.Idle
		return on
	}
	var words []string
	for _, i := range on {
		if d := device(devices, i); d != nil && d.ID != "" {
			words = append(words, d.ID)
		} else if d != nil {
			words = append(words, fmt.Sprintf("name=device,memory=%d", d.Total))
		}
	}
	r.Hardware = counted(words)
	return on
}

// onProcessor: a plan keeps all layers off the devices.
func (w *Watcher) onProcessor(r *memwall.Request) bool {
	return r.GPULayers != nil && *r.GPULayers == 0
}

// spreads: engines that use all devices by themselves.
func spreads(r *memwall.Request) bool {
	return strings.HasPrefix(r.Engine, "llama") || strings.HasPrefix(r.Engine, "ollama")
}

func firstOf(devices []live.Device, n int) (on []int) {
	for _, d := range devices[:min(n, len(devices))] {
		on = append(on, d.Index)
	}
	return on
}

func device(devices []live.Device, index int) *live.Device {
	for i := range devices {
		if devices[i].Index == index {
			return &devices[i]
		}
	}
	return nil
}

// counted writes names as --on takes them: "2xh100-sxm-80gb+rtx-4090".
func counted(names []string) string {
	var out []string
	for i := 0; i < len(names); {
		j := i
		for j < len(names) && names[j] == names[i] {
			j++
		}
		if j-i > 1 {
			out = append(out, fmt.Sprintf("%dx%s", j-i, names[i]))
		} else {
			out = append(out, names[i])
		}
		i = j
	}
	return strings.Join(out, "+")
}

// ranked are the devices of an answer's ranks: those known to be used, else the first of the machine.
func ranked(p *live.Prediction, devices []live.Device) []int {
	var n int64
	for i := range p.Answer.Devices {
		n += p.Answer.Devices[i].Count
	}
	if int64(len(p.On)) == n || len(devices) == 0 {
		return p.On
	}
	return firstOf(devices, int(min(n, int64(len(devices)))))
}
