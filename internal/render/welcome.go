package render

// Welcome is what the program says alone.
type Welcome struct {
	Lines    []string `json:"lines"`
	Examples []string `json:"examples"`
	Machine  string   `json:"machine,omitempty"`
}

// Text draws it: the lines, the examples, this machine when it is known.
func (w *Welcome) Text(st Style) string {
	p := newPage(st)
	for i, l := range w.Lines {
		look := plain
		if i == 0 {
			look = bold
		}
		p.para(nil, say(l, look))
	}
	p.blank()
	for _, e := range w.Examples {
		p.line(pad(gap), say(e))
	}
	if w.Machine != "" {
		p.blank()
		p.para(join(pad(gap), say("this machine", dim), pad(gap)), say(w.Machine))
	}
	return p.String()
}

// Help is the help of a command.
type Help struct {
	Use, Short, Long string
	Examples         []string
	Groups           []HelpGroup
}

// HelpGroup is a list of commands or flags: name and what it does.
type HelpGroup struct {
	Name string
	Rows [][2]string
}

// Text draws the help.
func (h *Help) Text(st Style) string {
	p := newPage(st)
	p.para(join(say(h.Use, bold), say("   ")), say(h.Short))
	if h.Long != "" {
		p.para(pad(gap), say(h.Long))
	}
	if len(h.Examples) > 0 {
		p.blank()
		for _, e := range h.Examples {
			for _, l := range brokenLines(e, "  ", st.width()) {
				p.lines = append(p.lines, say(clean(l, false), dim))
			}
		}
	}
	for _, g := range h.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		p.blank()
		p.para(nil, say(g.Name, bold))
		tb := &table{sides: []side{left, left}, remark: true, most: map[int]int{0: 36}}
		for _, r := range g.Rows {
			tb.row(say(r[0]), say(r[1], dim))
		}
		p.add(tb)
	}
	return p.String()
}
