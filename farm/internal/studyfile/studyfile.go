// Package studyfile keeps the results of a study in tables: an SQLite file, or a Postgres database by its URL. Others may
// read them meanwhile. What is no results of this study is never touched. It is the only package that knows pgx.
//
// Open studyfile.go for the tables and how a place is opened, rows.go for what is written and read.
package studyfile

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/nats-io/nuid"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source/regular"
)

// What tells the results of a study from other databases: "mwst" as SQLite's application id, and the version of the tables.
const (
	application = 0x6d777374
	version     = 1
)

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
	db      *sql.DB
	lock    *Lock     // held by who writes a file
	held    *sql.Conn // and a database
	where   string    // without passwords
	dollars bool      // parameters are $1, not ?
	study   Study
	reader  string
}

var database = regexp.MustCompile(`^postgres(ql)?://`)

// IsURL tells a database from a file.
func IsURL(where string) bool { return database.MatchString(where) }

// open a place as it is; write may make it.
func open(where string, write bool) (*File, error) {
	if IsURL(where) {
		db, err := sql.Open("pgx", where)
		return &File{db: db, where: Shown(where), dollars: true}, err
	}
	mode := "ro"
	if write {
		mode = "rwc"
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(where)}).EscapedPath(),
		RawQuery: "mode=" + mode + "&_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)"}
	db, err := sql.Open("sqlite", u.String())
	return &File{db: db, where: where}, err
}

// Shown is a place as it may be told: an address without its password.
func Shown(where string) string {
	if !IsURL(where) {
		return where
	}
	u, err := url.Parse(where)
	if err != nil {
		return "the database"
	}
	return u.Redacted()
}

// Create opens the place of a study for writing, and makes it where there is nothing. A place of another study is refused,
// and so is one that somebody writes to.
func Create(ctx context.Context, where string, s *Study) (*File, error) {
	if err := ours(where); err != nil {
		return nil, err
	}
	if err := owners(where); err != nil {
		return nil, fault(where, where+" cannot be used", "a file that can be read and written")
	}
	f, err := open(where, true)
	if err != nil {
		return nil, f.broken(err)
	}
	if err = f.hold(ctx); err == nil {
		err = f.begin(ctx, s)
	}
	if err != nil {
		_ = f.Close() // the error before it is the one to tell
		return nil, f.broken(err)
	}
	return f, nil
}

// owners makes the files of a place that is a file, which only their owner may read.
func owners(where string) error {
	if IsURL(where) {
		return nil
	}
	return errors.Join(regular.Make(where), regular.Make(where+".lock"))
}

// Open opens a place to read it, while others may write.
func Open(ctx context.Context, where string) (*File, error) {
	if !IsURL(where) {
		if _, err := os.Stat(where); err != nil {
			return nil, fault(where, where+" is not there", "what --out of memwall-farm sweep names")
		}
	}
	if err := ours(where); err != nil {
		return nil, err
	}
	f, err := open(where, false)
	if err == nil {
		err = f.read(ctx)
	}
	if err != nil {
		_ = f.Close() // the error before it is the one to tell
		return nil, f.broken(err)
	}
	return f, nil
}

// begin makes the tables of a new place, or finds out whether it is this study's. A file is marked as results before it has a
// log of writes: who is killed in between leaves what is known for one.
func (f *File) begin(ctx context.Context, s *Study) error {
	there, err := f.has(ctx)
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
	if err != nil || f.dollars {
		return err
	}
	_, err = f.db.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	return err
}

// same: results of one study are never mixed with those of another.
func (f *File) same(s *Study) error {
	switch {
	case f.study.ID == s.ID:
		return nil
	case f.study.Tables != s.Tables && f.study.Text == s.Text:
		return fault(f.where, fmt.Sprintf("%s has the results of this study by tables %s, and this memwall-farm has %s: answers may differ",
			f.where, f.study.Tables, s.Tables), "another --out, or the memwall-farm that began it")
	}
	return fault(f.where, fmt.Sprintf("%s has the results of another study, %q with %d questions", f.where, or(f.study.Name, f.study.ID),
		f.study.Points), "another --out: a study file that was changed is another study; done questions that both have are taken over "+
		"with --store or --nats")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (f *File) has(ctx context.Context) (bool, error) {
	q := "SELECT count(*) FROM sqlite_master WHERE name = 'result'"
	if f.dollars {
		q = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'result' AND table_schema = current_schema()"
	}
	var n int
	err := f.db.QueryRowContext(ctx, q).Scan(&n)
	return n > 0, err
}

func (f *File) make(ctx context.Context, s *Study) error {
	traces, err := json.Marshal(s.Traces)
	if err != nil {
		return err
	}
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	bytes, mark := "BLOB", fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", application, version)
	if f.dollars {
		bytes, mark = "BYTEA", ""
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(tables, bytes)+mark); err != nil {
		return err
	}
	f.study, f.reader = *s, nuid.Next()
	if _, err := tx.ExecContext(ctx, f.query("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"), s.ID, s.Name, s.Ask, s.Tables,
		memwall.Version, s.Points, s.Text, string(traces), f.reader); err != nil {
		return err
	}
	return tx.Commit()
}

// read what the place says of itself.
func (f *File) read(ctx context.Context) error {
	var traces string
	s := &f.study
	err := f.db.QueryRowContext(ctx, "SELECT id, name, ask, tables, points, text, traces, reader FROM study").Scan(&s.ID, &s.Name, &s.Ask,
		&s.Tables, &s.Points, &s.Text, &traces, &f.reader)
	if errors.Is(err, sql.ErrNoRows) {
		return fault(f.where, f.where+" has no study in it", "another --out")
	}
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(traces), &s.Traces)
}

// query writes parameters as the database has them.
func (f *File) query(q string) string {
	if !f.dollars {
		return q
	}
	var b strings.Builder
	n := 0
	for _, r := range q {
		if r == '?' {
			n++
			fmt.Fprintf(&b, "$%d", n)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hold the place against others who would write, until it is closed or this process is no more.
func (f *File) hold(ctx context.Context) error {
	if f.dollars {
		return f.holdDatabase(ctx)
	}
	var err error
	f.lock, err = Hold(ctx, f.where+".lock")
	return err
}

// holdDatabase holds a lock of the session, which the server drops with it.
func (f *File) holdDatabase(ctx context.Context) (err error) {
	if f.held, err = f.db.Conn(ctx); err != nil {
		return err
	}
	var held bool
	if err := f.held.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(application)).Scan(&held); err != nil {
		return err
	}
	if !held {
		return ErrHeld
	}
	return nil
}

// Study that the results are of.
func (f *File) Study() Study { return f.study }

// Reader tells this place from others of the same study.
func (f *File) Reader() string { return f.reader }

// Close ends it, and leaves one file.
func (f *File) Close() error {
	if f.db == nil { // it was never open
		return nil
	}
	if f.held != nil {
		_ = f.held.Close() // gives the connection back, and the lock goes with it
	}
	if f.lock == nil {
		return f.db.Close()
	}
	_, _ = f.db.Exec("PRAGMA journal_mode=DELETE") // who still reads keeps it as it is
	err := f.db.Close()
	f.lock.Release()
	return err
}

// ours refuses a file that is no results of a study, before a byte of it is touched.
func ours(where string) error {
	if IsURL(where) {
		return nil
	}
	info, err := os.Stat(where)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fault(where, where+" cannot be used", "a file that can be read and written")
	case !info.Mode().IsRegular():
		return fault(where, where+" is no file", "--out FILE, new or of the same study")
	case info.Size() == 0:
		return nil
	}
	head := make([]byte, 100)
	file, err := os.Open(where)
	if err != nil {
		return fault(where, where+" cannot be read", "a file that can be read and written")
	}
	n, _ := file.Read(head)
	_ = file.Close() // it was only read
	word := func(at int) uint32 {
		return uint32(head[at])<<24 | uint32(head[at+1])<<16 | uint32(head[at+2])<<8 | uint32(head[at+3])
	}
	const versionAt, idAt = 60, 68
	switch {
	case n < len(head) || string(head[:16]) != "SQLite format 3\x00":
		return fault(where, where+" is no results of a study", "another name: a file that is not memwall's own is not touched")
	case word(idAt) != application:
		return fault(where, where+" is a database of another program", "another name: a file that is not memwall's own is not touched")
	case word(versionAt) != version:
		return fault(where, fmt.Sprintf("%s has tables of version %d, and this memwall-farm knows version %d", where, word(versionAt),
			version), "a newer memwall-farm, or another name")
	}
	return nil
}

func fault(where, message, hint string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "out", Value: where, Message: message, Hint: hint}
}

// broken is an error of the database in words.
func (f *File) broken(err error) error {
	var known *memwall.Error
	if errors.As(err, &known) {
		return err
	}
	text := err.Error()
	hint := "a file in a folder that exists and can be written"
	switch {
	case busy(err):
		return fault(f.where, "another sweep writes to "+f.where, "one sweep at a time: memwall-farm report reads it meanwhile")
	case strings.Contains(text, "full"):
		hint = "make room on the disk, then give the same command: what has come is kept"
	case f.dollars:
		hint = "postgres://USER:PASSWORD@HOST/DATABASE?sslmode=require of a server that runs; a database of its own for each study"
	}
	return fault(f.where, f.where+" cannot be used: "+text, hint)
}

// patience is how long a database is waited for.
const patience = 30 * time.Second
