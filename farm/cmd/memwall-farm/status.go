package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/farm/internal/farm"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

func (a *app) status() *cobra.Command {
	p := &places{}
	c := &cobra.Command{
		Use: "status [RESULTS]", Short: "how far studies are: those of servers, or the one of a file",
		Example: "memwall-farm status study.db\nmemwall-farm status --nats nats://a,b,c",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && p.servers.URLs == "" {
				return a.statusOf(c, args[0])
			}
			if len(args) > 0 {
				return bad("argument", args[0], "status is of results, or of servers",
					"memwall-farm status study.db, or memwall-farm status --nats nats://a,b,c")
			}
			f, closed, err := p.join(c.Context(), a)
			if err != nil {
				return err
			}
			defer closed()
			all, err := f.List(c.Context())
			if err != nil {
				return err
			}
			return a.list(all)
		},
	}
	p.flags(c, a)
	return c
}

func (a *app) list(all []farm.Status) error {
	if a.json {
		return a.print(all)
	}
	if len(all) == 0 {
		a.tell("no studies")
	}
	for _, s := range all {
		name := s.Name
		if name == "" {
			name = "-"
		}
		words := fmt.Sprintf("%s  %-9s  %s", s.ID, s.State, name)
		if p := s.Progress; p != nil {
			words += fmt.Sprintf("  %d of %d", p.Done, p.Points)
		}
		if s.State == farm.Running {
			words += fmt.Sprintf("  %d waiting, %d with workers", s.Waiting, s.InFlight)
		}
		a.tell("%s", words)
	}
	return nil
}

func (a *app) statusOf(c *cobra.Command, where string) error {
	f, err := studyfile.Open(c.Context(), where)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s := f.Study()
	done, dead, err := f.Done(c.Context())
	if err != nil {
		return err
	}
	if a.json {
		return a.print(map[string]any{"id": s.ID, "name": s.Name, "tables": s.Tables, "points": s.Points, "done": done, "dead": dead})
	}
	words := fmt.Sprintf("%s  %s  %d of %d questions answered", s.ID, s.Name, done, s.Points)
	if dead > 0 {
		words += fmt.Sprintf(", %d of them by no worker", dead)
	}
	a.tell("%s", words)
	return nil
}

func (a *app) cancel() *cobra.Command {
	p := &places{}
	c := &cobra.Command{
		Use: "cancel STUDY", Short: "end a study on all machines, by its name or ID; what it has stays",
		Args: one("a study", "memwall-farm cancel fleet --nats nats://a,b,c"),
		RunE: func(c *cobra.Command, args []string) error {
			f, closed, err := p.join(c.Context(), a)
			if err != nil {
				return err
			}
			defer closed()
			s, err := f.Cancel(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.list([]farm.Status{*s})
		},
	}
	p.flags(c, a)
	return c
}

func (a *app) schema() *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "the JSON Schema of study files", Args: none, RunE: func(*cobra.Command, []string) error {
		data, err := study.Schema()
		if err == nil {
			_, err = a.out.Write(data)
		}
		return err
	}}
}
