package api

import "github.com/memwall/memwall/engine"

// Launch is a plan rendered as a file that runs it, with the fields that the file cannot express.
type Launch struct {
	// Text is the file: a command, a compose file, Kubernetes manifests, a Modelfile or a Python program.
	Text    string
	Verdict Verdict
	// Unsaid lists the request's fields that the file cannot express.
	Unsaid []Unsaid
}

// Unsaid is a field that an engine's command line cannot express, and why.
type Unsaid struct {
	Field   string
	Engines []string // nil for all
	Why     string
	// Until is the first version that can express the field; zero if none can.
	Until engine.Version
}
