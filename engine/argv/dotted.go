package argv

import (
	"encoding/json"
	"maps"
	"strings"
)

// Dotted merges dotted flags, --name.key value, into one flag with a JSON object, like vLLM's parser (vllm/utils/argparse_utils.py,
// FlexibleArgumentParser). Deeper keys, and an object given for the same flag, are kept.
func Dotted(args []string) []string {
	var out []string
	objects := map[string]map[string]any{}
	var names []string
	for i := 0; i < len(args); i++ {
		flag, value, attached := strings.Cut(args[i], "=")
		name, path, dotted := strings.Cut(flag, ".")
		if !dotted || !isFlag(flag) || path == "" || strings.ContainsAny(name, "/: ") {
			out = append(out, args[i])
			continue
		}
		if !attached && i+1 < len(args) && !isFlag(args[i+1]) {
			i++
			value = args[i]
		}
		if objects[name] == nil {
			objects[name], names = map[string]any{}, append(names, name)
		}
		put(objects[name], strings.Split(strings.TrimSuffix(path, "+"), "."), value)
	}
	for _, name := range names {
		out = joinObject(out, name, objects[name])
	}
	return out
}

// put sets a key of an object, deep within it.
func put(object map[string]any, path []string, value string) {
	for len(path) > 1 {
		inner, ok := object[path[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[path[0]] = inner
		}
		object, path = inner, path[1:]
	}
	var read any
	if json.Unmarshal([]byte(value), &read) != nil {
		read = value
		if value == "" {
			read = true
		}
	}
	object[path[0]] = read
}

// joinObject writes an object behind its flag, with the keys of one that stands there already.
func joinObject(args []string, flag string, object map[string]any) []string {
	for i, a := range args {
		name, value, attached := strings.Cut(a, "=")
		if name != flag {
			continue
		}
		at := i
		if !attached && i+1 < len(args) {
			at, value = i+1, args[i+1]
		}
		given := map[string]any{}
		if json.Unmarshal([]byte(value), &given) != nil {
			continue
		}
		maps.Copy(given, object)
		args[at] = text(given)
		if attached {
			args[at] = flag + "=" + args[at]
		}
		return args
	}
	return append(args, flag, text(object))
}

func text(object map[string]any) string {
	data, err := json.Marshal(object)
	if err != nil {
		return "{}"
	}
	return string(data)
}
