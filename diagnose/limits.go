package diagnose

import "strings"

// limits tracks a container's memory limit in manifests and kubectl describe: a line "Limits:" followed by "memory:
// 32Gi".
type limits struct {
	under  int // lines after "Limits:" that may still belong to it
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

// give adds the limit to findings of a container killed at it.
func (l *limits) give(all []Finding) {
	for i := range all {
		if f := &all[i]; f.Kind == ContainerLimit && !f.Limit.Known {
			f.Limit = l.memory
		}
	}
}
