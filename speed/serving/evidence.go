package serving

import (
	"sync"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/speed/coef"
)

// Evidence returns the closest level with measurements of matmuls, their number, and how many of them are from engines
// of another era than the plan's.
func (m *Model) Evidence() (level string, rows, early int) {
	d := &m.device
	level, rows = m.table.Nearest(productMemory, coef.Level{Name: "device", Key: d.id}, coef.Level{Name: "family", Key: d.family})
	switch {
	case Early(m.in.Engine, m.in.Version):
		return level, rows, 0
	case level == "device":
		return level, rows, m.early(rows, []string{d.id})
	case level == "family":
		return level, rows, m.early(rows, kin()[d.family])
	}
	return level, rows, 0
}

// early counts the figures of engines of another era on some devices. Where kernels were timed, products rest on these
// and not on whole engines, whose figures are those that launches count.
func (m *Model) early(rows int, devices []string) (old int) {
	whole := 0
	for _, id := range devices {
		o, _ := m.table.Offset("host.launch", "device", id)
		whole += o.Rows
		for name := range early {
			o, _ := m.table.Offset("host.step", "era", eraKey(id, name))
			old += o.Rows
		}
	}
	if whole != rows {
		return 0
	}
	return old
}

// kin are the ids of the catalog's devices by family.
var kin = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	all := hardware.All()
	for i := range all {
		f := Family(&all[i])
		out[f] = append(out[f], all[i].ID)
	}
	return out
})
