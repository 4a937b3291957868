package argv

import "strings"

// ExpertKernels maps an engine's names for expert kernels to a plan's (moe_backend). Of several with the same meaning, the first is
// used in commands.
type ExpertKernels []struct{ Engine, Plan string }

// Name is what the engine calls a plan's; "" for the engine's own choice.
func (k ExpertKernels) Name(backend string) string {
	for _, n := range k {
		if n.Plan == backend {
			return n.Engine
		}
	}
	return ""
}

// Read sets a plan's by what a flag names. Kernels that no plan has are listed as they stand.
func (k ExpertKernels) Read(l *Launch, flag, value string) {
	word := strings.ReplaceAll(strings.ToLower(value), "-", "_")
	for _, n := range k {
		if strings.ToLower(n.Engine) == word {
			l.Plan.MoEBackend = n.Plan
			return
		}
	}
	if word != "auto" {
		l.Unknown = append(l.Unknown, flag+" "+Quote(Blotted(value)))
	}
}
