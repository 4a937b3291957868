package cli

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/snapshot"
	"github.com/memwall/memwall/source/regular"
)

// snapshotted is the JSON answer of snapshot.
type snapshotted struct {
	*snapshot.Report
	Beside *memwall.Answer `json:"beside,omitempty"`
}

// snapshotCommand returns the command that reports on a PyTorch memory snapshot.
func snapshotCommand(a *app) *cobra.Command {
	f := &trainFlags{}
	c := &cobra.Command{
		Use: "snapshot FILE [MODEL]", Short: "explain a PyTorch memory snapshot: the peak, what held it, what grows, what is unused",
		Long: "FILE is written by torch.cuda.memory._dump_snapshot; - is standard input. It is read as plain data: nothing in it is run. " +
			"With MODEL, or a configuration in --from, the memory held is compared with the plan's prediction.",
		Example: "memwall snapshot snapshot.pickle\nmemwall snapshot snapshot.pickle --svg memory.svg\nmemwall snapshot snapshot.pickle llama-3.1-8b --on 8xh100 --sharding fsdp --seq 4k\nmemwall snapshot snapshot.pickle --from train.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("argument", "", "FILE is missing", "memwall snapshot snapshot.pickle, as torch.cuda.memory._dump_snapshot wrote it")
			}
			return runSnapshot(a, c, f, args[0], args[1:])
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "train", "fit")
	flags.StringArrayVar(&f.files, "from", nil, "a configuration, script or command of the run's framework, once for each file")
	group(flags.Lookup("from"), groupWhat)
	flags.BoolVar(&f.notes, "notes", false, "all stacks, all devices, all notes")
	flags.StringVar(&f.svg, "svg", "", "also write what was held over time as a picture")
	grouped(flags, groupOutput, "notes", "svg")
	complete(c)
	return c
}

// runSnapshot reads the file, and evaluates the plan if one is given.
func runSnapshot(a *app, c *cobra.Command, f *trainFlags, name string, model []string) error {
	a.asking = "snapshot"
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostForSnapshot))
	s, err := readSnapshot(a, name)
	if err != nil {
		return err
	}
	r, beside, err := besideSnapshot(a, c, f, s, model)
	if err != nil {
		return err
	}
	if err := a.picture("svg", f.svg, func() ([]byte, error) { return svg.Snapshot(r), nil }); err != nil {
		return err
	}
	return a.show(snapshotted{r, beside}, func(st term.Style) string { return cards.Snapshot(r, beside, f.notes, st) })
}

// mostForSnapshot is the heap size, in bytes, at which garbage collection becomes more frequent: what is kept of a gigabyte is well
// below.
const mostForSnapshot = 400 << 20

func readSnapshot(a *app, name string) (*snapshot.Snapshot, error) {
	var s *snapshot.Snapshot
	file, err := a.open(name)
	if err == nil {
		defer file.Close()
		s, err = snapshot.Read(file)
	}
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		return s, nil
	case !ok:
		e = &fault.Error{Problem: fmt.Sprintf("%s cannot be read: %v", name, regular.Cause(err)), Fix: "the file that torch.cuda.memory._dump_snapshot wrote"}
	}
	return nil, &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: e.Problem, Hint: e.Fix}
}

// besideSnapshot reports on a snapshot and, if a model is given, compares the plan's figures with those of the fullest device.
func besideSnapshot(a *app, c *cobra.Command, f *trainFlags, s *snapshot.Snapshot, model []string) (*snapshot.Report, *memwall.Answer, error) {
	if len(model) == 0 && len(f.files) == 0 {
		return s.Report(), nil, nil
	}
	q, notes, err := a.requestFor("train", c, &f.fitFlags, model)
	if err != nil {
		return nil, nil, err
	}
	r, answer, err := a.asker.CompareSnapshot(s, *q)
	if err != nil {
		return nil, nil, err
	}
	answer.Notes = append(notes, answer.Notes...)
	return r, answer, nil
}
