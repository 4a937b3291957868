//go:build !unix

package farm

import "time"

// pause needs signals.
func (p *process) pause(time.Duration) {}
