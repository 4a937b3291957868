package dropin

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/figure"
)

// Of reports whether a family applies to a class, or to a model type if a config names no class.
func (f *Family) Of(class, modelType string) bool {
	return slices.Contains(f.Classes, class) || class == "" && slices.Contains(f.Types, modelType)
}

// path matches a path into the config alone, whose value is taken unchanged, even a list or word.
var path = regexp.MustCompile(`^config(\.[\w-]+)+$`)

// Apply returns a config.json converted to the class that the family resembles: its fields are set, all others
// unchanged.
func (f *Family) Apply(config []byte) ([]byte, error) {
	var c map[string]any
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, err
	}
	var names figure.Names = func(name string) (any, error) {
		if name != "config" {
			return nil, fmt.Errorf("%.60q is not known here: fields of the config are config.NAME", name)
		}
		return c, nil
	}
	set := map[string]any{}
	for _, x := range f.Fields {
		v, err := x.value(names)
		if err != nil {
			return nil, fault.In(f.File, x.line, fmt.Sprintf("%s: %v", x.Name, err),
				"a field that the config has, a number, or an expression of them")
		}
		set[x.Name] = v
	}
	for name, v := range set {
		c[name] = v
	}
	c["architectures"] = []string{f.Like}
	delete(c, "model_type")
	return json.Marshal(c)
}

// typed replaces keyboard operators by those of formulas.
var typed = strings.NewReplacer("*", "×", " - ", " − ")

// value returns a field's value: the config's own for a path, a literal number or boolean unchanged, otherwise the
// result of an expression. Counts are integers.
func (x *Field) value(names figure.Names) (any, error) {
	switch {
	case path.MatchString(x.Value):
		v, err := names.Look(x.Value)
		if err == nil && v == nil {
			err = fmt.Errorf("the config has no %s", x.Value)
		}
		return v, err
	case x.Value == "true" || x.Value == "false":
		return x.Value == "true", nil
	}
	if n, err := strconv.ParseFloat(x.Value, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return n, nil
	}
	v, err := names.Eval(typed.Replace(x.Value))
	switch {
	case err != nil:
		return nil, err
	case v.Words != "":
		return v.Words, nil
	case math.IsNaN(v.Number) || math.IsInf(v.Number, 0):
		return nil, fmt.Errorf("%s is not a number", x.Value)
	}
	return v.Number, nil
}
