package render

import kept "github.com/memwall/memwall/source/cache"

// Cache draws what is kept of remote models.
func Cache(c *kept.Contents, st Style) string {
	p := newPage(st)
	p.heading(plural(int64(len(c.Entries)), "entry", "entries"), c.Bytes.String()+" of "+c.Limit.String())
	p.para(pad(gap), say(c.Dir, dim))
	if len(c.Entries) == 0 {
		return p.String()
	}
	tb := &table{sides: []side{right, left, left}, most: map[int]int{2: max(20, st.width()-30)}}
	tb.row(say("size", dim), say("day", dim), say("what", dim))
	for _, e := range c.Entries {
		tb.row(say(e.Bytes.String()), say(e.At.Format("2006-01-02")), say(e.What))
	}
	p.blank()
	p.add(tb)
	return p.String()
}

// Cleared says what was removed.
func Cleared(c *kept.Contents, st Style) string {
	p := newPage(st)
	p.heading(plural(int64(len(c.Entries)), "entry", "entries")+" removed", c.Bytes.String())
	return p.String()
}
