//go:build !unix

package source

import "os"

// openPipe opens a pipe.
func openPipe(name string) (*os.File, error) { return os.Open(name) }
