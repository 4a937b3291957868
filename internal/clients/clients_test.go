package clients

import (
	"strings"
	"testing"
)

// TestRead: what is not a schema with objects in it is refused.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{"[": "not JSON", "{}": "without $defs", `{"$defs":{}}`: "without $defs"} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTypes: the words of a schema in both languages: what is always there, lists, objects by name, words of Python, enumerations.
func TestTypes(t *testing.T) {
	types, err := Read([]byte(`{"$defs":{"A":{"properties":{"pass":{"type":"integer"},"of":{"type":"array","items":{"$ref":"#/$defs/B"}},
		"by":{"type":"object","additionalProperties":{"$ref":"#/$defs/B"}},"x":{"anyOf":[{"type":"number"},{"type":"null"}]}},"required":["x"]},
		"B":{"properties":{"verdict":{"type":"string","enum":["fits","tight"]},"any":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"one */ or many"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, wants := range map[string][]string{
		types.Python(): {"class A(Object):\n    x: float\n    by: Optional[Dict[str, B]] = None\n    of: Optional[List[B]] = None\n    pass_: Optional[int] = None\n",
			`{"by": ("B", True), "of": ("B", False)}`, `verdict: Optional[Literal["fits", "tight"]] = None`, "any: Optional[Union[str, List[str]]] = None"},
		types.TypeScript(): {"export interface A {\n  \"x\": number;\n  \"by\"?: Record<string, B>;\n  \"of\"?: (B)[];\n  \"pass\"?: number;\n}",
			`"verdict"?: "fits" | "tight";`, "  /** one * / or many */\n  \"any\"?: string | (string)[];"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q:\n%s", want, strings.TrimPrefix(text, object))
			}
		}
	}
}
