package cards

import (
	"github.com/memwall/memwall/internal/term"
	kept "github.com/memwall/memwall/source/cache"
)

// Cache draws what is kept of remote models.
func Cache(c *kept.Contents, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(term.Plural(int64(len(c.Entries)), "entry", "entries"), c.Bytes.String()+" of "+c.Limit.String())
	p.Para(term.Pad(term.Gap), term.Say(c.Dir, term.Dim))
	if len(c.Entries) == 0 {
		return p.String()
	}
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left, term.Left}, Most: map[int]int{2: max(20, st.Cells()-30)}}
	tb.Row(term.Say("size", term.Dim), term.Say("day", term.Dim), term.Say("what", term.Dim))
	for _, e := range c.Entries {
		tb.Row(term.Say(e.Bytes.String()), term.Say(e.At.Format("2006-01-02")), term.Say(e.What))
	}
	p.Blank()
	p.Add(tb)
	return p.String()
}

// Cleared says what was removed.
func Cleared(c *kept.Contents, st term.Style) string {
	p := term.NewPage(st)
	p.Heading(term.Plural(int64(len(c.Entries)), "entry", "entries")+" removed", c.Bytes.String())
	return p.String()
}
