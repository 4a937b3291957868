package api

import "github.com/memwall/memwall/engine"

// Launch is a plan as a file that runs it, and what the file does not say.
type Launch struct {
	// Text is the file: a command, a compose file, Kubernetes manifests, a Modelfile or a program in Python.
	Text    string
	Verdict Verdict
	// Unsaid are fields that the request gives and that the file has no word for.
	Unsaid []Unsaid
}

// Unsaid is a field of a plan that an engine's command line has no word for, and why.
type Unsaid struct {
	Field   string
	Engines []string // nil for all
	Why     string
	// Until is the version from which on there is a word; zero when no version has one.
	Until engine.Version
}
