//go:build !windows

package detect

import "github.com/memwall/memwall/unit"

// ram is not needed: Linux has files, macOS sysctl.
func ram() (total, free unit.Bytes, ok bool) { return 0, 0, false }
