package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/farm"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/unit"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	places
	own     farm.Own
	out     string
	page    string
	workers int
	max     int64
	again   bool
	check   float64
	stuck   time.Duration
}

func (a *app) sweep() *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use: "sweep STUDY.yaml", Short: "answer the questions of a study, and go on with it where it was left",
		Args: one("a study file", "memwall-farm sweep study.yaml"),
		Example: "memwall-farm sweep study.yaml\nmemwall-farm sweep study.yaml --listen 127.0.0.1:4222\nmemwall-farm sweep study.yaml " +
			"--nats nats://a,b,c --workers 0 --out postgres://farm@db/study",
		RunE: func(c *cobra.Command, args []string) error { return a.runSweep(c.Context(), f, args[0]) },
	}
	f.flags(c, a)
	f.settings(c)
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "results: a file, or postgres://…; the study's name with .db where nothing is said")
	fl.StringVar(&f.page, "page", "", "address of a web page that follows the sweep: 127.0.0.1:8422")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "questions that this process answers at a time; 0: others do")
	fl.Int64Var(&f.max, "max", study.MostPoints, "most questions that the study may have")
	fl.StringVar(&f.own.Listen, "listen", "", "address at which others may join: 127.0.0.1:4222; others than this machine need a token "+
		"in MEMWALL_FARM_TOKEN")
	fl.StringVar(&f.own.Config, "server-config", "", "configuration of our own server in NATS's format: TLS, accounts, cluster")
	fl.StringVar(&f.own.Folder, "store", "", "folder of our own server, whose answers later studies share; one of the results' own, "+
		"which is removed in the end, where nothing is said")
	fl.BoolVar(&f.again, "again", false, "ask again what no worker came back from")
	fl.Float64Var(&f.check, "check", 0.02, "share of other machines' answers that this one computes as well; the nth of each machine "+
		"with a chance of 1/n at least; 0: none, 1: all")
	fl.DurationVar(&f.stuck, "give-up", 2*time.Minute, "after how long without any result a farm in trouble is given up")
	return c
}

func (a *app) runSweep(ctx context.Context, f *sweepFlags, name string) error {
	if f.workers < 0 || f.workers > 1024 {
		return bad("workers", fmt.Sprint(f.workers), fmt.Sprintf("--workers %d is not a number of questions at a time", f.workers),
			"--workers 4; 0 to answer none here")
	}
	if !(f.check >= 0 && f.check <= 1) {
		return bad("check", fmt.Sprint(f.check), fmt.Sprintf("--check %v is not a share", f.check), "--check 0.02, from 0 to 1")
	}
	if f.servers.URLs != "" && (f.own.Listen != "" || f.own.Config != "" || f.own.Folder != "") {
		return bad("nats", f.servers.URLs, "--nats means others' servers, and --listen, --server-config and --store a server of our own",
			"one of them")
	}
	s, err := a.load(f, name)
	if err != nil {
		return err
	}
	results, err := studyfile.Create(ctx, f.out, &studyfile.Study{ID: s.Study.ID(s.Tables), Name: s.Study.Name, Ask: s.Study.Ask,
		Tables: s.Tables, Points: s.Study.Points(), Text: s.Text, Traces: s.Digests})
	if err != nil {
		return err
	}
	defer func() { _ = results.Close() }()
	if f.again {
		if _, err := results.Revive(ctx); err != nil {
			return err
		}
	}
	s.Results, s.Patience, s.Check = results, f.stuck, f.check
	if s.By, err = farm.NewIdentity(workerName()); err != nil {
		return err
	}
	followed, err := a.followed(ctx, f)
	if err != nil {
		return err
	}
	defer followed()
	began := time.Now()
	at, err := a.swept(ctx, f, s)
	a.clear()
	return a.outcome(s, place.Shown(f.out), at, time.Since(began), err)
}

// followed on a page, where one is wanted, until what it gives is called.
func (a *app) followed(ctx context.Context, f *sweepFlags) (func(), error) {
	if f.page == "" {
		return func() {}, nil
	}
	present, err := a.present(f.page, f.out)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := present(ctx); err != nil {
			a.say("the page ends: " + err.Error())
		}
	}()
	return func() {
		stop()
		<-ended
	}, nil
}

// load a study, and find its traces.
func (a *app) load(f *sweepFlags, name string) (*farm.Sweep, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "study", Value: name, Message: name + " cannot be read",
			Hint: "a study file: docs/guides/studies.md shows one"}
	}
	read, err := study.Read(filepath.Base(name), string(text))
	if err != nil {
		return nil, err
	}
	if err := read.Within(f.max); err != nil {
		return nil, err
	}
	known, digests, files, err := farm.Digests(read, filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	tables, err := farm.Tables()
	if err != nil {
		return nil, err
	}
	if f.out == "" {
		f.out = strings.TrimSuffix(name, filepath.Ext(name)) + ".db"
	}
	return &farm.Sweep{Study: known, Text: string(text), Digests: digests, Files: files, Tables: tables}, nil
}

// swept runs a sweep with workers of its own; nothing is started for a study that is finished.
func (a *app) swept(ctx context.Context, f *sweepFlags, s *farm.Sweep) (farm.Progress, error) {
	points := s.Study.Points()
	done, dead, err := s.Results.Done(ctx)
	if err != nil || done == points {
		return farm.Progress{Points: points, Done: done, Dead: dead}, err
	}
	if a.live {
		s.Report = a.progress(done)
	}
	open, closed, err := a.open(ctx, f)
	if err != nil {
		return farm.Progress{Points: points, Done: done, Dead: dead}, err
	}
	s.Farm = open
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.helped(ctx, f, s) }()
	at, err := s.Run(ctx)
	stop()
	if helped := <-ended; err == nil {
		err = helped
	}
	closed(err == nil)
	return at, err
}

// helped by workers of this process.
func (a *app) helped(ctx context.Context, f *sweepFlags, s *farm.Sweep) error {
	if f.workers == 0 {
		return nil
	}
	return s.Farm.Work(ctx, &farm.Worker{Name: workerName(), By: s.By, Tables: s.Tables, Slots: f.workers})
}

// open a farm: that of others, or a server of our own. What it gives to close it is told whether all is done.
func (a *app) open(ctx context.Context, f *sweepFlags) (*farm.Farm, func(done bool), error) {
	if f.servers.URLs != "" {
		open, closed, err := f.join(ctx, a)
		return open, func(bool) { closed() }, err
	}
	own, lasting := f.own, f.own.Folder != ""
	own.Token = f.servers.Token
	if !lasting {
		own.Folder = storeOf(f.out)
	}
	server, conn, err := own.Start(a.say)
	if err != nil {
		return nil, nil, err
	}
	if own.Listen != "" {
		a.say("others join with: memwall-farm work --nats " + server.ClientURL())
	}
	ready, stop := context.WithTimeout(ctx, f.stuck)
	defer stop()
	open, err := farm.Open(ready, conn, f.set, a.say)
	closed := func(done bool) {
		conn.Close()
		server.Close()
		if done && !lasting {
			_ = os.RemoveAll(own.Folder)
		}
	}
	if err != nil {
		closed(false)
		return nil, nil, own.Unusable(err)
	}
	return open, closed, nil
}

// storeOf results is the folder of the server that is started for them.
func storeOf(out string) string {
	if place.IsURL(out) {
		return filepath.Join(os.TempDir(), "memwall-farm-store")
	}
	return out + ".farm"
}

func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a worker"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// progress shows how far the sweep is, and how long it will take.
func (a *app) progress(before int64) func(farm.Progress) {
	began := time.Now()
	return func(at farm.Progress) {
		rate := float64(at.Done-before) / time.Since(began).Seconds()
		words := fmt.Sprintf("%s of %s questions", unit.Count(at.Done), unit.Count(at.Points))
		if at.Done > before {
			words += fmt.Sprintf(", %.3g/s, %s left", rate, unit.Seconds(float64(at.Points-at.Done)/rate))
		}
		if at.Workers > 1 {
			words += fmt.Sprintf(", %d workers", at.Workers)
		}
		if at.Trouble != "" {
			words += ", " + at.Trouble
		}
		a.show(words)
	}
}

// outcome is what became of a sweep.
func (a *app) outcome(s *farm.Sweep, out string, at farm.Progress, took time.Duration, err error) error {
	if errors.Is(err, context.Canceled) {
		return &memwall.Error{Code: memwall.Remote, Field: "study",
			Message: fmt.Sprintf("stopped: %d of %d questions are answered, and kept in %s", at.Done, at.Points, out),
			Hint:    "the same command goes on"}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.print(struct {
			Study string  `json:"study"`
			Name  string  `json:"name,omitempty"`
			Out   string  `json:"out"`
			Took  float64 `json:"took_s"`
			farm.Progress
		}{s.Study.ID(s.Tables), s.Study.Name, out, took.Seconds(), at})
	}
	a.tell("%d questions answered, in %s", at.Done, out)
	if at.Dead > 0 {
		a.tell("%d of them by no worker: --again asks these once more", at.Dead)
	}
	if words := believed(&at); words != "" {
		a.tell("%s", words)
	}
	a.say("memwall-farm report " + out)
	return nil
}

// believed says why answers of other machines are: how many of them this one has computed as well.
func believed(at *farm.Progress) string {
	switch {
	case len(at.Liars) > 0:
		return fmt.Sprintf("%d of others' answers were computed here too: refused is %s; questions were asked again %d times", at.Checked,
			strings.Join(at.Liars, ", "), at.AskedAgain)
	case at.AskedAgain > 0:
		return fmt.Sprintf("%d of others' answers were computed here too; questions were asked again %d times, whose answers were "+
			"damaged or unsigned", at.Checked, at.AskedAgain)
	case at.Checked > 0:
		return fmt.Sprintf("%d of others' answers were computed here too, and are the same", at.Checked)
	}
	return ""
}
