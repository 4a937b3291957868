package pickle

import "fmt"

// Error says what in a pickle cannot be read, and at which byte.
type Error struct {
	At      int64
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Problem) }

// refused holds opcodes that build anything but plain data, with what each would do (Python's Lib/pickletools.py).
var refused = map[byte]string{
	'c': "names a class or a function to import", 0x93: "names a class or a function to import",
	'R': "calls a function", 'b': "sets the state of an object", 'i': "makes an object of a class", 'o': "makes an object of a class",
	0x81: "makes an object of a class", 0x92: "makes an object of a class",
	'P': "asks for an object that is kept elsewhere", 'Q': "asks for an object that is kept elsewhere",
	0x82: "names an extension", 0x83: "names an extension", 0x84: "names an extension",
	0x8f: "makes a set", 0x90: "fills a set", 0x91: "makes a frozen set",
	0x96: "holds an array of bytes", 0x97: "asks for a buffer that is kept elsewhere", 0x98: "asks for a buffer that is kept elsewhere",
}
