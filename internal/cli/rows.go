package cli

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/source/regular"
)

// rowsCommand returns the command that shows the user's own rows and adds to them.
func rowsCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "rows", Short: "your own measurements, which answers and calibrations use",
		Long: "Lists the rows in your local store: measured over predicted figures, by model and devices, with those in quarantine and the reason. " +
			"They are stored next to the calibration and never sent anywhere.",
		Example: "memwall rows\nmemwall rows add memwall-row-1f0c.json\nmemwall rows add bench.json --source own --licence CC0-1.0",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("argument", args[0], fmt.Sprintf("rows lists all that there are, but %q was given", args[0]), "memwall rows add FILE")
			}
			return a.listRows()
		},
	}
	c.AddCommand(rowsAdd(a))
	return c
}

func rowsAdd(a *app) *cobra.Command {
	s := &rows.Stated{}
	c := &cobra.Command{
		Use: "add FILE", Short: "check rows or a benchmark's result, and add them",
		Long: "FILE holds rows that memwall compare --share wrote, or what memwall calibrate reads: results of llama-bench (JSON, " +
			"JSONL, CSV, SQL, Markdown), vllm bench, SGLang's bench_serving (files or what they print), " +
			"guidellm, InferenceX, MLPerf (mlperf_log_summary.txt) and LocalScore. Results need --source and " +
			"--licence. All of a file's rows are added, or none.",
		Example: "memwall rows add memwall-row-1f0c.json\n" +
			"llama-bench -m model.gguf -o json > bench.json && memwall rows add bench.json --source own --licence CC0-1.0",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("file", fmt.Sprint(args), "rows add takes one FILE", "memwall rows add bench.json")
			}
			return a.addRows(s, args[0])
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.Source, "source", "", "where a benchmark's figures can be read: an address, or own")
	flags.StringVar(&s.Licence, "licence", "", "licence of the figures, as an SPDX identifier such as CC0-1.0")
	flags.StringVar(&s.Given.Model, "model", "", "the model, where the file's name for it is not known")
	flags.StringVar(&s.Given.Hardware, "on", "", "the devices, where the file does not name them")
	flags.StringVar(&s.Given.Weights, "weights", "", "how the weights are stored, where the file does not say")
	flags.StringVar(&s.Given.Engine, "engine", "", "the engine, where the file does not name it")
	grouped(flags, groupWhat, "source", "licence", "model", "on", "weights", "engine")
	return c
}

// storeCommand runs memwall-farm, which includes the databases (docs/decisions/0023-a-teams-rows.md).
func storeCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "store", Short: "a team's rows: history, drift over engine versions; of memwall-farm", DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return a.Farm(append([]string{"store"}, args...)...) }}
}

// rowsPath returns the path of the rows, beside the calibration; "" if no settings folder is known.
func (a *app) rowsPath() string {
	path := calibrationPath(a.Env, runtime.GOOS)
	if path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "rows.jsonl")
}

// store opens the user's own rows; nil if no folder is known.
func (a *app) store() (*rows.Store, error) {
	if path := a.rowsPath(); path != "" {
		return &rows.Store{Path: path}, nil
	}
	return nil, usage("rows", "", "no folder of settings is known here", "HOME or XDG_CONFIG_HOME names one")
}

// bearOut makes answers cite the user's rows. A store that cannot be read is reported, and answers do without it.
func (a *app) bearOut() {
	s, err := a.store()
	if err != nil {
		return
	}
	kept, err := s.Rows()
	switch {
	case err != nil:
		fmt.Fprintf(a.Stderr, "warning: your rows are left aside: %s: %s\n", safe.Text(s.Path, ""), safe.Text(regular.Cause(err).Error(), ""))
	case len(kept) > 0:
		a.asker.Evidence = rows.NewEvidence(kept)
	}
}

func (a *app) listRows() error {
	s, err := a.store()
	if err != nil {
		return err
	}
	return a.showRows(s, &rows.Report{})
}

// showRows shows a store, and what was just done to it.
func (a *app) showRows(s *rows.Store, done *rows.Report) error {
	kept, err := s.Rows()
	if err != nil {
		return rows.Failed(s.Path, err)
	}
	r := rows.NewReport(s.Path, kept)
	r.Added, r.Had, r.Refused = done.Added, done.Had, done.Refused
	return a.show(r, func(st term.Style) string { return cards.Rows(r, st) })
}

func (a *app) addRows(s *rows.Stated, name string) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	more, refused, err := a.readRows(s, name)
	if err != nil {
		return err
	}
	added, had, err := store.Add(more)
	if err != nil {
		return rows.Failed(store.Path, err)
	}
	return a.showRows(store, &rows.Report{Added: &added, Had: had, Refused: refused})
}

// readRows reads rows, or converts a benchmark's result to rows.
func (a *app) readRows(s *rows.Stated, name string) ([]*rows.Row, []calibrate.Refusal, error) {
	data, err := a.readUpTo(name, calibrate.MaxBytes+1)
	if err != nil {
		return nil, nil, unreadable(name, "a file that is there, or - for standard input", err)
	}
	out, refused, err := rows.Load(data, s, a.Models)
	if err == nil && len(out) == 0 {
		err = nothingUsed(name, &calibrate.Report{Refused: refused})
	}
	return out, refused, rows.Failed(name, err)
}

// calibrateRows calibrates with the rows of the store.
func (a *app) calibrateRows(f *calibrating, args []string) error {
	if len(args) > 0 {
		return usage("argument", args[0], "--rows replaces a FILE, but one was given too", "leave one out")
	}
	s, err := a.store()
	if err != nil {
		return err
	}
	kept, err := s.Rows()
	if err != nil {
		return rows.Failed(s.Path, err)
	}
	return a.fitBench(f, s.Path, rows.Observations(kept))
}

// sharing holds the flags of compare --share.
type sharing struct{ as, source, licence, out string }

func (s *sharing) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&s.as, "share", "", "write the comparison as a row for others: file, issue (the address of a new issue) or patch")
	flags.Lookup("share").NoOptDefVal = rows.AsFile
	flags.StringVar(&s.source, "source", "own", "where the log can be read, with --share: an address, or own")
	flags.StringVar(&s.licence, "licence", "CC0-1.0", "licence under which the row is shared, as an SPDX identifier")
	flags.StringVar(&s.out, "out", "", "where --share writes; - for standard output")
	grouped(flags, groupOutput, "share", "source", "licence", "out")
	completeWith(c, map[string]func() []string{"share": rows.Ways})
}

// share writes the row of a comparison and shows exactly what it contains; nothing is sent.
func (a *app) share(s *sharing, named string, answer *memwall.Answer) error {
	if !slices.Contains(rows.Ways(), s.as) {
		return usage("share", s.as, fmt.Sprintf("--share=%s is not a way to share", s.as), "--share=file, --share=issue or --share=patch")
	}
	shared, err := rows.From(answer, named, s.source, s.licence, a.Now().UTC().Format("2006-01-02"))
	if err != nil {
		return rows.Failed("the row", err)
	}
	out, err := shared.Written(s.as)
	if err != nil {
		return rows.Failed("the row", err)
	}
	if s.out != "" {
		out.Name = s.out
	}
	if out.Name != "" && out.Name != "-" {
		if err := a.WriteFile(out.Name, []byte(out.Text)); err != nil {
			return unwritten("out", out.Name, err)
		}
	}
	return a.show(out, func(st term.Style) string { return cards.Shared(out, st) })
}
