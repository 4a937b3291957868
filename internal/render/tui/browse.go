package tui

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// BrowseRow is a model of the list, and what a question of fit sets for it.
type BrowseRow struct {
	Model string
	Sets  map[string]string
	Cells []string // name, score, format, GiB, longest, tok/s
}

// BrowseView is what the app in a terminal shows.
type BrowseView struct {
	Machine string
	Axes    [][2]string // name and value; "" is what suits
	Turns   int         // the axis that arrows turn
	Rows    []BrowseRow
	At      int
	Lines   int // of the terminal
	Search  bool
	Letters string
	Told    string
	Help    bool
	Waits   bool
}

// BrowseRows are the picks of an answer whose names hold the letters, best first.
func BrowseRows(a *memwall.Answer, letters string) (out []BrowseRow) {
	for i := range a.Picks {
		k := &a.Picks[i]
		if !strings.Contains(strings.ToLower(k.Name+" "+k.Model), strings.ToLower(strings.TrimSpace(letters))) {
			continue
		}
		sets := map[string]string{}
		for name, value := range render.PickPatch(k) {
			if name != "model" {
				sets[name] = fmt.Sprint(value)
			}
		}
		out = append(out, BrowseRow{k.Model, sets,
			[]string{k.Name, render.ScoreCell(k.Score).String(), k.Weights, render.PickedNeed(k, int64(a.Plan.Context)).String(),
				render.LongestOf(k), render.TokensEach(k.Speed)}})
	}
	return out
}

// browseHelp says what keys do.
var browseHelp = [][2]string{
	{"↑ ↓", "a model"}, {"Enter", "its ledger: where every byte goes, and how fast it runs"},
	{"Tab", "which of context, format and card ← → turn"}, {"← →", "turn it"},
	{"/", "search the whole catalog"}, {"c", "copy the command that runs it (by OSC 52, where the terminal allows that)"},
	{"r", "leave this and run it on this machine, as memwall run does"}, {"Esc", "back"},
	{"q", "quit; the screen is as it was"},
}

// Browse draws the app's list, or its help.
func Browse(v *BrowseView, st term.Style) string {
	p := term.NewPage(st)
	p.Para(nil, term.Join(term.Say("memwall", term.Bold), term.Say("   "+v.Machine)))
	if v.Help {
		p.Blank()
		for _, h := range browseHelp {
			p.Para(term.Join(term.Pad(term.Gap), term.Say(h[0], term.Bold), term.Pad(max(1, 8-term.Cells(h[0])))), term.Say(h[1]))
		}
		return p.String() + "\n" + BrowseKeys("? back · q quit", "", st)
	}
	p.Para(term.Pad(term.Gap), axes(v))
	if v.Search || v.Letters != "" {
		p.Para(term.Pad(term.Gap), term.Join(term.Say("/"+v.Letters, term.Bold), term.Say(map[bool]string{true: "▏"}[v.Search])))
	}
	p.Blank()
	browsed(p, v)
	return p.String() + "\n" + BrowseKeys("↑↓ Enter ledger · ←→ Tab turn · / search · c copy · r run · ? help · q quit", v.Told, st)
}

// axes are what arrows turn, the one that they turn now in bold.
func axes(v *BrowseView) (line term.Text) {
	for i, x := range v.Axes {
		value := x[1]
		if value == "" {
			value = "what suits"
		}
		look := term.Plain
		if i == v.Turns {
			value, look = "‹ "+value+" ›", term.Bold
		}
		if i > 0 {
			line = term.Join(line, term.Say(" · ", term.Dim))
		}
		line = term.Join(line, term.Say(x[0]+" ", term.Dim), term.Say(value, look))
	}
	return line
}

// browsed is as much of the list around where it is as there is room for.
func browsed(p *term.Page, v *BrowseView) {
	if len(v.Rows) == 0 {
		p.Para(term.Pad(term.Gap),
			term.Say(map[bool]string{true: "asking …", false: "none: another card, a shorter context, or / for the whole catalog"}[v.Waits],
				term.Dim))
		return
	}
	const around = 8 // lines that are not of the list
	room := max(1, v.Lines-around)
	from := max(0, min(v.At-room/2, len(v.Rows)-room))
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Right, term.Left, term.Decimal, term.Right, term.Right},
		Most: map[int]int{1: max(10, p.Style.Cells()-50)}}
	tb.Row(nil, term.Say("model", term.Dim), term.Say("score", term.Dim), term.Say("format", term.Dim), term.Say("GiB", term.Dim),
		term.Say("longest", term.Dim), term.Say("tok/s", term.Dim))
	for i := from; i < min(len(v.Rows), from+room); i++ {
		mark, look := "", term.Plain
		if i == v.At {
			mark, look = "›", term.Bold
		}
		row := []term.Text{term.Say(mark, look)}
		for _, c := range v.Rows[i].Cells {
			row = append(row, term.Say(c, look))
		}
		tb.Row(row...)
	}
	p.Add(tb)
}

// BrowseKeys is the last line: what keys do, and what the last one did.
func BrowseKeys(words, told string, st term.Style) string {
	p := term.NewPage(st)
	if told != "" {
		p.Para(term.Pad(term.Gap), term.Say(told, term.Bold))
	}
	p.Para(term.Pad(term.Gap), term.Say(words, term.Dim))
	return p.String()
}
