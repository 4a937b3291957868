package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/source/regular"
	"github.com/memwall/memwall/unit"
)

// calibrating holds the flags of calibrate.
type calibrating struct {
	given calibrate.Given
	out   string
	rows  bool
}

// calibrate returns the command that fits a device's speed to benchmarks measured on it.
func (a *app) calibrate() *cobra.Command {
	var f calibrating
	c := &cobra.Command{
		Use: "calibrate FILE", Short: "benchmark this machine, so that predicted speeds are its own",
		Long: "FILE is the output of llama-bench (JSON, JSONL, CSV or the table it prints), of vllm bench or SGLang's bench_serving (their file or what they print), or a table of your own: context,tokens/s. " +
			"Without it, or with -, standard input is read. Figures that cannot be used are listed, and the rest is used. Later runs read the result.",
		Example: "llama-bench -m model.gguf -d 0,4096,16384 -fa 1 -o json > bench.json\nmemwall calibrate bench.json\nmemwall calibrate bench.md --model llama-3.1-8b --on rtx-3090",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("argument", args[1], fmt.Sprintf("calibrate takes one FILE, and %q was given too", args[1]), "quote a name that has spaces")
			}
			if f.rows {
				return a.calibrateRows(&f, args)
			}
			return a.runCalibrate(&f, append(args, "-")[0])
		},
	}
	f.flags(c)
	return c
}

func (f *calibrating) flags(c *cobra.Command) {
	flags, g := c.Flags(), &f.given
	flags.SortFlags = false
	flags.StringVar(&g.Model, "model", "", "the model, if its name in the file is not known")
	flags.StringVar(&g.Hardware, "on", "", "the device, if the file does not name it")
	flags.StringVar(&g.Weights, "weights", "", "format of the weights, such as q4_k_m")
	flags.StringVar(&g.Engine, "engine", "", "the engine, if the file is a table of your own")
	flags.Int64Var(&g.Sequences, "users", 0, "concurrent users, if the file does not say")
	grouped(flags, groupWhat, "model", "on", "weights", "engine", "users")
	flags.BoolVar(&f.rows, "rows", false, "use the rows stored with memwall rows add, instead of a FILE")
	group(flags.Lookup("rows"), groupWhat)
	flags.StringVar(&f.out, "out", "", "where to write, instead of the settings folder")
	group(flags.Lookup("out"), groupOutput)
}

func (a *app) runCalibrate(f *calibrating, name string) error {
	file, err := a.bench(name)
	if err != nil {
		return err
	}
	return a.fitBench(f, name, file)
}

// fitBench fits the figures of a file and saves the profile.
func (a *app) fitBench(f *calibrating, name string, file *calibrate.File) error {
	file.With(f.given)
	p, refused, err := calibrate.Fit(file.Observations, &calibrate.Formulas{Models: a.Models})
	if err != nil {
		return err
	}
	r := &calibrate.Report{Schema: memwall.Schema, Format: file.Format, Profile: p, Refused: append(file.Refused, refused...)}
	if p.Observations == 0 {
		return nothingUsed(name, r)
	}
	if err := a.keep(r, f.out); err != nil {
		return err
	}
	return a.show(r, func(st term.Style) string { return cards.Calibration(r, st) })
}

// bench reads the named file or standard input.
func (a *app) bench(name string) (*calibrate.File, error) {
	data, err := a.readUpTo(name, calibrate.MaxBytes+1)
	if err != nil {
		return nil, unreadable(name, "a file that is there, or - for standard input", err)
	}
	f, err := calibrate.Read(data)
	if err != nil {
		return nil, badBench(name, "cannot be used: "+err.Error())
	}
	return f, nil
}

func badBench(name, why string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: name + " " + why, Hint: calibrate.Hint}
}

// nothingUsed returns an error with the reason that rejected the most figures; the first on a tie.
func nothingUsed(name string, r *calibrate.Report) error {
	count := map[string]int{}
	var most *calibrate.Refusal
	for i := range r.Refused {
		count[r.Refused[i].Why]++
	}
	for i := range r.Refused {
		if x := &r.Refused[i]; most == nil || count[x.Why] > count[most.Why] {
			most = x
		}
	}
	if most == nil {
		return badBench(name, "holds no figure")
	}
	why := fmt.Sprintf("holds no figure that can be used. %s: %s", most.At, cards.Refusal(most))
	if n := len(r.Refused); n > 1 {
		why += fmt.Sprintf(" (and %s more)", unit.Count(int64(n-1)))
	}
	return badBench(name, why)
}

// keep writes the profile, merged with an older one's entries for other devices.
func (a *app) keep(r *calibrate.Report, out string) error {
	path := out
	if path == "" {
		path = calibrationPath(a.Env, runtime.GOOS)
	}
	if path == "" {
		return usage("out", "", "no folder of settings is known here", "--out FILE")
	}
	old, err := a.profile(path)
	if err != nil {
		return err
	}
	if old != nil {
		r.Kept = r.Profile.KeepOwn(old)
	}
	data, err := r.Profile.Write()
	if err != nil {
		return err
	}
	if out == "" {
		err = owners(path)
	}
	if err == nil {
		err = a.WriteFile(path, data)
	}
	if err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "out", Value: path, Message: fmt.Sprintf("%s cannot be written: %v", path, regular.Cause(err)), Hint: "--out FILE"}
	}
	r.Written = path
	return nil
}

// owners creates a settings file and its folder, readable only by their owner.
func owners(path string) error {
	if err := regular.Folder(filepath.Dir(path)); err != nil {
		return err
	}
	return regular.Make(path)
}

// opened opens a named file, or a settings file, which must be a regular file or absent.
func (a *app) opened(path string) (io.ReadCloser, error) {
	if usual := calibrationPath(a.Env, runtime.GOOS); path == usual || path == a.measuredPath() {
		return regular.Open(path)
	}
	return a.OpenFile(path)
}

// noCalibration in place of a file name disables calibration.
const noCalibration = "none"

// tune sets the asker's calibration to the one named, or to the one in the usual place if it exists.
func (a *app) tune(name string) error {
	a.bearOut()
	path := name
	switch name {
	case noCalibration:
		return nil
	case "":
		if path = calibrationPath(a.Env, runtime.GOOS); path == "" {
			return nil
		}
	}
	p, err := a.profile(path)
	switch {
	case err != nil:
		return err
	case p == nil && name != "":
		return &memwall.Error{Code: memwall.BadFile, Field: "calibration", Value: name, Message: name + " cannot be read: no such file", Hint: "memwall calibrate FILE --out " + name}
	case p == nil:
		return nil
	}
	t, err := p.Tune()
	if err != nil {
		return err
	}
	a.asker.Calibration = t
	return nil
}

// profile reads a calibration; nil if there is none.
func (a *app) profile(path string) (*calibrate.Profile, error) {
	in, err := a.opened(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		defer in.Close()
		data, err = io.ReadAll(io.LimitReader(in, calibrate.MaxBytes))
	}
	var p *calibrate.Profile
	if err == nil {
		p, err = calibrate.ReadProfile(data)
	}
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "calibration", Value: path, Message: fmt.Sprintf("%s: %v", path, regular.Cause(err)), Hint: "remove it, or name another: --out FILE, --calibration FILE"}
	}
	return p, nil
}

// calibrationPath returns the default path of a calibration; "" if no settings folder is known.
func calibrationPath(env func(string) string, system string) string {
	if folder := regular.Settings(env, system); folder != "" {
		return filepath.Join(folder, "calibration.json")
	}
	return ""
}
