package catalog

// Shaped is the id of the entry whose decoder has an architecture, by its GGUF name, and as many parameters as llama.cpp prints of it:
// billions with two decimals. Entries of one shape are one for this, and the first of them that is nothing more stands for all; "" where
// no entry has that shape.
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
