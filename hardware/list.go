package hardware

import "strings"

// List parts a text that names several machines at commas, each as Parse reads it. What reads as one machine stays one,
// for names may hold commas and keys follow them. Else a part without "=" begins the next machine, and so does one
// that states a number of devices or, where a device is named already, a name: "8xh100,link=nvlink:900GB/s,a100" are
// two machines. Parts that are empty are none.
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

// nonempty trims texts and leaves out those without anything in them.
func nonempty(texts []string) (out []string) {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
