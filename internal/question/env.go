package question

import "github.com/memwall/memwall/api"

// Env answers requests with the models of a source.
type Env struct {
	Models api.ModelSource
	// Calibration tunes speeds to machines of the user's own; nil is none.
	Calibration api.Calibration
	// Data reads the lengths of samples; nil refuses plans that name a file of them.
	Data api.LengthSource
	// Traces reads recorded workloads; nil refuses plans that name one.
	Traces api.TraceSource
	// Watch follows simulations; nil does not.
	Watch *api.Watch
	// Parallel does something for each of n numbers from 0 and returns when all is done, in any order and at the same
	// time as it likes; nil is one after the other. No answer depends on it.
	Parallel func(n int, do func(i int))
	Memo     *Memo
	// Crowd: what is asked is of a server of many users.
	Crowd bool
}

// Each does something for the numbers from 0 to n - 1.
func (a *Env) Each(n int, do func(int)) {
	if a.Parallel != nil {
		a.Parallel(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// Source is the source of models; the catalog where none was given.
func (a *Env) Source() api.ModelSource {
	if a.Models == nil {
		return Catalog{}
	}
	return a.Models
}

// Report who watches how far a question is.
func (a *Env) Report(p api.Progress) {
	if a.HasWatcher() {
		a.Watch.Progress(p)
	}
}

// HasWatcher: somebody wants to know how far questions are.
func (a *Env) HasWatcher() bool { return a.Watch != nil && a.Watch.Progress != nil }
