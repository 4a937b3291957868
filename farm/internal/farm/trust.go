package farm

import (
	"math/rand/v2"
	"sync"
)

// trust is how far a sweep believes those who sign answers. The nth answer of each is computed by the sweep as well with a
// chance of 1/n, and never of less than a share: whoever lies in the last of n answers from the mth on is not found out with
// a chance of (m-1)/n at most, so that a new name for each lie is of no use. Whoever is found out doubles the share.
type trust struct {
	own   string // the sweep's own ID, which needs no check
	share float64
	mu    sync.Mutex
	of    map[string]*standing
}

// standing of who signs answers.
type standing struct {
	name    string // as it said at first
	answers int64
	refused bool
}

func newTrust(own string, share float64) *trust {
	return &trust{own: own, share: share, of: map[string]*standing{}}
}

func (t *trust) standing(id, name string) *standing {
	s := t.of[id]
	if s == nil {
		s = &standing{name: printable(name)}
		t.of[id] = s
	}
	return s
}

// signer is who gave an answer, by the name that it gave at first.
func (t *trust) signer(id, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return signer(t.standing(id, name).name, id)
}

// chosen: the next answer of somebody is one that is to be computed here as well.
func (t *trust) chosen(id, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.share <= 0 || id == t.own {
		return false
	}
	s := t.standing(id, name)
	s.answers++
	return rand.Float64() < max(t.share, 1/float64(s.answers))
}

// refuse somebody; false who was refused before.
func (t *trust) refuse(id, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.standing(id, name)
	if s.refused || id == t.own {
		return false
	}
	s.refused, t.share = true, min(1, 2*t.share)
	return true
}

func (t *trust) refused(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of[id]
	return s != nil && s.refused
}
