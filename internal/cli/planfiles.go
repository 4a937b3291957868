package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/planfile"
	"github.com/memwall/memwall/internal/render/svg"
)

// planFiles are the files that a search for plans writes beside its answer.
type planFiles struct {
	front, curve, csv, folder string
	force                     bool
}

func (f *planFiles) flags(flags *pflag.FlagSet) {
	for _, x := range []struct {
		at        *string
		name, doc string
	}{
		{&f.front, "svg", "also draw the plans by cost and time, with the Pareto front and the winner"},
		{&f.curve, "curve", "also draw the times over the load, for up to three fleets"},
		{&f.csv, "csv", "also write a CSV row for each plan; with --all including those not simulated"},
		{&f.folder, "files", "also write the files that run the best plan to a folder: commands, manifests, configurations"},
	} {
		flags.StringVar(x.at, x.name, "", x.doc)
		group(flags.Lookup(x.name), groupOutput)
	}
	flags.BoolVar(&f.force, "force", false, "let --files replace files that differ")
	group(flags.Lookup("force"), groupOutput)
}

// planOut are such files being written, with their writers.
type planOut struct {
	outFiles
	app    *app
	asked  *planFiles
	writes []func(*memwall.Answer) error
}

// open creates the requested files before anything is searched.
func (f *planFiles) open(a *app) (*planOut, error) {
	o := &planOut{app: a, asked: f}
	for _, x := range []struct {
		flag, name string
		write      func(io.Writer, *memwall.Answer) error
	}{
		{"svg", f.front, drawn(svg.PlanFront)},
		{"curve", f.curve, drawn(svg.PlanCurve)},
		{"csv", f.csv, planfile.Write},
	} {
		if x.name == "" {
			continue
		}
		w, err := o.begin(a, x.flag, x.name)
		if err != nil {
			return nil, err
		}
		o.writes = append(o.writes, func(answer *memwall.Answer) error { return x.write(w, answer) })
	}
	if f.folder != "" {
		if err := a.MakeFolder(f.folder); err != nil {
			o.abandon()
			return nil, unwritten("files", f.folder, err)
		}
	}
	return o, nil
}

func drawn(svg func(*memwall.Answer) []byte) func(io.Writer, *memwall.Answer) error {
	return func(w io.Writer, a *memwall.Answer) error {
		_, err := w.Write(svg(a))
		return err
	}
}

// finish completes the files and renames them to their names.
func (o *planOut) finish(answer *memwall.Answer) error {
	for i, write := range o.writes {
		if err := write(answer); err != nil {
			return unwritten(o.begun[i].flag, o.begun[i].name, err)
		}
	}
	if err := o.commit(); err != nil {
		return err
	}
	if o.asked.folder == "" {
		return nil
	}
	return o.folder(answer)
}

// folder writes the files of the best plan. None is written if one would replace a different file.
func (o *planOut) folder(answer *memwall.Answer) error {
	if answer.Best == nil || len(answer.Best.Files) == 0 {
		fmt.Fprintf(o.app.Stderr, "info: no files in %s: nothing was found that can be run\n", o.asked.folder)
		return nil
	}
	files := answer.Best.Files
	names := slices.Sorted(maps.Keys(files))
	var left []string
	for _, name := range names {
		switch same, err := o.unchanged(name, files[name]); {
		case err != nil:
			return err
		case !same:
			left = append(left, name)
		}
	}
	for _, name := range left {
		if err := o.put(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// unchanged reports whether a file already has the contents to write; a different one is an error, unless --force is given.
func (o *planOut) unchanged(name, text string) (bool, error) {
	path := filepath.Join(o.asked.folder, name)
	if !filepath.IsLocal(name) {
		return false, unwritten("files", path, errors.New("it lies outside the folder"))
	}
	file, err := o.app.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unwritten("files", path, err)
	}
	defer func() { _ = file.Close() }() // only read
	was, err := io.ReadAll(io.LimitReader(file, int64(len(text))+1))
	switch {
	case err != nil:
		return false, unwritten("files", path, err)
	case bytes.Equal(was, []byte(text)):
		return true, nil
	case o.asked.force:
		return false, nil
	}
	return false, &memwall.Error{Code: memwall.BadFile, Field: "files", Value: path, Message: fmt.Sprintf("--files: %s is there already and differs", path), Hint: "another folder, or --force to replace it"}
}

func (o *planOut) put(name, text string) error {
	path := filepath.Join(o.asked.folder, name)
	if err := o.app.MakeFolder(filepath.Dir(path)); err != nil {
		return unwritten("files", path, err)
	}
	w, err := o.begin(o.app, "files", path)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return unwritten("files", path, err)
	}
	return o.commit()
}

// makeFolder creates a folder and its parents.
func makeFolder(name string) error { return os.MkdirAll(name, 0o755) }
