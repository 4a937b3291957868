package render

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
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
		for name, value := range pickPatch(k) {
			if name != "model" {
				sets[name] = fmt.Sprint(value)
			}
		}
		out = append(out, BrowseRow{k.Model, sets, []string{k.Name, scoreCell(k.Score).string(), k.Weights, pickedNeed(k, int64(a.Plan.Context)).string(), longestOf(k), tokensEach(k.Speed)}})
	}
	return out
}

// browseHelp says what keys do.
var browseHelp = [][2]string{
	{"↑ ↓", "a model"}, {"Enter", "its ledger: where every byte goes, and how fast it runs"}, {"Tab", "which of context, format and card ← → turn"}, {"← →", "turn it"},
	{"/", "search the whole catalog"}, {"c", "copy the command that runs it (by OSC 52, where the terminal allows that)"}, {"Esc", "back"}, {"q", "quit; the screen is as it was"},
}

// Browse draws the app's list, or its help.
func Browse(v *BrowseView, st Style) string {
	p := newPage(st)
	p.para(nil, join(say("memwall", bold), say("   "+v.Machine)))
	if v.Help {
		p.blank()
		for _, h := range browseHelp {
			p.para(join(pad(gap), say(h[0], bold), pad(max(1, 8-cells(h[0])))), say(h[1]))
		}
		return p.String() + "\n" + BrowseKeys("? back · q quit", "", st)
	}
	p.para(pad(gap), axes(v))
	if v.Search || v.Letters != "" {
		p.para(pad(gap), join(say("/"+v.Letters, bold), say(map[bool]string{true: "▏"}[v.Search])))
	}
	p.blank()
	browsed(p, v)
	return p.String() + "\n" + BrowseKeys("↑↓ Enter ledger · ←→ Tab turn · / search · c copy · ? help · q quit", v.Told, st)
}

// axes are what arrows turn, the one that they turn now in bold.
func axes(v *BrowseView) (line text) {
	for i, x := range v.Axes {
		value := x[1]
		if value == "" {
			value = "what suits"
		}
		look := plain
		if i == v.Turns {
			value, look = "‹ "+value+" ›", bold
		}
		if i > 0 {
			line = join(line, say(" · ", dim))
		}
		line = join(line, say(x[0]+" ", dim), say(value, look))
	}
	return line
}

// browsed is as much of the list around where it is as there is room for.
func browsed(p *page, v *BrowseView) {
	if len(v.Rows) == 0 {
		p.para(pad(gap), say(map[bool]string{true: "asking …", false: "none: another card, a shorter context, or / for the whole catalog"}[v.Waits], dim))
		return
	}
	const around = 8 // lines that are not of the list
	room := max(1, v.Lines-around)
	from := max(0, min(v.At-room/2, len(v.Rows)-room))
	tb := &table{sides: []side{left, left, right, left, decimal, right, right}, most: map[int]int{1: max(10, p.st.width()-50)}}
	tb.row(nil, say("model", dim), say("score", dim), say("format", dim), say("GiB", dim), say("longest", dim), say("tok/s", dim))
	for i := from; i < min(len(v.Rows), from+room); i++ {
		mark, look := "", plain
		if i == v.At {
			mark, look = "›", bold
		}
		row := []text{say(mark, look)}
		for _, c := range v.Rows[i].Cells {
			row = append(row, say(c, look))
		}
		tb.row(row...)
	}
	p.add(tb)
}

// BrowseKeys is the last line: what keys do, and what the last one did.
func BrowseKeys(words, told string, st Style) string {
	p := newPage(st)
	if told != "" {
		p.para(pad(gap), say(told, bold))
	}
	p.para(pad(gap), say(words, dim))
	return p.String()
}
