package catalog

// Shaped returns the id of the entry whose decoder has the architecture, by GGUF name, and the parameter count as printed by
// llama.cpp: billions with two decimals. Entries of the same shape are represented by the first that is nothing more; "" if no
// entry has the shape.
func Shaped(family string, params int64) string {
	const within, digit = 0.001, 0.005e9
	near := func(n int64) bool {
		off := max(n, params) - min(n, params)
		return float64(off) <= max(digit, within*float64(params))
	}
	first := ""
	for _, h := range headers() {
		if h.like {
			continue
		}
		n, err := Built(h.id())
		switch {
		case err != nil || n.Model.Family != family || !near(n.Model.Decoder().Params()):
		case near(n.Model.Params()):
			return h.id()
		case first == "":
			first = h.id()
		}
	}
	return first
}
