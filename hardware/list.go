package hardware

import "strings"

// List splits a text that names several machines at commas, each in the syntax of Parse. A text that parses as one
// machine stays whole, since names may contain commas and be followed by keys. Otherwise a part without "=" starts a
// new machine, as does one that states a number of devices or, if a device is already named, another name:
// "8xh100,link=nvlink:900GB/s,a100" is two machines. Empty parts are dropped.
func List(text string) (out []string) {
	parts := fields(text)
	if _, _, err := Parse(text, 0); err == nil || len(parts) == 1 {
		return nonempty([]string{text})
	}
	named := false
	for _, part := range parts {
		k, _, isKey := strings.Cut(part, "=")
		_, k, counted := CountOf(k)
		names := strings.EqualFold(strings.TrimSpace(k), "name")
		if len(out) == 0 || !isKey || counted || names && named {
			out, named = append(out, part), !isKey || names
			continue
		}
		out[len(out)-1] += "," + part
		named = named || names
	}
	return nonempty(out)
}

// nonempty trims texts and drops empty ones.
func nonempty(texts []string) (out []string) {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
