package cli

import (
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/simfile"
	"github.com/memwall/memwall/sim"
)

// simFiles are the files that a simulation writes beside its answer.
type simFiles struct{ csv, series, steps, svg, workload string }

func (f *simFiles) flags(flags *pflag.FlagSet) {
	for _, x := range []struct {
		at        *string
		name, doc string
	}{
		{&f.csv, "csv", "also write a row for each request: times, lengths, outcome"},
		{&f.series, "series", "also write queue, batch, KV cache and tokens over time, as CSV"},
		{&f.steps, "trace-out", "also write every step of every replica, as a trace that Perfetto and chrome://tracing open"},
		{&f.svg, "svg", "also write queue, batch, KV cache and times as a picture"},
		{&f.workload, "write-trace", "also write the requests as a recording that --trace reads"},
	} {
		flags.StringVar(x.at, x.name, "", x.doc)
		group(flags.Lookup(x.name), groupOutput)
	}
}

// simOut are such files being written.
type simOut struct {
	outFiles
	requests *simfile.Requests
	steps    *simfile.Steps
	asked    *simfile.Workload
	series   *outFile
	svg      *outFile
}

// open creates the requested files before anything is simulated.
func (f *simFiles) open(a *app) (*simOut, error) {
	o := &simOut{}
	for _, x := range []struct {
		flag, name string
		use        func(*outFile)
	}{
		{"csv", f.csv, func(w *outFile) { o.requests = simfile.NewRequests(w) }},
		{"trace-out", f.steps, func(w *outFile) { o.steps = simfile.NewSteps(w) }},
		{"write-trace", f.workload, func(w *outFile) { o.asked = simfile.NewWorkload(w) }},
		{"series", f.series, func(w *outFile) { o.series = w }},
		{"svg", f.svg, func(w *outFile) { o.svg = w }},
	} {
		if x.name == "" {
			continue
		}
		w, err := o.begin(a, x.flag, x.name)
		if err != nil {
			return nil, err
		}
		x.use(w)
	}
	return o, nil
}

// request returns the observer of requests; nil if no file needs them.
func (o *simOut) request() func(*sim.Done) {
	if o.requests == nil && o.asked == nil {
		return nil
	}
	return func(d *sim.Done) {
		o.requests.Add(d)
		o.asked.Add(d)
	}
}

func (o *simOut) step() func(*sim.Step) {
	if o.steps == nil {
		return nil
	}
	return o.steps.Add
}

// finish completes the files and renames them to their names.
func (o *simOut) finish(a *memwall.Answer) error {
	o.steps.End()
	o.asked.End()
	if o.series != nil {
		simfile.WriteSeries(o.series, a.Simulated)
	}
	if o.svg != nil {
		_, _ = o.svg.Write(svg.Sim(a)) // Flush reports the error
	}
	return o.commit()
}
