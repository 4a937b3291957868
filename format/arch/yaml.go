package arch

import (
	"errors"
	"fmt"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
	"github.com/memwall/memwall/unit"
)

// MaxBytes is the maximum size of a file, fifty times the description of any known network.
const MaxBytes = 64 << 10

// small are the limits of a description; a layer needs four levels.
var small = yaml.Limits{Bytes: MaxBytes, Depth: 12, Plain: true, Holds: "one network",
	Hint: "count: and repeat: say how many layers are alike"}

// decode parses a file within the limits: one document, without references.
func decode(text []byte) (*yaml.Node, error) {
	docs, err := yaml.Decode(string(text), small)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return nil, &fault.Error{Line: e.Line, Problem: subject(e.Line) + e.Problem, Fix: e.Fix}
	}
	if len(docs) != 1 {
		return nil, &fault.Error{Problem: fmt.Sprintf("the file holds %d documents, not one", len(docs)), Fix: "one network in a file"}
	}
	return docs[0], err
}

// subject returns the subject of an error without a line.
func subject(line int) string {
	if line > 0 {
		return ""
	}
	return "the description "
}

// kindOf describes a node.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Of != nil:
		return "a block of keys"
	case n.List != nil:
		return "a list of " + unit.Count(int64(len(n.List)))
	case n.Null():
		return "nothing"
	}
	return quote(n.Text)
}
