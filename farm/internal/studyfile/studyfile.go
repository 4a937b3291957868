// Package studyfile keeps the results of a study in tables: an SQLite file, or a Postgres database by its URL. Others may
// read them meanwhile. What is not results of this study is never touched.
//
// Open studyfile.go for the tables and how a place is opened, rows.go for what is written and read.
package studyfile

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nuid"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/source/regular"
)

// kind tells the results of a study from other databases: "mwst", and the version of the tables.
var kind = &place.Kind{
	Application: 0x6d777374, Version: 1, Is: "the results of a study", Flag: "out", Again: "--out FILE, new or of the same study",
	Busy: "another sweep writes to ", Wait: "one sweep at a time: memwall-farm report reads it meanwhile",
	Database: "postgres://USER:PASSWORD@HOST/DATABASE?sslmode=require of a server that runs; a database of its own for each study",
}

// tables of version 1. Answers are compressed JSON (DEFLATE), figures JSON; what differs is what came again and was another.
const tables = `
CREATE TABLE study (id TEXT PRIMARY KEY, name TEXT NOT NULL, ask TEXT NOT NULL, tables TEXT NOT NULL, memwall TEXT NOT NULL, points BIGINT NOT NULL, text TEXT NOT NULL, traces TEXT NOT NULL, reader TEXT NOT NULL);
CREATE TABLE result (point BIGINT PRIMARY KEY, question TEXT NOT NULL, verdict TEXT NOT NULL, failure TEXT NOT NULL, dead INTEGER NOT NULL, worker TEXT NOT NULL, took_s DOUBLE PRECISION NOT NULL, figures TEXT NOT NULL, answer %s NOT NULL);
`

// Study is what a place says of itself.
type Study struct {
	ID, Name, Ask, Tables string
	Points                int64
	// Text that it was read from, and the digests of its traces by name.
	Text   string
	Traces map[string]string
}

// File is an open place.
type File struct {
	*place.Place
	lock   *Lock     // held by who writes a file
	held   *sql.Conn // and a database
	study  Study
	reader string
}

// open a place as it is; write may make it.
func open(where string, write bool) (*File, error) {
	p, err := kind.Open(where, write)
	return &File{Place: p}, err
}

// Create opens the place of a study for writing, and makes it where there is nothing. A place of another study is refused,
// and so is one that somebody writes to.
func Create(ctx context.Context, where string, s *Study) (*File, error) {
	if err := kind.Ours(where); err != nil {
		return nil, err
	}
	if err := owners(where); err != nil {
		return nil, kind.Fault(where, where+" cannot be used", "a file that can be read and written")
	}
	f, err := open(where, true)
	if err != nil {
		return nil, f.Broken(err)
	}
	if err = f.hold(ctx); err == nil {
		err = f.begin(ctx, s)
	}
	if err != nil {
		_ = f.Close() // the error before it is the one to tell
		return nil, f.Broken(err)
	}
	return f, nil
}

// owners makes the files of a place that is a file, which only their owner may read.
func owners(where string) error {
	if place.IsURL(where) {
		return nil
	}
	return errors.Join(regular.Make(where), regular.Make(where+".lock"))
}

// Open opens a place to read it, while others may write.
func Open(ctx context.Context, where string) (*File, error) {
	if !place.IsURL(where) {
		if _, err := os.Stat(where); err != nil {
			return nil, kind.Fault(where, where+" is not there", "what --out of memwall-farm sweep names")
		}
	}
	if err := kind.Ours(where); err != nil {
		return nil, err
	}
	f, err := open(where, false)
	if err == nil {
		err = f.read(ctx)
	}
	if err != nil {
		_ = f.Close() // the error before it is the one to tell
		return nil, f.Broken(err)
	}
	return f, nil
}

// begin makes the tables of a new place, or finds out whether it is this study's. A file is marked as results before it has a
// log of writes: who is killed in between leaves what is known for one.
func (f *File) begin(ctx context.Context, s *Study) error {
	there, err := f.Has(ctx, "result")
	switch {
	case err != nil:
		return err
	case !there:
		err = f.make(ctx, s)
	default:
		if err = f.read(ctx); err == nil {
			err = f.same(s)
		}
	}
	if err != nil || f.Dollars {
		return err
	}
	_, err = f.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	return err
}

// same: results of one study are never mixed with those of another.
func (f *File) same(s *Study) error {
	switch {
	case f.study.ID == s.ID:
		return nil
	case f.study.Tables != s.Tables && f.study.Text == s.Text:
		return kind.Fault(f.Where, fmt.Sprintf("%s has the results of this study by tables %s, and this memwall-farm has %s: "+
			"answers may differ", f.Where, f.study.Tables, s.Tables), "another --out, or the memwall-farm that began it")
	}
	return kind.Fault(f.Where, fmt.Sprintf("%s has the results of another study, %q with %d questions", f.Where,
		or(f.study.Name, f.study.ID), f.study.Points), "another --out: a study file that was changed is another study; done questions "+
		"that both have are taken over with --store or --nats")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (f *File) make(ctx context.Context, s *Study) error {
	traces, err := json.Marshal(s.Traces)
	if err != nil {
		return err
	}
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	bytes := "BLOB"
	if f.Dollars {
		bytes = "BYTEA"
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(tables, bytes)+f.Mark()); err != nil {
		return err
	}
	f.study, f.reader = *s, nuid.Next()
	if _, err := tx.ExecContext(ctx, f.Statement("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"), s.ID, s.Name, s.Ask, s.Tables,
		memwall.Version, s.Points, s.Text, string(traces), f.reader); err != nil {
		return err
	}
	return tx.Commit()
}

// read what the place says of itself.
func (f *File) read(ctx context.Context) error {
	var traces string
	s := &f.study
	err := f.QueryRowContext(ctx, "SELECT id, name, ask, tables, points, text, traces, reader FROM study").Scan(&s.ID, &s.Name, &s.Ask,
		&s.Tables, &s.Points, &s.Text, &traces, &f.reader)
	if errors.Is(err, sql.ErrNoRows) {
		return kind.Fault(f.Where, f.Where+" has no study in it", "another --out")
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(traces), &s.Traces)
}

// hold the place against others who would write, until it is closed or this process is no more.
func (f *File) hold(ctx context.Context) error {
	if f.Dollars {
		return f.holdDatabase(ctx)
	}
	var err error
	f.lock, err = Hold(ctx, f.Where+".lock")
	return err
}

// holdDatabase holds a lock of the session, which the server drops with it.
func (f *File) holdDatabase(ctx context.Context) (err error) {
	if f.held, err = f.Conn(ctx); err != nil {
		return err
	}
	var held bool
	if err := f.held.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(kind.Application)).Scan(&held); err != nil {
		return err
	}
	if !held {
		return place.ErrHeld
	}
	return nil
}

// Study that the results are of.
func (f *File) Study() Study { return f.study }

// Reader tells this place from others of the same study.
func (f *File) Reader() string { return f.reader }

// Close ends it, and leaves one file.
func (f *File) Close() error {
	if f.Place == nil || f.DB == nil { // it was never open
		return nil
	}
	if f.held != nil {
		_ = f.held.Close() // gives the connection back, and the lock goes with it
	}
	if f.lock == nil {
		return f.DB.Close()
	}
	_, _ = f.Exec("PRAGMA journal_mode=DELETE") // who still reads keeps it as it is
	err := f.DB.Close()
	f.lock.Release()
	return err
}
