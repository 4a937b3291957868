package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
	"github.com/memwall/memwall/farm/internal/rowstore"
	"github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/source/regular"
)

// store is a team's store of what was measured.
func (a *app) store() *cobra.Command {
	c := &cobra.Command{
		Use: "store", Short: "a team's rows of what was measured: history, drift over engine versions, a calibration for all",
		Long: "STORE is an SQLite file, or a Postgres database by its URL. Rows lie there as memwall rows has them, with who added them " +
			"and when; none is changed or taken away.",
		Example: "memwall-farm store add team.db memwall-row-1f0c.json\nmemwall-farm store drift team.db --page drift.html\n" +
			"memwall-farm store calibrate team.db --out team.json && memwall fit llama-3.1-8b --on rtx-4090 --calibration team.json",
		RunE: func(c *cobra.Command, args []string) error {
			return bad("command", strings.Join(args, " "), c.CommandPath()+" takes add, list, drift, export or calibrate",
				c.CommandPath()+" --help")
		},
	}
	c.AddCommand(a.storeAdd(), a.storeList(), a.storeDrift(), a.storeExport(), a.storeCalibrate())
	return c
}

// stored runs on what a store that is read holds.
func stored(ctx context.Context, where string, do func(where string, kept []rows.Kept) error) error {
	s, err := rowstore.Open(ctx, where)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it was only read
	kept, err := s.All(ctx)
	if err != nil {
		return err
	}
	return do(s.Where, kept)
}

func (a *app) storeAdd() *cobra.Command {
	s, who := &rows.Stated{}, cmp.Or(a.env("USER"), a.env("USERNAME"), a.env("LOGNAME"))
	c := &cobra.Command{
		Use: "add STORE FILE", Short: "check rows or a benchmark's result, and add them",
		Long: "FILE is what memwall rows add reads: rows that memwall compare --share wrote, or a benchmark's result, which needs " +
			"--source and --licence; - is standard input. All of its rows are added, or none.",
		Example: "memwall-farm store add team.db memwall-row-1f0c.json\n" +
			"memwall compare server.log --share --out - | memwall-farm store add postgres://db/team - --who ann",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return bad("argument", "", fmt.Sprintf("%s takes a store and a file, and %d arguments were given", c.CommandPath(),
					len(args)), "memwall-farm store add team.db rows.jsonl")
			}
			return a.addTo(c.Context(), args[0], args[1], who, s)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&who, "who", who, "who adds them")
	f.StringVar(&s.Source, "source", "", "where a benchmark's figures can be read: an address, or own")
	f.StringVar(&s.Licence, "licence", "", "licence of the figures, as an SPDX identifier such as CC0-1.0")
	f.StringVar(&s.Given.Model, "model", "", "the model, where the file's name for it is not known")
	f.StringVar(&s.Given.Hardware, "on", "", "the devices, where the file does not name them")
	f.StringVar(&s.Given.Weights, "weights", "", "how the weights are stored, where the file does not say")
	f.StringVar(&s.Given.Engine, "engine", "", "the engine, where the file does not name it")
	return c
}

func (a *app) addTo(ctx context.Context, where, name, who string, stated *rows.Stated) error {
	if who == "" || len(who) > 100 || safe.Text(who, "") != who {
		return bad("who", safe.Text(who, ""), "--who is missing or no plain text of at most 100 letters", "--who ann")
	}
	more, refused, err := readRows(name, stated)
	if err != nil {
		return err
	}
	for i := range refused {
		a.say("not used: " + refused[i].At + ": " + cards.Refusal(&refused[i]))
	}
	s, err := rowstore.Create(ctx, where)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // what was added is on the disk
	added, had, err := s.Add(ctx, more, who, time.Now())
	if err != nil {
		return err
	}
	kept, err := s.All(ctx)
	if err != nil {
		return err
	}
	h := rows.NewHistory(s.Where, kept)
	h.Added, h.Had = &added, had
	return a.history(h, false)
}

// readRows reads a file of rows, or makes them of a benchmark's result.
func readRows(name string, s *rows.Stated) ([]*rows.Row, []calibrate.Refusal, error) {
	in := os.Stdin
	if name != "-" {
		var err error
		if in, err = regular.Open(name); err != nil {
			return nil, nil, unread(name, regular.Cause(err))
		}
		defer in.Close() //nolint:errcheck // it was read
	}
	data, err := io.ReadAll(io.LimitReader(in, rows.MaxBytes+1))
	if err != nil {
		return nil, nil, unread(name, regular.Cause(err))
	}
	out, refused, err := rows.Load(data, s, memwall.Catalog{})
	if err == nil && len(out) == 0 {
		why := "holds no figure"
		if len(refused) > 0 {
			why = refused[0].At + ": " + cards.Refusal(&refused[0])
		}
		err = &rows.Error{At: "the file", Why: "holds no row that can be used: " + why, Fix: calibrate.Hint}
	}
	return out, refused, rows.Failed(name, err)
}

func unread(name string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: fmt.Sprintf("%s cannot be read: %v", name, err),
		Hint: "a file of rows, or a benchmark's result"}
}

func (a *app) history(h *rows.History, all bool) error {
	if a.json {
		return a.print(h)
	}
	_, err := io.WriteString(a.out, cards.History(h, all, a.style()))
	return err
}

func (a *app) storeList() *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "list STORE", Short: "who added what, and when", Args: one("a store", "memwall-farm store list team.db"),
		RunE: func(c *cobra.Command, args []string) error {
			return stored(c.Context(), args[0], func(where string, kept []rows.Kept) error {
				return a.history(rows.NewHistory(where, kept), all)
			})
		}}
	c.Flags().BoolVar(&all, "all", false, "all rows, not the latest")
	return c
}

func (a *app) storeDrift() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "drift STORE", Short: "how figures moved from one version of an engine to the next",
		Long: "Each figure of a model on its devices, by versions of the engine: measured over predicted, and measured over what the " +
			"version before measured of the same plan and load. A version moved a figure by more than 5 %, and by more than three " +
			"standard deviations.",
		Args:    one("a store", "memwall-farm store drift team.db"),
		Example: "memwall-farm store drift team.db\nmemwall-farm store drift team.db --page drift.html",
		RunE: func(c *cobra.Command, args []string) error {
			return stored(c.Context(), args[0], func(where string, kept []rows.Kept) error {
				return a.drift(rows.NewDrift(where, kept), file)
			})
		}}
	c.Flags().StringVar(&file, "page", "", "a page of it as a file of HTML, which needs nothing beside it")
	return c
}

func (a *app) drift(d *rows.Drift, file string) error {
	if file != "" {
		if err := write("page", file, []byte(page.Document("Drift", cards.DriftParts(d)))); err != nil {
			return err
		}
	}
	if a.json {
		return a.print(d)
	}
	_, err := io.WriteString(a.out, cards.Drift(d, a.style()))
	return err
}

func (a *app) storeExport() *cobra.Command {
	return &cobra.Command{Use: "export STORE", Short: "its rows, one a line, as memwall rows add reads them",
		Args:    one("a store", "memwall-farm store export team.db > team.jsonl"),
		Example: "memwall-farm store export team.db | memwall rows add -",
		RunE: func(c *cobra.Command, args []string) error {
			return stored(c.Context(), args[0], func(_ string, kept []rows.Kept) error {
				list, aside := rows.Readable(kept)
				for _, x := range aside {
					a.say("left aside: row " + x.ID + " " + x.Why)
				}
				for _, r := range list {
					line, err := r.Line()
					if err != nil {
						return err
					}
					if _, err := a.out.Write(line); err != nil {
						return err
					}
				}
				return nil
			})
		}}
}

func (a *app) storeCalibrate() *cobra.Command {
	var out, engine string
	c := &cobra.Command{
		Use: "calibrate STORE", Short: "fit devices' own speeds to the store's rows, for all of a team",
		Args:    one("a store", "memwall-farm store calibrate team.db"),
		Example: "memwall-farm store calibrate team.db --out team.json\nmemwall fit llama-3.1-8b --on rtx-4090 --calibration team.json",
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return bad("out", "", "--out is missing: the file of the calibration",
					"--out team.json, then memwall fit --calibration team.json")
			}
			return stored(c.Context(), args[0], func(where string, kept []rows.Kept) error {
				return a.calibrateOn(where, kept, engine, out)
			})
		}}
	c.Flags().StringVar(&out, "out", "", "where the calibration is written, for memwall --calibration")
	c.Flags().StringVar(&engine, "engine", "", "rows of this engine alone, or of a version of it that moved: vllm@0.13")
	return c
}

func (a *app) calibrateOn(where string, kept []rows.Kept, engine, out string) error {
	list, _ := rows.Readable(kept)
	if engine != "" {
		list = slices.DeleteFunc(list, func(r *rows.Row) bool { return !r.RanBy(engine) })
	}
	file := rows.Observations(list)
	p, refused, err := calibrate.Fit(file.Observations, &calibrate.Formulas{Models: memwall.Catalog{}})
	if err != nil {
		return err
	}
	if p.Observations == 0 {
		return &memwall.Error{Code: memwall.BadFile, Field: "store", Value: where, Message: where + " holds no speed that can be fitted",
			Hint: "--engine as memwall-farm store list has it; results of llama-bench, vllm bench or memwall bench, by " +
				"memwall-farm store add"}
	}
	r := &calibrate.Report{Schema: memwall.Schema, Format: file.Format, Profile: p, Refused: append(file.Refused, refused...), Written: out}
	data, err := p.Write()
	if err == nil {
		err = write("out", out, data)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.print(r)
	}
	_, err = io.WriteString(a.out, cards.Calibration(r, a.style()))
	return err
}
