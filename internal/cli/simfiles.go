package cli

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
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

// simOut are such files while they are written. A file that was begun takes its name only when it is whole.
type simOut struct {
	names    *simFiles
	begun    []*outFile
	requests *simfile.Requests
	steps    *simfile.Steps
	asked    *simfile.Workload
	series   *outFile
	svg      *outFile
}

// outFile is a file that is being written.
type outFile struct {
	File
	*bufio.Writer
	flag, name string
}

// open the files that are asked for, before anything is simulated.
func (f *simFiles) open(a *app) (*simOut, error) {
	o := &simOut{names: f}
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
		file, err := a.CreateFile(x.name)
		if err != nil {
			o.abandon()
			return nil, unwritten(x.flag, x.name, err)
		}
		w := &outFile{file, bufio.NewWriterSize(file, 1<<16), x.flag, x.name}
		o.begun = append(o.begun, w)
		x.use(w)
	}
	return o, nil
}

func unwritten(flag, name string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: flag, Value: name, Message: fmt.Sprintf("--%s: %s cannot be written: %v", flag, name, plainError(err)), Hint: "a file in a folder that exists and can be written"}
}

// Write goes through the buffer.
func (w *outFile) Write(b []byte) (int, error) { return w.Writer.Write(b) }

// ReadFrom goes through the buffer.
func (w *outFile) ReadFrom(r io.Reader) (int64, error) { return w.Writer.ReadFrom(r) }

// request is what watches requests; nil where no file is of them.
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

// finish the files and give them their names.
func (o *simOut) finish(a *memwall.Answer) error {
	o.steps.End()
	o.asked.End()
	if o.series != nil {
		simfile.WriteSeries(o.series, a.Simulated)
	}
	if o.svg != nil {
		_, _ = o.svg.Write(render.SimSVG(a)) // Flush tells what went wrong
	}
	for len(o.begun) > 0 {
		w := o.begun[0]
		if err := w.Flush(); err != nil {
			return unwritten(w.flag, w.name, err)
		}
		o.begun = o.begun[1:]
		if err := w.Commit(); err != nil {
			return unwritten(w.flag, w.name, err)
		}
	}
	return nil
}

// abandon what was begun and is not whole.
func (o *simOut) abandon() {
	for _, w := range o.begun {
		w.Abandon()
	}
	o.begun = nil
}
