package diagnose

import "strings"

// limits follows what manifests and kubectl describe say of a container's memory: a line "Limits:", and "memory: 32Gi" below it.
type limits struct {
	under  int // lines below "Limits:" that may still be its own
	memory Amount
}

const limitRows = 4

func (l *limits) see(text string) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "limits:") {
		l.under = limitRows
		return
	}
	if l.under--; l.under < 0 || l.memory.Known {
		return
	}
	if rest, ok := strings.CutPrefix(text, "memory:"); ok {
		if a, _, ok := amount(strings.Trim(rest, ` "'`), true); ok {
			l.memory = a
		}
	}
}

// give puts the limit into the findings of a container that was killed at it.
func (l *limits) give(all []Finding) {
	for i := range all {
		if f := &all[i]; f.Kind == ContainerLimit && !f.Limit.Known {
			f.Limit = l.memory
		}
	}
}
