// Command farmtest measures a farm: what the queue costs beside the work, how two workers compare with one, what a server
// holds of tasks that wait, and how soon a finished study is known to be finished.
//
//	go run ./internal/farmtest
//
// -task spin computes for its time, as questions do, and needs idle processors; wait only waits, and so tells the queue's own
// part on a machine that others use too. It prints the load of the machine beside what it measures.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/farm"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/stat"
)

const tables = "measured"

// Flags.
var (
	measure = flag.String("measure", "overhead,scale,queue,resume", "what to measure; many, for what saturates first")
	kind    = flag.String("task", "wait", "spin or wait")
	lasts   = flag.Duration("lasts", 50*time.Millisecond, "how long a task takes")
	tasks   = flag.Int("tasks", 200, "tasks of a run")
	runs    = flag.Int("runs", 5, "runs, of which the median counts")
	queued  = flag.Int("queued", 100_000, "tasks that wait")
	role    = flag.String("role", "", "what this process is to the one that started it: worker or server")
	url     = flag.String("url", "", "where its server is")
	slots   = flag.Int("slots", 1, "tasks that it takes at a time")
)

func main() {
	flag.Parse()
	do := map[string]func(context.Context) error{"overhead": overhead, "scale": scale, "many": many, "queue": queue, "resume": resume,
		"worker": work, "server": serve}
	names := strings.Split(*measure, ",")
	if *role != "" {
		names = []string{*role}
	}
	for _, name := range names {
		if do[name] == nil {
			flag.Usage()
			os.Exit(2)
		}
		if err := do[name](context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "farmtest:", err)
			os.Exit(1)
		}
	}
}

// ask takes its time.
func ask(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
	until := time.Now().Add(*lasts)
	if *kind == "wait" {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(*lasts):
		}
	}
	for time.Now().Before(until) {
	}
	return nil, &memwall.Error{Code: memwall.Limit, Message: "only the time was wanted"}
}

// text of a study of so many questions.
func text(n int) string {
	return fmt.Sprintf("ask: sim\nmodels: llama-3.1-8b\nhardware: h100\nworkload: {rate: 2}\nseeds: 1..%d\n", n)
}

// site is a server of this process with a folder.
type site struct {
	*farm.Farm
	folder, url string
	close       func()
}

func open(listen string) (*site, error) {
	folder, err := os.MkdirTemp("", "farmtest-")
	if err != nil {
		return nil, err
	}
	s, conn, err := (&farm.Own{Folder: filepath.Join(folder, "js"), Listen: listen}).Start(nil)
	if err != nil {
		return nil, err
	}
	f, err := farm.Open(context.Background(), conn, farm.Settings{Queued: int64(*queued)}, nil)
	out := &site{Farm: f, folder: folder, close: func() { conn.Close(); s.Close(); _ = os.RemoveAll(folder) }}
	if listen != "" {
		out.url = s.ClientURL()
	}
	return out, err
}

// sweep a study whose questions are not among those of another run: run tells them.
func (s *site) sweep(ctx context.Context, n, run int) (time.Duration, error) {
	t := strings.Replace(text(n), "rate: 2", fmt.Sprintf("rate: %d", run+1), 1)
	read, err := study.Read("study", t)
	if err != nil {
		return 0, err
	}
	results, err := studyfile.Create(ctx, filepath.Join(s.folder, fmt.Sprintf("%d.db", run)),
		&studyfile.Study{ID: read.ID(tables), Ask: read.Ask, Tables: tables, Points: read.Points(), Text: t})
	if err != nil {
		return 0, err
	}
	defer func() { _ = results.Close() }()
	began := time.Now()
	_, err = (&farm.Sweep{Farm: s.Farm, Study: read, Text: t, Tables: tables, Results: results}).Run(ctx)
	return time.Since(began), err
}

// alone is the run without a farm: as many goroutines, each with the next question, and the answers as JSON.
func alone(n, slots int) time.Duration {
	read, err := study.Read("study", text(n))
	if err != nil {
		panic(err)
	}
	began := time.Now()
	next := make(chan int64)
	var wg sync.WaitGroup
	for range slots {
		wg.Go(func() {
			for i := range next {
				_, _ = farm.Answer(read.At(i, tables).Request,
					func(r *memwall.Request) (*memwall.Answer, error) { return ask(context.Background(), r) })
			}
		})
	}
	for i := range read.Points() {
		next <- i
	}
	close(next)
	wg.Wait()
	return time.Since(began)
}

func overhead(ctx context.Context) error {
	s, err := open("")
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = s.Work(ctx, &farm.Worker{Name: "here", Tables: tables, Slots: *slots, Ask: ask}) }()
	var ratios []float64
	for run := range *runs {
		bare := alone(*tasks, *slots)
		took, err := s.sweep(ctx, *tasks, run)
		if err != nil {
			return err
		}
		ratios = append(ratios, took.Seconds()/bare.Seconds())
	}
	report(fmt.Sprintf("%d tasks of %v (%s), %d at a time, against the run alone", *tasks, *lasts, *kind, *slots), ratios,
		func(x float64) string { return fmt.Sprintf("%+.1f %%", 100*(x-1)) })
	return nil
}

// many finds what saturates first: the rate at which tasks are done, for more and more slots.
func many(ctx context.Context) error {
	s, err := open("")
	if err != nil {
		return err
	}
	defer s.close()
	for run, n := range []int{1, 4, 16, 64, 256, 1024} {
		working, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = s.Work(working, &farm.Worker{Name: "here", Tables: tables, Slots: n, Ask: ask})
		})
		count := min(20*n, 8192)
		took, err := s.sweep(ctx, count, run)
		stop()
		wg.Wait()
		if err != nil {
			return err
		}
		rate, most := float64(count)/took.Seconds(), float64(n)/lasts.Seconds()
		fmt.Printf("%4d slots, tasks of %v: %7.0f a second of %7.0f, %3.0f %%\n", n, *lasts, rate, most, 100*rate/most)
	}
	return nil
}

// scale compares two workers, each a process with one slot, with one.
func scale(ctx context.Context) error {
	s, err := open("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer s.close()
	var ratios []float64
	for run := range *runs {
		var took [2]time.Duration
		for i := range took {
			stop, err := s.workers(i + 1)
			if err != nil {
				return err
			}
			if _, err := s.sweep(ctx, 4, 4*run+2*i); err != nil { // until they are all up
				return err
			}
			took[i], err = s.sweep(ctx, *tasks, 4*run+2*i+1)
			stop()
			if err != nil {
				return err
			}
		}
		ratios = append(ratios, took[0].Seconds()/took[1].Seconds())
	}
	report(fmt.Sprintf("two workers for one, %d tasks of %v (%s)", *tasks, *lasts, *kind), ratios,
		func(x float64) string { return fmt.Sprintf("%.2fx", x) })
	return nil
}

func (s *site) workers(n int) (stop func(), err error) {
	var all []*exec.Cmd
	for range n {
		c := exec.Command(os.Args[0], "-role", "worker", "-url", s.url, "-task", *kind, "-lasts", lasts.String())
		if err := c.Start(); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return func() {
		for _, c := range all {
			_ = c.Process.Kill() // it has nothing left to do
			_ = c.Wait()
		}
	}, nil
}

func work(ctx context.Context) error {
	conn, err := farm.Connect(ctx, &farm.Servers{URLs: *url}, nil)
	if err != nil {
		return err
	}
	f, err := farm.Open(ctx, conn, farm.Settings{}, nil)
	if err != nil {
		return err
	}
	return f.Work(ctx, &farm.Worker{Name: fmt.Sprint("worker ", os.Getpid()), Tables: tables, Slots: *slots, Ask: ask})
}

// serve is a server alone, whose memory is looked at from outside.
func serve(context.Context) error {
	s, err := open("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Println(s.url)
	_, _ = fmt.Scanln() // until who started it is gone
	return nil
}

// queue fills that of a server of its own, and looks at the server's memory.
func queue(ctx context.Context) error {
	c := exec.Command(os.Args[0], "-role", "server", "-queued", fmt.Sprint(*queued))
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() { _ = in.Close(); _ = c.Wait() }()
	var at string
	if _, err := fmt.Fscanln(out, &at); err != nil {
		return err
	}
	before := resident(c.Process.Pid)
	conn, err := farm.Connect(ctx, &farm.Servers{URLs: at}, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	f, err := farm.Open(ctx, conn, farm.Settings{Queued: int64(*queued)}, nil)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "farmtest-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := (&site{Farm: f, folder: folder}).sweep(ctx, *queued, 0)
		ended <- err
	}()
	for {
		n, err := f.Queued(ctx)
		if err == nil && n >= uint64(*queued) {
			break
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the sweep ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	fmt.Printf("%d tasks queued in %.1f s; the server: %s before, %s with them\n", *queued, time.Since(began).Seconds(), before,
		resident(c.Process.Pid))
	return nil
}

// resident memory of a process, now and at most.
func resident(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "?"
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		for _, name := range []string{"VmRSS:", "VmHWM:"} {
			if v, ok := strings.CutPrefix(line, name); ok {
				out = append(out, strings.TrimSuffix(name, ":")+" "+strings.TrimSpace(v))
			}
		}
	}
	return strings.Join(out, ", ")
}

// resume of a study that is finished, with as many results as the queue had tasks.
func resume(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "farmtest-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	read, err := study.Read("study", text(*queued))
	if err != nil {
		return err
	}
	about := &studyfile.Study{ID: read.ID(tables), Ask: read.Ask, Tables: tables, Points: read.Points(), Text: text(*queued)}
	where := filepath.Join(folder, "a.db")
	results, err := studyfile.Create(ctx, where, about)
	if err != nil {
		return err
	}
	var all []studyfile.Row
	for p := range read.All(tables) {
		all = append(all, studyfile.Row{Index: p.Index, Key: p.Key.String(), Answer: []byte(`{"ask":"sim"}`)})
	}
	for part := range slices.Chunk(all, 1000) {
		if _, err := results.Put(ctx, part); err != nil {
			return err
		}
	}
	if err := results.Close(); err != nil {
		return err
	}
	var took []float64
	for range *runs {
		began := time.Now()
		if results, err = studyfile.Create(ctx, where, about); err != nil {
			return err
		}
		at, err := (&farm.Sweep{Study: read, Tables: tables, Results: results}).Run(ctx)
		if err != nil || at.Done != at.Points {
			return fmt.Errorf("%+v: %w", at, err)
		}
		if err := results.Close(); err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
	}
	report(fmt.Sprintf("resume of a finished study of %d", *queued), took, func(x float64) string { return fmt.Sprintf("%.3f s", x) })
	return nil
}

// report prints the median and the range of runs.
func report(what string, all []float64, words func(float64) string) {
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%s: %s (%s to %s, %d runs; load %s)\n", what, words(stat.Median(all)), words(slices.Min(all)), words(slices.Max(all)),
		len(all), strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "))
}
