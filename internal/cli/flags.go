package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/spell"
	"github.com/memwall/memwall/unit"
)

// Groups of flags in help, in order.
const (
	groupWhat     = "what and where"
	groupHow      = "how"
	groupWorkload = "workload: who asks for what, and when"
	groupServers  = "servers, and what they are compared with"
	groupLlama    = "llama.cpp, llama-server and Ollama only"
	groupServing  = "vLLM, SGLang and TensorRT-LLM only, where each has it"
	groupIK       = "ik_llama.cpp only"
	groupTraining = "training"
	groupOutput   = "output"
)

var groups = []string{groupWhat, groupWorkload, groupServers, groupHow, groupLlama, groupIK, groupServing, groupTraining, groupOutput}

const groupKey = "group"

// grouped assigns existing flags to a group.
func grouped(flags *pflag.FlagSet, name string, list ...string) {
	for _, flag := range list {
		group(flags.Lookup(flag), name)
	}
}

func group(f *pflag.Flag, name string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[groupKey] = []string{name}
}

// groupOf returns the group of a request field, by its owner.
func groupOf(f *memwall.Field) string {
	switch {
	case !f.OfAsk("fit") && f.OfAsk("train"):
		return groupTraining
	case !f.OfAsk("fit") && f.OfAsk("sim"):
		return groupServers
	case f.OwnedBy("llama.cpp") && f.Engines != nil:
		return groupLlama
	case f.OwnedBy("ik_llama.cpp") && f.Engines != nil:
		return groupIK
	case f.Engines != nil:
		return groupServing
	}
	switch f.Name {
	case "hardware", "devices", "engine", "weights", "kv", "context", "sequences":
		return groupWhat
	}
	return groupHow
}

// requestFlags adds a flag for every field of the given questions that has one; each sets its field in the request. Existing flags
// are kept.
func requestFlags(flags *pflag.FlagSet, r *memwall.Request, asks ...string) {
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		if f.Flag == "" || !slices.ContainsFunc(asks, f.OfAsk) || flags.Lookup(f.Flag) != nil {
			continue
		}
		v := &fieldValue{field: f, at: f.Value(r)}
		if slices.Contains(asks, "plan") && f.ListedNumbers() {
			v.among = r
		}
		p := flags.VarPF(v, f.Flag, shorthand[f.Name], f.Doc)
		if f.Type == reflect.TypeFor[*bool]() || f.Type.Kind() == reflect.Bool {
			p.NoOptDefVal = "true"
		}
		group(p, groupOf(f))
	}
	addParts(flags, r, asks)
	flags.SetNormalizeFunc(fieldNames)
}

// shorthand holds the single letters familiar to users of llama.cpp.
var shorthand = map[string]string{"context": "c"}

// ownFlags are names that commands use themselves, even if they are aliases elsewhere.
var ownFlags = map[string]bool{"requests": true, "format": true, "formats": true, "draft": true, "bits": true, "server": true, "machine": true, "device": true}

// fieldNames also accepts a field's name for its flag: --context for --ctx, --max_num_seqs for --max-num-seqs. A flag's own name
// takes precedence.
func fieldNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if named()[name] {
		return pflag.NormalizedName(name)
	}
	word := strings.ReplaceAll(name, "-", "_")
	if f := memwall.FieldByName(word); f != nil && f.Flag != "" {
		return pflag.NormalizedName(f.Flag)
	}
	if f := memwall.FieldByName(plan.FieldCalled(name)); f != nil && f.Flag != "" && !ownFlags[name] {
		return pflag.NormalizedName(f.Flag)
	}
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// named are the flags of all fields.
var named = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for i := range memwall.Fields() {
		out[memwall.Fields()[i].Flag] = true
	}
	return out
})

// fieldValue is a flag that sets a request field.
type fieldValue struct {
	field *memwall.Field
	at    reflect.Value
	among *memwall.Request // receives a list of numbers; nil if lists are not accepted
}

// Type returns the kind of value for help.
func (v *fieldValue) Type() string { return v.field.Type.String() }

func (v *fieldValue) String() string { return "" }

// Set parses a value in the field's unit.
func (v *fieldValue) Set(s string) error {
	if v.among != nil && strings.Contains(s, ",") {
		return v.among.SetAmong(v.field.Name, s)
	}
	x, err := v.parse(s)
	if err == nil && v.counts() && x.Int() == 0 {
		err = fmt.Errorf("%q is none, and leaving the flag out is the default", s)
	}
	if err != nil {
		return &memwall.Error{Code: memwall.BadField, Field: v.field.Name, Value: s, Message: fmt.Sprintf("--%s: %s", v.field.Flag, err), Hint: v.hint(s)}
	}
	switch {
	case v.at.Kind() == reflect.Map:
		if v.at.IsNil() {
			v.at.Set(reflect.MakeMap(v.at.Type()))
		}
		for _, k := range x.MapKeys() {
			v.at.SetMapIndex(k, x.MapIndex(k))
		}
	case v.at.Kind() == reflect.Pointer:
		p := reflect.New(v.at.Type().Elem())
		p.Elem().Set(x.Convert(v.at.Type().Elem()))
		v.at.Set(p)
	case v.at.Kind() == reflect.Slice:
		v.at.Set(reflect.AppendSlice(v.at, x.Convert(v.at.Type())))
	default:
		v.at.Set(x.Convert(v.at.Type()))
	}
	return nil
}

// counts reports whether the field is a count whose 0 means absent.
func (v *fieldValue) counts() bool {
	return memwall.NeverNone(v.field.Name) || slices.Equal(v.field.Asks, []string{"train"}) && v.field.Type.Kind() == reflect.Int64
}

// hint suggests the flag that accepts the word or similar words, or else describes the flag.
func (v *fieldValue) hint(s string) string {
	if f := v.field.Elsewhere(s); f != nil && f.Flag != "" {
		return "--" + f.Flag + " " + s
	}
	if near := spell.Nearest(s, v.field.Enum); len(near) > 0 {
		return "did you mean: " + strings.Join(near, ", ")
	}
	return v.field.Doc
}

func (v *fieldValue) parse(s string) (reflect.Value, error) {
	t := v.field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var x any
	var err error
	switch {
	case t == reflect.TypeFor[plan.Size]():
		x, err = unit.ParseBytes(s)
	case t.Kind() == reflect.Map:
		x, err = parseOverride(s)
	case t.Kind() == reflect.String:
		x, err = s, v.known(s)
	case t.Kind() == reflect.Bool:
		x, err = parseBool(s)
	case t.Kind() == reflect.Float64:
		x, err = parseShare(s)
	case t.Kind() == reflect.Slice:
		x = strings.Split(s, ",")
	case v.field.Unit == "length":
		x, err = unit.ParseLength(s)
	case v.field.Unit == "layers" && s == "all":
		x = int64(-1)
	case v.field.Unit == "count":
		x, err = unit.ParseCount(s)
	default:
		x, err = parseWhole(s)
	}
	return reflect.ValueOf(x), err
}

// known rejects words that are not among the field's; a search for plans accepts a list of them.
func (v *fieldValue) known(s string) error {
	if !v.field.Listed() {
		return oneOf(s, v.field.Enum)
	}
	for _, w := range strings.Split(s, ",") {
		if v.field.Takes(w) {
			continue
		}
		if err := oneOf(w, v.field.Enum); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(s string, words []string) error {
	if len(words) == 0 || slices.Contains(words, s) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

func parseShare(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xXpPnN_") {
		return 0, fmt.Errorf("%q is not a number such as 0.9", s)
	}
	return x, nil
}

func parseWhole(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return n, nil
	}
	if n, err := unit.ParseLength(s); err == nil && strings.HasSuffix(strings.ToLower(s), "k") {
		return n, nil
	}
	return 0, fmt.Errorf("%q is not a whole number", s)
}

// parseOverride parses "kv_heads=1" or "kv_heads=1,layers=40".
func parseOverride(s string) (map[string]plan.Int, error) {
	out := map[string]plan.Int{}
	for _, part := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%q is not a name and a number such as kv_heads=1", part)
		}
		n, err := parseWhole(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(name), err)
		}
		out[strings.TrimSpace(name)] = plan.Int(n)
	}
	return out, nil
}

// overlay copies the fields whose flags were given onto another request.
func overlay(flags *pflag.FlagSet, from, onto *memwall.Request) {
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		if p := flags.Lookup(flagFor(f)); flagFor(f) != "" && p != nil && p.Changed {
			f.Value(onto).Set(f.Value(from))
		}
	}
}

// operand returns what help shows after a flag.
func operand(f *pflag.Flag) string {
	if w, ok := f.Value.(workValue); ok {
		return w.Operand
	}
	if _, ok := f.Value.(*partsValue); ok {
		return "NAME=VALUE,…"
	}
	v, ok := f.Value.(*fieldValue)
	if !ok {
		return plainOperand(f)
	}
	t := v.field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case len(v.field.Enum) > 0:
		return amongWords(v.field)
	case t == reflect.TypeFor[plan.Size]():
		return "SIZE"
	case t.Kind() == reflect.Map:
		return "NAME=N"
	case t.Kind() == reflect.Bool:
		return ""
	case t.Kind() == reflect.Float64:
		return "SHARE"
	case t.Kind() == reflect.String:
		return words[v.field.Name]
	case t.Kind() == reflect.Slice:
		return "NAMES"
	case v.field.Unit == "length", v.field.Unit == "count":
		return "TOKENS"
	}
	return "N"
}

// mostWords is the most letters of alternatives shown next to a flag; longer lists go into its text.
const mostWords = 22

// amongWords returns the words that a flag accepts, or their kind if there are many.
func amongWords(f *memwall.Field) string {
	if all := strings.Join(f.Enum, "|"); len(all) <= mostWords {
		return all
	}
	return strings.ToUpper(f.Flag[strings.LastIndex(f.Flag, "-")+1:])
}

// words are the values of particular text flags.
var words = map[string]string{
	"hardware": "HARDWARE", "engine": "ENGINE[@VERSION]", "weights": "FORMAT", "kv": "FORMAT", "kv_v": "FORMAT", "draft_model": "MODEL", "mmproj": "FILE",
	"fit_target": "MIB", "draft_kv": "FORMAT", "draft_kv_v": "FORMAT", "tensor_split": "SHARES", "acceptance_at": "SHARES", "expert_load": "LOAD", "override_tensor": "PATTERN=PLACE", "smart_expert_reduction": "N,SHARE",
}

var plainWords = map[string]string{"also": "PLAN", "from": "COMMAND", "svg": "FILE", "roofline": "FILE", "pipeline": "FILE", "by": "life", "explain": "[=ITEM]", "check": "[=strict]", "for": "MODEL", "hub": "ORG/NAME", "csv": "FILE", "series": "FILE", "trace-out": "FILE", "write-trace": "FILE",
	"formats": "NAMES", "imatrix": "FILE", "activations": "FILE", "write": "FILE", "fits": "HARDWARE", "ctx": "TOKENS", "budget": "SIZE", "floor": "ROLE=FORMAT", "family": "gguf|hub", "per": "role|layer|tensor"}

func plainOperand(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	return plainWords[f.Name]
}

// completeWith registers completions of flags from lists.
func completeWith(c *cobra.Command, lists map[string]func() []string) {
	for name, list := range lists {
		offer(c, name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func offer(c *cobra.Command, flag string, words cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // the command has no such flag, or it is registered twice
	}
}

// complete registers completions of names.
func complete(c *cobra.Command) {
	completeWith(c, map[string]func() []string{"on": hardwareNames, "weights": recipeNames, "engine": memwall.Engines})
	for i := range memwall.Fields() {
		if f := &memwall.Fields()[i]; f.Flag != "" && len(f.Enum) > 0 && c.Flags().Lookup(f.Flag) != nil {
			offer(c, f.Flag, cobra.FixedCompletions(f.Enum, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}
