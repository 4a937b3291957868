package serve

import (
	"container/list"
	"sync"
)

// kept are answers that were given: a question has one answer. Those that were asked for longest ago go first.
type kept struct {
	most  int
	mu    sync.Mutex
	bytes int
	order list.List // of *entry, the latest first
	by    map[string]*list.Element
}

type entry struct {
	question string
	answer   *body
	bytes    int
}

// mostKept is the size of a question that is kept.
const mostKept = 8 << 10

func newKept(most int) *kept { return &kept{most: most, by: map[string]*list.Element{}} }

// find an answer; nil when it is not there.
func (k *kept) find(ask string, question []byte) *body {
	if k == nil || len(question) > mostKept {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.by[ask+string(question)]
	if e == nil {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*entry).answer
}

// keep an answer.
func (k *kept) keep(ask string, question []byte, answer *body) {
	if k == nil || len(question) > mostKept {
		return
	}
	const beside = 512 // of lists, maps and tags, and half as much again for the compressed answer
	e := &entry{ask + string(question), answer, len(question) + len(answer.text)*3/2 + beside}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by[e.question] != nil || e.bytes > k.most/8 {
		return
	}
	k.by[e.question] = k.order.PushFront(e)
	for k.bytes += e.bytes; k.bytes > k.most; {
		last := k.order.Remove(k.order.Back()).(*entry)
		delete(k.by, last.question)
		k.bytes -= last.bytes
	}
}
