package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// inParts are request fields with several parts: the flag of the field's name takes them as NAME=VALUE,…; repeating it adds to
// them. Texts in a list are separated by +.
var inParts = map[string]string{
	"offload": "optimizer=host", "rollout": "engine=vllm,samples=8,output_tokens=1k", "adapters": "rank=16,targets=q_proj+v_proj", "disaggregated": "prefill=1,decode=2",
}

// elsewhere maps fields without a flag of their name to their form on the command line.
var elsewhere = map[string]string{
	"ask": "the command", "model": "MODEL", "for": "plan --train", "goal": "plan --ttft 2s", "workload": "sim --rate 4", "day": "plan --day FILE", "change": "diff A B", "also": "fit --also \"MODEL FLAGS\"",
	"measured_errors": "fit --quality FILE", "text": "compare FILE, diagnose FILE, fit --from COMMAND, train --from FILE", "among": "plan --tp 1,2,4", "all": "plan --all", "explain": "fit --explain", "engine_args": "fit --from COMMAND",
}

// flagFor returns the flag of a field; "" if it has none.
func flagFor(f *memwall.Field) string {
	if f.Flag == "" && inParts[f.Name] != "" {
		return f.Name
	}
	return f.Flag
}

// partsValue is a flag that sets a field in parts.
type partsValue struct {
	field *memwall.Field
	at    reflect.Value
}

// addParts adds the flags of a command's fields in parts.
func addParts(flags *pflag.FlagSet, r *memwall.Request, asks []string) {
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		if inParts[f.Name] == "" || !slices.ContainsFunc(asks, f.OfAsk) || flags.Lookup(f.Name) != nil {
			continue
		}
		v := &partsValue{f, f.Value(r)}
		group(flags.VarPF(v, f.Name, "", f.Doc+": "+strings.Join(v.names(), ", ")), groupOf(f))
	}
}

// Type returns the kind of value for help.
func (v *partsValue) Type() string { return "parts" }

func (v *partsValue) String() string { return "" }

// structType returns the struct type whose fields are the parts.
func (v *partsValue) structType() reflect.Type { return v.field.Type.Elem() }

func (v *partsValue) names() (out []string) {
	for i := range v.structType().NumField() {
		name, _, _ := strings.Cut(v.structType().Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// Set parses NAME=VALUE,….
func (v *partsValue) Set(s string) error {
	into := reflect.New(v.structType()).Elem()
	if v.at.Kind() == reflect.Pointer && !v.at.IsNil() {
		into.Set(v.at.Elem())
	}
	for part := range strings.SplitSeq(s, ",") {
		if err := v.part(into, part); err != nil {
			return &memwall.Error{Code: memwall.BadField, Field: v.field.Name, Value: s, Message: fmt.Sprintf("--%s: %s", v.field.Name, err), Hint: "--" + v.field.Name + " " + inParts[v.field.Name]}
		}
	}
	if v.at.Kind() == reflect.Slice {
		v.at.Set(reflect.Append(v.at, into))
		return nil
	}
	p := reflect.New(v.structType())
	p.Elem().Set(into)
	v.at.Set(p)
	return nil
}

// part sets one part.
func (v *partsValue) part(into reflect.Value, part string) error {
	name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
	i := slices.Index(v.names(), strings.ReplaceAll(name, "-", "_"))
	switch {
	case !ok:
		return fmt.Errorf("%q is not a name with a value", part)
	case i < 0:
		if near := spell.Nearest(name, v.names()); len(near) > 0 {
			return fmt.Errorf("%q is none of its parts; did you mean %s", name, strings.Join(near, ", "))
		}
		return fmt.Errorf("%q is none of its parts: %s", name, strings.Join(v.names(), ", "))
	}
	return setPart(into.Field(i), value, strings.FieldsFunc(v.structType().Field(i).Tag.Get("enum"), func(r rune) bool { return r == ',' }))
}

// setPart sets a value according to its kind.
func setPart(at reflect.Value, s string, among []string) error {
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	switch at.Kind() {
	case reflect.String:
		if err := oneOf(s, among); err != nil {
			return err
		}
		at.SetString(s)
	case reflect.Bool:
		b, err := parseBool(s)
		at.SetBool(b)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", s)
		}
		at.SetFloat(x)
	case reflect.Slice:
		at.Set(reflect.ValueOf(strings.Split(s, "+")))
	default:
		n, err := unit.ParseLength(s)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		at.SetInt(n)
	}
	return nil
}

// alsoPlans parses the requests beside the first, each a model with flags in quotes.
func alsoPlans(a *app, c *cobra.Command, texts []string, r *memwall.Request) error {
	for _, text := range texts {
		q, err := a.planOf(c, text)
		if err != nil {
			return err
		}
		if q.Model == "" {
			return usage("also", text, "--also names no model", `--also "qwen3-8b --ctx 8k"`)
		}
		q.Ask = "fit"
		r.Also = append(r.Also, *q)
	}
	return nil
}
