// Package tty tells terminals from other files. /dev/null is a character device as terminals are, and no terminal: what is asked is
// whether a file has a size in columns and rows, or in Windows a console's mode.
package tty
