package serve

import (
	"container/list"
	"sync"
)

// kept caches answers by question; the least recently requested are evicted first.
type kept struct {
	most  int
	mu    sync.Mutex
	bytes int
	order list.List // of *entry, most recent first
	by    map[string]*list.Element
}

type entry struct {
	question string
	answer   *body
	bytes    int
}

// mostKept is the maximum size of a cached question.
const mostKept = 8 << 10

func newKept(most int) *kept { return &kept{most: most, by: map[string]*list.Element{}} }

// find returns a cached answer, or nil.
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

// keep caches an answer.
func (k *kept) keep(ask string, question []byte, answer *body) {
	if k == nil || len(question) > mostKept {
		return
	}
	const beside = 512 // overhead of lists, maps and tags; plus half for the compressed answer
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
