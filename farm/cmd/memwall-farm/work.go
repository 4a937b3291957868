package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/farm/internal/farm"
)

func (a *app) work() *cobra.Command {
	p, slots := &places{}, runtime.NumCPU()
	c := &cobra.Command{
		Use: "work", Short: "answer questions of whatever studies there are, until it is stopped", Args: none,
		Example: "memwall-farm work --nats nats://a,b,c\nmemwall-farm work --nats tls://farm.example:4222 --tls-ca ca.pem --creds " +
			"worker.creds",
		RunE: func(c *cobra.Command, _ []string) error {
			if slots < 1 || slots > 1024 {
				return bad("workers", fmt.Sprint(slots), fmt.Sprintf("--workers %d is not a number of questions at a time", slots),
					"--workers 4")
			}
			return a.runWork(c.Context(), p, slots)
		},
	}
	p.flags(c, a)
	p.settings(c)
	c.Flags().IntVar(&slots, "workers", slots, "questions that are answered at a time")
	return c
}

func (a *app) runWork(ctx context.Context, p *places, slots int) error {
	f, closed, err := p.join(ctx, a)
	if err != nil {
		return err
	}
	defer closed()
	tables, err := farm.Tables()
	if err != nil {
		return err
	}
	w := &farm.Worker{Name: workerName(), Tables: tables, Slots: slots}
	a.say(fmt.Sprintf("%s works with tables %s, %d questions at a time; Ctrl-C gives back what is not done", w.Name, tables, slots))
	if err := f.Work(ctx, w); err != nil {
		return err
	}
	a.say(fmt.Sprintf("%d tasks taken", w.Done()))
	return nil
}
