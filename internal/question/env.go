package question

import "github.com/memwall/memwall/api"

// Env answers requests, resolving model references through its Models source.
type Env struct {
	Models api.ModelSource
	// Calibration adjusts predicted speeds to the user's own machines; nil means none.
	Calibration api.Calibration
	// Data reads sample lengths; if nil, plans that name a file of them are rejected.
	Data api.LengthSource
	// Traces opens recorded workloads; if nil, plans that name one are rejected.
	Traces api.TraceSource
	// Watch receives progress and simulation events; nil means none.
	Watch *api.Watch
	// Parallel calls do for every integer in [0, n), in any order and possibly concurrently, and returns once all calls
	// have returned. Nil means sequentially. Answers do not depend on it.
	Parallel func(n int, do func(i int))
	Memo     *Memo
	// Crowd reports that the question is about a server with many users.
	Crowd bool
	// Silent leaves out notes on plans, which whoever asks does not read.
	Silent bool
}

// Each calls do for every integer in [0, n), using Parallel if set.
func (a *Env) Each(n int, do func(int)) {
	if a.Parallel != nil {
		a.Parallel(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// Source returns the model source; by default the catalog.
func (a *Env) Source() api.ModelSource {
	if a.Models == nil {
		return Catalog{}
	}
	return a.Models
}

// Report passes progress to the watcher, if any.
func (a *Env) Report(p api.Progress) {
	if a.HasWatcher() {
		a.Watch.Progress(p)
	}
}

// HasWatcher reports whether progress is watched.
func (a *Env) HasWatcher() bool { return a.Watch != nil && a.Watch.Progress != nil }
