//go:build !unix

package regular

// noWait: pipes have no names among files here.
const noWait = 0
