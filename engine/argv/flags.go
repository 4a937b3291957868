package argv

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/safe"
)

// Flag is a row of an engine's table of flags. Names are separated by blanks and stand as on the command
// line: "--tensor-parallel-size -tp". Env is the variable that sets it, where the program reads one.
type Flag[T any] struct {
	Names string
	Kind  Kind
	Env   string
	// Set reads the value into T; of a Switch it is "", or what stood behind it. Nil: the flag says nothing about memory.
	Set func(t *T, value string) error
	// Unread: the flag changes memory in a way that no field of a plan holds. It is listed.
	Unread bool
}

// Kind is the kind of value that follows a flag.
type Kind uint8

const (
	Value  Kind = iota // one value
	Switch             // none; --flag=false switches it off
	Maybe              // a value, or none when another flag follows
	List               // values up to the next flag
)

// Syntax is how a program reads its arguments.
type Syntax struct {
	// Dashes: underscores and dashes within a flag are the same (argparse of vLLM, click of TensorRT-LLM, llama.cpp).
	Dashes bool
	// Prefixes: a flag may be cut short while it stays unique (argparse).
	Prefixes bool
	// Positional is called with bare words; false means that they are not understood.
	Positional func(word string) bool
}

// Read reads the arguments of a command into t. What has no bearing on memory comes back as beside, what
// is not understood as unknown; both as they stand in the command line, keys and tokens redacted.
func Read[T any](c *Command, s Syntax, flags []Flag[T], t *T) (beside, unknown []string, err error) {
	r := reader[T]{syntax: s, flags: flags, t: t}
	if err := r.environment(c); err != nil {
		return nil, nil, err
	}
	for args := c.Args; len(args) > 0; {
		if args, err = r.next(args); err != nil {
			return nil, nil, err
		}
	}
	return r.beside, r.unknown, nil
}

type reader[T any] struct {
	syntax          Syntax
	flags           []Flag[T]
	t               *T
	beside, unknown []string
}

func (r *reader[T]) environment(c *Command) error {
	for i := range r.flags {
		f := &r.flags[i]
		if f.Env == "" || f.Set == nil {
			continue
		}
		v, ok := c.Getenv(f.Env)
		if !ok || v == "" {
			continue
		}
		if Open(v) {
			r.unknown = append(r.unknown, f.Env+"="+Quote(Blotted(v)))
			continue
		}
		if err := Named(f.Set(r.t, v), f.Env, v); err != nil {
			return err
		}
	}
	return nil
}

// next reads one argument with its values and gives what follows.
func (r *reader[T]) next(args []string) ([]string, error) {
	arg := args[0]
	if !isFlag(arg) {
		if Elided(arg) {
			return args[1:], nil
		}
		if Open(arg) || r.syntax.Positional == nil || !r.syntax.Positional(arg) {
			r.unknown = append(r.unknown, Quote(Blotted(arg)))
		}
		return args[1:], nil
	}
	flag, value, attached := strings.Cut(arg, "=")
	f := r.find(flag)
	if m := joinedNumber.FindStringSubmatch(arg); f == nil && m != nil {
		if f = r.find(m[1]); f != nil {
			flag, value, attached = m[1], m[2], true
		}
	}
	if f == nil {
		return r.unknownFlag(args, attached), nil
	}
	values, rest := r.values(f, value, attached, args[1:])
	if f.Kind == Value && len(values) == 0 {
		if f.Set != nil {
			return nil, wrong(flag, "", "has no value", flag+" "+sample(f.Names))
		}
		values = nil // what has no bearing on memory may lack it
	}
	return rest, r.take(f, flag, values, written(arg, values, attached))
}

// joinedNumber is a short flag that lost the blank before its number: -tp1, -ngl99.
var joinedNumber = regexp.MustCompile(`^(-[a-z]{1,4})(\d+)$`)

// take sets what a flag says; text is all of it as it stands.
func (r *reader[T]) take(f *Flag[T], flag string, values []string, text string) error {
	if f.Set != nil && len(values) == 1 {
		if repo := untagged(values[0]); repo != values[0] {
			values, r.unknown = []string{repo}, append(r.unknown, text)
		}
	}
	switch {
	case f.Unread, f.Set != nil && slices.ContainsFunc(values, Open): // whose value nobody knows
		r.unknown = append(r.unknown, text)
	case f.Set == nil:
		r.beside = append(r.beside, text)
	default:
		err := r.set(f, flag, values)
		if err != nil && slices.ContainsFunc(values, holey) {
			r.unknown, err = append(r.unknown, text), nil
		}
		return err
	}
	return nil
}

// untagged is a repository whose tag alone the text leaves open: org/name of org/name:$QUANT.
func untagged(value string) string {
	at := strings.LastIndexByte(value, ':')
	if at > 0 && strings.Contains(value[:at], "/") && !strings.Contains(value[:at], ":") && !Open(value[:at]) && Open(value[at+1:]) {
		return value[:at]
	}
	return value
}

// hole is a place in a value that the text leaves open: $N, ${N}, $(( … )), <name>.
var hole = regexp.MustCompile(`\$[\w({]|<[A-Za-z][^<>]*>`)

func holey(value string) bool { return hole.MatchString(value) }

func (r *reader[T]) set(f *Flag[T], flag string, values []string) error {
	v := strings.Join(values, " ")
	return Named(f.Set(r.t, v), flag, v)
}

// Named adds the flag, and its value as it may be shown, to a setter's error.
func Named(err error, flag, value string) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Argument == "" {
		e.Argument = flag
		if e.Value == "" {
			e.Value = value
		}
		e.Value = blot(flag, e.Value)
	}
	return err
}

func (r *reader[T]) values(f *Flag[T], value string, attached bool, rest []string) ([]string, []string) {
	if attached {
		return []string{value}, rest
	}
	n := 0
	switch f.Kind {
	case Value:
		n = min(1, len(rest))
		if n == 1 && isFlag(rest[0]) && r.find(rest[0]) != nil {
			n = 0
		}
		if words := spaced(rest); n == 1 && words > 1 {
			return []string{strings.Join(rest[:words], " ")}, rest[words:]
		}
	case Maybe:
		if len(rest) > 0 && !isFlag(rest[0]) && isWord(rest[0]) {
			n = 1
		}
	case Switch:
		if len(rest) > 0 && isBool(rest[0]) {
			n = 1 // --enable-chunked-prefill False
		}
	case List:
		for n < len(rest) && !isFlag(rest[n]) {
			n++
		}
	}
	return rest[:n], rest[n:]
}

// spaced counts the words of a path to a file of weights whose blanks nobody quoted, 1 where none begins: a shell would not
// take it, and people paste it from a window's title or a launcher. It begins with a folder and ends in .gguf.
func spaced(rest []string) int {
	if len(rest) == 0 {
		return 0
	}
	first := rest[0]
	at := strings.LastIndexAny(first, `/\`)
	if at < 0 || strings.Contains(first[at:], ".") || strings.Contains(first, "://") {
		return 1
	}
	for i := 1; i < min(len(rest), mostBlanks) && !isFlag(rest[i]); i++ {
		if strings.HasSuffix(strings.ToLower(rest[i]), ".gguf") {
			return i + 1
		}
	}
	return 1
}

// mostBlanks bounds the words of a path.
const mostBlanks = 12

// unknownFlag takes the word behind it for its value, unless that is a flag.
func (r *reader[T]) unknownFlag(args []string, attached bool) []string {
	n := 1
	if !attached && len(args) > 1 && !isFlag(args[1]) {
		n = 2
	}
	r.unknown = append(r.unknown, written(args[0], args[1:n], attached))
	return args[n:]
}

func (r *reader[T]) find(flag string) *Flag[T] {
	want := r.fold(flag)
	for i := range r.flags {
		for _, n := range strings.Fields(r.flags[i].Names) {
			if r.fold(n) == want {
				return &r.flags[i]
			}
		}
	}
	if r.syntax.Prefixes && strings.HasPrefix(want, "--") && len(want) > 3 {
		return r.prefix(want)
	}
	return nil
}

func (r *reader[T]) prefix(want string) (found *Flag[T]) {
	for i := range r.flags {
		for _, n := range strings.Fields(r.flags[i].Names) {
			if !strings.HasPrefix(r.fold(n), want) {
				continue
			}
			if found != nil && found != &r.flags[i] {
				return nil
			}
			found = &r.flags[i]
		}
	}
	return found
}

func (r *reader[T]) fold(flag string) string {
	if !r.syntax.Dashes || !strings.HasPrefix(flag, "--") {
		return flag
	}
	return "--" + strings.ReplaceAll(flag[2:], "_", "-")
}

// isFlag tells a flag from a negative number and from a lone dash.
func isFlag(s string) bool {
	return len(s) > 1 && s[0] == '-' && !isDigit(s[1]) && s[1] != '.'
}

func isBool(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false":
		return true
	}
	return false
}

// isWord: the optional values of flags are numbers and short words, not paths or names of models.
func isWord(s string) bool { return !strings.ContainsAny(s, "/\\:.") && len(s) < 32 }

func sample(names string) string {
	if strings.Contains(names, "size") || strings.Contains(names, "max") || strings.Contains(names, "num") {
		return "8"
	}
	return "VALUE"
}

// written is an argument as it stood in the command line, with what is secret redacted.
func written(arg string, values []string, attached bool) string {
	flag, value, _ := strings.Cut(arg, "=")
	if attached {
		return Quote(flag + "=" + blot(flag, value))
	}
	out := Quote(flag)
	for _, v := range values {
		out += " " + Quote(blot(flag, v))
	}
	return out
}

// Quote writes a word so that a shell reads it back.
func Quote(s string) string { return safe.Word(s) }

// Names returns the flags of a table, as written on the command line.
func Names[T any](flags []Flag[T]) (out []string) {
	for i := range flags {
		out = append(out, strings.Fields(flags[i].Names)...)
	}
	return out
}
