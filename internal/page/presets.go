package page

// preset is a load of a known kind.
type preset struct {
	name   string
	sets   []string // pairs of a key and its value; "" takes one away
	source string
}

// presets returns medians of published traces, or means if a trace has no more. Lengths are measured; the number of users remains
// the user's.
func presets() []preset {
	const conversation, code, long = "medians of the Azure LLM inference trace 2023, conversation, 19,366 requests",
		"medians of the Azure LLM inference trace 2023, code, 8,819 requests",
		"medians of the Mooncake trace, conversation, 12,031 requests"
	const retrieval, agents = "medians of the RAGPulse trace (arXiv 2511.12979), answers from documents at a university, 7,106 requests",
		"means of the Mooncake trace, tool and agent, 23,608 requests; most of a prompt was in the one before it, which a prefix cache saves"
	return []preset{
		{"chat", []string{"prompt", "1020", "output", "129"}, conversation},
		{"RAG", []string{"prompt", "3140", "output", "234"}, retrieval},
		{"agents", []string{"prompt", "8596", "output", "182"}, agents},
		{"code completion", []string{"prompt", "1469", "output", "13"}, code},
		{"chat with long contexts", []string{"prompt", "6909", "output", "350"}, long},
		{"batch", []string{"prompt", "1020", "output", "129", "rate", "", "users", "64"}, "64 in flight at any time, lengths of chat"},
	}
}

// loads draws presets for the question's load, and the source of the current one.
func (v *view) loads() part {
	if !v.question.loads {
		return all(nil)
	}
	out := all{}
	for _, p := range presets() {
		s := v.state.with(p.sets...)
		taken := s.href() == v.state.with().href()
		out = append(out, el("li", el("a", attr{"href", s.href()}, set("data-live"), attr{"title", p.source},
			when(taken, attr{"aria-current", "true"}), txt(p.name))), when(taken, el("li", class("m"), txt(p.source))))
	}
	return el("ul", class("chips"), attr{"aria-label", "Kinds of load"}, out)
}
