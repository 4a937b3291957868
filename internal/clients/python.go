package clients

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// object is what all objects of an answer are in Python.
//
//go:embed object.py
var object string

// Python are the types as a module: a dataclass for each object, and Fields, what the functions of the package take by name.
func (t Types) Python() string {
	l := &Language{List: "List[%s]", Dict: "Dict[str, %s]", Any: "object", Named: Upper, Either: pythonUnion,
		Words: map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool"}}
	var b strings.Builder
	b.WriteString(object)
	for _, name := range t.names() {
		t[name].dataclass(&b, l, Upper(name))
	}
	if request := t["Request"]; request != nil {
		request.pythonFields(&b, l)
	}
	return b.String()
}

// pythonUnion is one of several types. Words that are quoted are those of an enumeration.
func pythonUnion(all []string) string {
	if strings.HasPrefix(all[0], `"`) {
		return "Literal[" + strings.Join(all, ", ") + "]"
	}
	return "Union[" + strings.Join(all, ", ") + "]"
}

// dataclass writes an object: its members, and which of them are objects themselves.
func (s *Shape) dataclass(b *strings.Builder, l *Language, name string) {
	fmt.Fprintf(b, "\n\n@dataclasses.dataclass(repr=False)\nclass %s(Object):\n", name)
	var of []string
	for _, field := range s.fields() {
		kind := l.Of(s.Properties[field])
		if s.rank(field) == 1 {
			kind = "Optional[" + kind + "] = None"
		}
		fmt.Fprintf(b, "    %s: %s\n", pythonName(field), kind)
		if object, byName := s.Properties[field].object(); object != "" {
			of = append(of, fmt.Sprintf("%q: (%q, %s)", field, Upper(object), map[bool]string{true: "True", false: "False"}[byName]))
		}
	}
	fmt.Fprintf(b, "    _objects: ClassVar[Dict[str, Tuple[str, bool]]] = {%s}\n", strings.Join(of, ", "))
}

// pythonFields writes what a question may be given by name.
func (s *Shape) pythonFields(b *strings.Builder, l *Language) {
	b.WriteString("\n\nFields = TypedDict(\"Fields\", {\n    \"on\": str,  # short for hardware\n")
	for _, field := range s.fields() {
		if field == "ask" || field == "model" {
			continue
		}
		kind := strings.NewReplacer("\n", " ").Replace(s.Properties[field].Description)
		if kind != "" {
			kind = "  # " + kind
		}
		fmt.Fprintf(b, "    %q: %q,%s\n", field, l.Of(s.Properties[field]), kind)
	}
	b.WriteString("}, total=False)\n")
}

// pythonWords are those of the language, which no member can be named.
var pythonWords = strings.Fields("False None True and as assert async await break class continue def del elif else except " +
	"finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")

// pythonName is a member's name as an attribute.
func pythonName(field string) string {
	if slices.Contains(pythonWords, field) {
		return field + "_"
	}
	return field
}
