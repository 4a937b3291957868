package diagnose

import "strings"

// rule matches one form of message: a line that contains the words, separated by "…", in this order.
//
// The first matching rule of messages.tsv wins.
type rule struct {
	words   string
	kind    Kind
	engine  string // "" for the program of the preceding lines
	backend string
	place   Place
	// follows reports that the line repeats an earlier one, perhaps less precisely. By itself it is a finding.
	follows bool
	// early reports that the failure is reported again after this line, with more figures.
	early bool
	// whole requires the words to be the entire line.
	whole bool
	// unless excludes lines that contain any of these.
	unless  []string
	device  string
	figures []figure
	fix     *Fix
}

// Fix is a change that a message calls for whatever the model.
type Fix struct {
	Now, Later string
}

// what identifies a field of a Finding.
type what uint8

const (
	requested what = iota
	free
	capacity
	allocated
	inUse
	unallocated
	pools
	reserved // what the allocator holds, used or not
	others   // held by other processes
	beside   // held by the process outside its allocator
	limit
	needed // in tokens
	available
	longest
	share
)

// whats are figures as messages.tsv names them.
var whats = map[string]what{
	"requested": requested, "free": free, "capacity": capacity, "allocated": allocated, "in_use": inUse, "unallocated": unallocated,
	"pools": pools, "reserved": reserved, "others": others, "beside": beside, "limit": limit, "needed": needed, "available": available,
	"longest": longest, "share": share,
}

// figure locates a number in a message: after an anchor, or immediately before one.
type figure struct {
	what   what
	after  string
	before string
	bare   bool // a number without a unit is in bytes
}

// find returns the rule that matches a line, and where its words begin. in holds the word beginnings that occur in the
// line.
func find(text string, in *hits) (*rule, int) {
	all := rules()
	for i, id := range words().rules {
		if !in.has(id) {
			continue
		}
		if at := all[i].index(text); at >= 0 {
			return &all[i], at
		}
	}
	return nil, -1
}

// index returns where the rule's words begin in a text; -1 if absent.
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

// conditions are words that precede a failure that has not happened.
var conditions = []string{"if you", "in case", "avoid", "prevent", "may cause", "might cause", "may lead", "can lead", "could lead",
	"may result", "can cause", "could cause", "instead of", "help with", "handle ", "when ", "troubleshoot", "if a ", "if an ", "if the ",
	"unless"}

// advice reports whether a text talks about failures without being one.
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

// take adds the rule's figures to a finding that lacks them.
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

// after returns what follows an anchor, whose parts are separated by "…".
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
