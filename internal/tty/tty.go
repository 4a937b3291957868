// Package tty detects terminals. /dev/null is a character device like a terminal, so it tests whether a file has a size
// in columns and rows, or on Windows a console mode.
package tty
