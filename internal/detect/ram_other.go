//go:build !windows

package detect

import "github.com/memwall/memwall/unit"

// ram: files say it on Linux, sysctl on macOS.
func ram() (total, free unit.Bytes, ok bool) { return 0, 0, false }
