// Package browse is the interactive program started without a command: this machine, the models it can run, and the
// ledger of each, navigated by keys. It asks questions through a function and renders with package render; package
// screen displays it.
package browse

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/tui"
	"github.com/memwall/memwall/internal/screen"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// Browser is what is shown, and where in it one is.
type Browser struct {
	ask   func(*memwall.Request) (*memwall.Answer, error)
	style func(columns int) term.Style
	cards []string    // hardware to go through
	here  *card.Local // this machine, which is the first of them; nil where it is not known

	mu      sync.Mutex // guards what follows: answers come from beside the drawing
	axis    int        // which of the axes the arrows turn
	at      [3]int     // where each axis stands
	letters string     // that are searched for
	search  bool       // letters are being typed
	help    bool
	answer  *memwall.Answer // of the pick
	err     error
	stale   bool // the pick is to be asked again
	row     int
	ledger  *memwall.Answer // that is open; nil is the list
	top     int             // first line of the ledger that is shown
	told    string
	copied  string
	runs    *memwall.Request // the plan to be run once the screen is left
}

// The axes that arrows turn.
var (
	axisNames   = [3]string{"context", "format", "card"}
	axisLengths = []string{"", "4k", "8k", "16k", "32k", "64k", "128k"}
	axisFormats = []string{"", "q4_k_m", "q5_k_m", "q6_k", "q8_0", "fp8", "bf16"}
)

// beat is how soon a changed question is asked.
const beat = 50 * time.Millisecond

// New gives one that asks through a function, on a machine that may not be known, drawn in a style for a width.
func New(ask func(*memwall.Request) (*memwall.Answer, error), here *card.Local, style func(columns int) term.Style) *Browser {
	x := &Browser{ask: ask, style: style, stale: true, cards: slices.Clone(planner.Offered)}
	if here != nil && here.Words != "" {
		x.here, x.cards = here, append([]string{here.Words}, x.cards...)
	}
	return x
}

// Show is what a live screen shows of it.
func (x *Browser) Show() screen.Show {
	return screen.Show{Every: beat, Tick: x.tick, Key: x.key, Draw: x.draw, Copied: x.toCopy}
}

// request is the question which models run, as the axes stand.
func (x *Browser) request() *memwall.Request {
	r := &memwall.Request{Ask: "pick", Hardware: x.cards[x.at[2]]}
	x.set(r)
	return r
}

// set what the axes say of context and format.
func (x *Browser) set(r *memwall.Request) {
	for i, name := range []string{"context", "weights"} {
		if value := [][]string{axisLengths, axisFormats}[i][x.at[i]]; value != "" {
			_ = r.Set(name, value) // words of this file's own tables
		}
	}
	if x.ours() {
		r.Reserved = plan.Size(x.here.Reserved) // others hold that
	}
}

// ours: what is asked about is this machine.
func (x *Browser) ours() bool { return x.here != nil && x.at[2] == 0 }

// machine is what is asked about, in words.
func (x *Browser) machine() string {
	if x.ours() {
		return "this machine: " + x.cards[0]
	}
	return x.cards[x.at[2]]
}

// tick asks the pick where something changed, beside the drawing.
func (x *Browser) tick() {
	x.mu.Lock()
	stale, r := x.stale, x.request()
	x.stale = false
	x.mu.Unlock()
	if !stale {
		return
	}
	answer, err := x.ask(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.stale { // else another question came meanwhile
		x.answer, x.err = answer, err
	}
}

// entries are what the list shows: picks whose names hold the letters, then models of the catalog that letters may mean.
func (x *Browser) entries() (out []tui.BrowseRow) {
	if x.answer != nil {
		out = tui.BrowseRows(x.answer, x.letters)
	}
	if x.letters == "" {
		return out
	}
	for _, s := range card.SuggestModels(x.letters) {
		if !slices.ContainsFunc(out, func(r tui.BrowseRow) bool { return r.Model == s.ID }) {
			out = append(out, tui.BrowseRow{Model: s.ID, Cells: []string{s.Name, "", s.Format, unit.Fixed(s.Bytes.GiB(), 1)}})
		}
	}
	return out
}

// key takes one; the last is q.
func (x *Browser) key(key string) (quit bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = ""
	switch {
	case x.search:
		x.typed(key)
	case key == "q", key == "esc" && x.ledger == nil && !x.help && x.letters == "":
		return true
	case key == "?":
		x.help = !x.help
	case key == "esc", key == "backspace":
		x.back()
	case key == "/":
		x.search, x.letters, x.row, x.ledger = true, "", 0, nil
	case key == "c":
		x.copy()
	case key == "r":
		return x.leave()
	case x.ledger != nil:
		x.scroll(key)
	default:
		x.walk(key)
	}
	return false
}

// typed is a key while letters are searched for.
func (x *Browser) typed(key string) {
	const most = 60
	switch {
	case key == "esc":
		x.search, x.letters = false, ""
	case key == "enter":
		x.search = false
	case key == "backspace":
		if letters := []rune(x.letters); len(letters) > 0 {
			x.letters = string(letters[:len(letters)-1])
		}
	case key == "up", key == "down":
		x.search = false
		x.walk(key)
		return
	case key == "space":
		x.letters += " "
	case len([]rune(key)) == 1 && len(x.letters) < most:
		x.letters += key
	}
	x.row = 0
}

// back closes what is open.
func (x *Browser) back() {
	switch {
	case x.help:
		x.help = false
	case x.ledger != nil:
		x.ledger = nil
	default:
		x.letters, x.row = "", 0
	}
}

// walk through the list, or turn an axis.
func (x *Browser) walk(key string) {
	n := len(x.entries())
	switch key {
	case "up", "k":
		x.row = max(0, x.row-1)
	case "down", "j":
		x.row = max(0, min(n-1, x.row+1))
	case "tab":
		x.axis = (x.axis + 1) % len(axisNames)
	case "left", "right":
		size := [3]int{len(axisLengths), len(axisFormats), len(x.cards)}[x.axis]
		step := map[string]int{"left": size - 1, "right": 1}[key]
		x.at[x.axis], x.stale, x.row = (x.at[x.axis]+step)%size, true, 0
	case "enter":
		x.ledger, x.top = x.fit(), 0
	}
}

// scroll the ledger.
func (x *Browser) scroll(key string) {
	switch key {
	case "up", "k":
		x.top = max(0, x.top-1)
	case "down", "j":
		x.top++
	}
}

// wanted is the question whether the model fits that the list is at; nil where it has none.
func (x *Browser) wanted() *memwall.Request {
	list := x.entries()
	if x.row >= len(list) {
		return nil
	}
	r := &memwall.Request{Ask: "fit", Model: list[x.row].Model, Hardware: x.cards[x.at[2]]}
	x.set(r)
	for _, name := range slices.Sorted(maps.Keys(list[x.row].Sets)) {
		_ = r.Set(name, list[x.row].Sets[name]) // an answer's own words
	}
	return r
}

// fit of the model that the list is at; nil where it has none, and why is told.
func (x *Browser) fit() *memwall.Answer {
	r := x.wanted()
	if r == nil {
		return nil
	}
	answer, err := x.ask(r)
	if err != nil {
		x.told = memwall.AsError(err).Message
		return nil
	}
	return answer
}

// copy the command that runs what is shown.
func (x *Browser) copy() {
	answer := x.shown()
	if answer == nil {
		return
	}
	flags, with := render.WorkingFlags(answer)
	if len(flags) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(flags)))
		x.copied, x.told = flags[name], "copied: "+name+"'s command"
		if with != "" {
			x.told += ", with " + with
		}
		return
	}
	if x.told = "no program of this engine runs it"; answer.Verdict == memwall.DoesNotFit {
		x.told = "no command: it does not fit, and no single change is enough"
	}
}

// shown is the answer that is open, or that of the model that the list is at.
func (x *Browser) shown() *memwall.Answer {
	if x.ledger != nil {
		return x.ledger
	}
	return x.fit()
}

// leave the screen for the plan that is shown to be run, if this machine can.
func (x *Browser) leave() (quit bool) {
	answer := x.shown()
	switch {
	case answer == nil:
	case !x.ours():
		x.told = "not run: that is another machine"
	case answer.Verdict == memwall.DoesNotFit:
		x.told = "not run: it does not fit; Enter says what would help"
	default:
		x.runs = x.wanted()
	}
	return x.runs != nil
}

// Runs is the plan that is to be run now that the screen is left; nil where none is.
func (x *Browser) Runs() *memwall.Request {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.runs
}

// toCopy is handed over once.
func (x *Browser) toCopy() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := x.copied
	x.copied = ""
	return text
}

// draw what is open.
func (x *Browser) draw(columns, rows int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := x.style(columns)
	if x.ledger != nil && !x.help {
		return x.drawLedger(st, rows)
	}
	v := tui.BrowseView{Machine: x.machine(), Rows: x.entries(), At: x.row, Lines: rows, Search: x.search, Letters: x.letters, Told: x.told,
		Help: x.help, Waits: x.stale || x.answer == nil && x.err == nil}
	for i, name := range axisNames {
		value := [][]string{axisLengths, axisFormats, x.cards}[i][x.at[i]]
		if i == 2 && x.ours() {
			value = "this machine"
		}
		v.Axes = append(v.Axes, [2]string{name, value})
	}
	v.Turns = x.axis
	if x.err != nil {
		v.Told = memwall.AsError(x.err).Message
	}
	return tui.Browse(&v, st)
}

// drawLedger shows as much of the answer as there is room for.
func (x *Browser) drawLedger(st term.Style, rows int) string {
	lines := strings.Split(strings.TrimRight(render.Fit(x.ledger, render.FitOptions{}, st), "\n"), "\n")
	room := max(1, rows-2)
	x.top = max(0, min(x.top, len(lines)-room))
	return strings.Join(lines[x.top:min(len(lines), x.top+room)], "\n") + "\n\n" +
		tui.BrowseKeys("↑↓ scroll · c copy the command · Esc back · ? help · q quit", x.told, st)
}
