package format

import (
	"bytes"
	"encoding/binary"
)

// Kind is a kind of file, judged by its first bytes.
type Kind int

const (
	Unknown Kind = iota
	Empty
	GGUF
	Safetensors
	Zip
	Pickle
	OldGGML
	HDF5
	Gzip
	LFSPointer
	HTML
	JSON
	Zeros
)

// DetectBytes is the number of leading bytes that Detect needs at most; fewer may suffice.
const DetectBytes = 64

// Detect returns the kind of a file from its first bytes. It tests for safetensors first, since the length at the start
// of such a file can look like any short magic number.
func Detect(head []byte) Kind {
	if len(head) == 0 {
		return Empty
	}
	if headed(head) {
		return Safetensors
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return m.kind
		}
	}
	switch {
	case pickled(head):
		return Pickle
	case len(bytes.Trim(head, "\x00")) == 0:
		return Zeros
	}
	return text(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"))
}

var magics = []struct {
	prefix string
	kind   Kind
}{
	{"GGUF", GGUF},
	{"PK\x03\x04", Zip},
	{"PK\x05\x06", Zip},
	{"lmgg", OldGGML}, {"fmgg", OldGGML}, {"tjgg", OldGGML}, {"algg", OldGGML},
	{"\x89HDF\r\n\x1a\n", HDF5},
	{"\x1f\x8b", Gzip},
	{"version https://git-lfs", LFSPointer},
}

// pickled recognizes pickles of protocol 2 to 5, which begin with the opcode PROTO and the protocol number, followed by
// an opcode that starts an object (CPython, pickletools.py).
func pickled(head []byte) bool {
	if len(head) < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5 {
		return false
	}
	return bytes.IndexByte([]byte("}]()cX\x8a\x95\x8c"), head[2]) >= 0
}

// headed recognizes safetensors, which begin with a length below 100 MB and a brace.
func headed(head []byte) bool {
	return len(head) > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) <= 100e6
}

func text(head []byte) Kind {
	switch {
	case len(head) == 0:
		return Unknown
	case head[0] == '<':
		return HTML
	case head[0] == '{' || head[0] == '[':
		return JSON
	}
	return Unknown
}

// Is describes the kind, for a sentence beginning with "this is".
func (k Kind) Is() string {
	return [...]string{
		Unknown: "a file of no known kind", Empty: "an empty file", GGUF: "a GGUF file", Safetensors: "a safetensors file",
		Zip: "a PyTorch .bin/.pt file or another zip archive", Pickle: "a PyTorch .bin/.pt file (a pickle)",
		OldGGML: "a GGML file from before GGUF", HDF5: "an HDF5 file (Keras .h5)", Gzip: "a gzip archive",
		LFSPointer: "a Git LFS pointer, not the file itself", HTML: "a web page", JSON: "a JSON text", Zeros: "all zero bytes",
	}[k]
}

// Fix returns what to do with this kind of file when a model is wanted.
func (k Kind) Fix() string {
	switch k {
	case GGUF:
		return "read it as GGUF; a name that ends in .gguf helps"
	case Safetensors:
		return "read it as safetensors; a name that ends in .safetensors helps"
	case Zip, Pickle:
		return "never read, because unpickling runs code; use safetensors or GGUF"
	case OldGGML, HDF5:
		return "convert the model again, to GGUF or safetensors"
	case Gzip:
		return "unpack it first"
	case LFSPointer:
		return "run git lfs pull, or fetch the file from its hub"
	case HTML:
		return "the server sent a page instead of the file; check the address and whether it asks for a login"
	case JSON:
		return "give the model file or its folder"
	case Zeros, Empty:
		return "the download did not finish; fetch it again"
	}
	return "give a .gguf or .safetensors file"
}
