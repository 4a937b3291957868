package diagnose

import "strings"

// rule is one form of message. A line that holds all of words, parted by "…" and in this order, is one.
//
// The first rule that holds decides, in the order of families: what is no lack of memory stands before what is, because
// it often holds the same words.
type rule struct {
	words   string
	kind    Kind
	engine  string // "" : who printed the lines before
	backend string
	place   Place
	// follows: the line says again, or less exactly, what a line before it said. Alone it is a finding.
	follows bool
	// early: what failed says it again, with more figures, after this line.
	early bool
	// whole: the words are all of the line.
	whole bool
	// unless a line holds one of these.
	unless  []string
	device  string
	figures []figure
	fix     *Fix
}

// Fix is a change that a message calls for, whatever the model is.
type Fix struct {
	Now, Later, Run string
}

// what is a figure's place in a Finding.
type what uint8

const (
	requested what = iota
	free
	capacity
	allocated
	inUse
	unallocated
	pools
	reserved // what the allocator keeps, used or not
	others   // what other processes hold
	beside   // what the process holds outside of its allocator
	limit
	needed // tokens
	available
	longest
	share
)

// figure is where a number stands in a message: behind an anchor, or right before one.
type figure struct {
	what   what
	after  string
	before string
	bare   bool // a number without a unit is bytes
}

// families are all rules, in order.
var families = [][]rule{notMemoryRules, jobRules, killedRules,
	vllmRules, sglangRules, serverRules, collectiveRules, llamacppRules, hostRules,
	metalRules, xlaRules, torchRules, generalRules}

// find gives the rule of a line, of which in are the beginnings of words, and where the rule's words begin.
func find(text string, in *hits) (*rule, int) {
	for n, rules := range families {
		for i, id := range words().rules[n] {
			if !in.has(id) {
				continue
			}
			if at := rules[i].index(text); at >= 0 {
				return &rules[i], at
			}
		}
	}
	return nil, -1
}

// index is where the rule's words begin in a text; -1 when it does not hold them.
func (r *rule) index(text string) int {
	if r.whole && strings.TrimSpace(text) != r.words {
		return -1
	}
	first, rest, more := strings.Cut(r.words, "…")
	at := strings.Index(text, first)
	if at < 0 || advice(text[:at]) {
		return -1
	}
	tail := text[at+len(first):]
	for more {
		var next string
		next, rest, more = strings.Cut(rest, "…")
		i := strings.Index(tail, next)
		if i < 0 {
			return -1
		}
		tail = tail[i+len(next):]
	}
	for _, u := range r.unless {
		if strings.Contains(text, u) {
			return -1
		}
	}
	return at
}

// conditions are what stands before words of a failure that has not happened.
var conditions = []string{"if you", "in case", "avoid", "prevent", "may cause", "might cause", "may lead", "can lead", "could lead",
	"may result", "can cause", "could cause", "instead of", "help with", "handle ", "when ", "troubleshoot", "if a ", "if an ", "if the ",
	"unless"}

// advice reports whether a text is about failures and not one.
func advice(before string) bool {
	if start := strings.TrimSpace(before); strings.HasPrefix(start, "# ") || start == "#" || strings.HasPrefix(start, "//") {
		return true // a comment
	}
	before = strings.ToLower(before[max(0, len(before)-120):])
	for _, c := range conditions {
		if strings.Contains(before, c) {
			return true
		}
	}
	return false
}

// take puts the rule's figures, as far as a text holds them, into a finding that lacks them.
func (r *rule) take(f *Finding, text string, again bool) {
	for i := range r.figures {
		g := &r.figures[i]
		to := f.amount(g.what)
		if to == nil {
			g.count(f, text)
			continue
		}
		a, ok := g.read(text)
		f.Overflowed = f.Overflowed || g.what == requested && a.Bytes > most
		if ok && (!to.Known || again && a.Half < to.Half || again && g.bare && a.Bytes > to.Bytes) {
			*to = a
		}
	}
}

func (g *figure) read(text string) (Amount, bool) {
	if g.before != "" {
		return amountBefore(text, g.before)
	}
	rest, ok := after(text, g.after)
	if !ok {
		return Amount{}, false
	}
	a, _, ok := amount(rest, g.bare)
	return a, ok
}

// after gives what follows an anchor, whose parts are parted by "…".
func after(text, anchor string) (string, bool) {
	for part := range strings.SplitSeq(anchor, "…") {
		i := strings.Index(text, part)
		if i < 0 {
			return "", false
		}
		text = text[i+len(part):]
	}
	return text, true
}
