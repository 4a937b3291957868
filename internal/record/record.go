// Package record keeps moments of a watch in a file, and reads them back. The file is an SQLite database, so that other
// programs can ask it too; docs/guides/watch.md describes its tables. It is the only package that knows the library.
//
// Each watch is a run of its own; a recording that exists is gone on with, and others may read it meanwhile. A file that is
// no recording is never touched. Open record.go for the tables and how they are written, replay.go for how they are read.
package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/source/regular"
)

// What tells a recording from other databases: "mwrc" as SQLite's application id, and the version of the tables.
const (
	application = 0x6d777263
	version     = 1
)

// tables of version 1. Bytes and seconds are whole and real numbers; what nobody said is NULL.
const tables = `
CREATE TABLE run (id INTEGER PRIMARY KEY, began_s REAL NOT NULL, memwall TEXT NOT NULL);
CREATE TABLE prediction (run INTEGER NOT NULL REFERENCES run(id), pid INTEGER NOT NULL, at_s REAL NOT NULL, said TEXT NOT NULL);
CREATE TABLE moment (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), at_s REAL NOT NULL, host_total_bytes INTEGER, host_free_bytes INTEGER);
CREATE TABLE device (moment INTEGER NOT NULL REFERENCES moment(id), device INTEGER NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, total_bytes INTEGER NOT NULL, used_bytes INTEGER, free_bytes INTEGER, busy REAL, by_process INTEGER NOT NULL);
CREATE TABLE process (moment INTEGER NOT NULL REFERENCES moment(id), pid INTEGER NOT NULL, name TEXT NOT NULL, engine INTEGER NOT NULL, resident_bytes INTEGER, own_bytes INTEGER);
CREATE TABLE held (moment INTEGER NOT NULL REFERENCES moment(id), pid INTEGER NOT NULL, device INTEGER NOT NULL, bytes INTEGER);
CREATE TABLE engine (moment INTEGER NOT NULL REFERENCES moment(id), pid INTEGER NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL, command TEXT NOT NULL, page TEXT NOT NULL,
  running REAL, waiting REAL, kv_usage REAL, kv_tokens REAL, prompt_tokens_per_s REAL, output_tokens_per_s REAL, preemptions_per_s REAL, prefix_hit_rate REAL, ttft_s REAL, tpot_s REAL, on_device_bytes INTEGER);
CREATE TABLE trouble (moment INTEGER NOT NULL REFERENCES moment(id), source TEXT NOT NULL, why TEXT NOT NULL);
CREATE INDEX moment_run ON moment(run);
CREATE INDEX device_moment ON device(moment);
CREATE INDEX process_moment ON process(moment);
CREATE INDEX held_moment ON held(moment);
CREATE INDEX engine_moment ON engine(moment);
CREATE INDEX trouble_moment ON trouble(moment);
`

// Recording is a file that moments go to.
type Recording struct {
	db   *sql.DB
	run  int64
	said map[int]string
}

func fault(name, message, hint string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "record", Value: name, Message: message, Hint: hint}
}

// open opens a database by its name, which may hold any letter. Who writes takes the lock as a transaction begins: one that first
// read would be refused at once where two write.
func open(name, mode string) (*sql.DB, error) {
	query := "mode=" + mode + "&_pragma=busy_timeout(2000)"
	if mode != "ro" {
		query += "&_txlock=immediate"
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath(), RawQuery: query}
	db, err := sql.Open("sqlite", u.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// Create opens a recording to write to, makes one where there is no file, and begins a run in it.
func Create(name string, beganAt float64) (*Recording, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fault(name, name+" is no file", "--record FILE, new or of an earlier watch")
	case err == nil && info.Size() > 0:
		if err := ours(name); err != nil {
			return nil, err
		}
	}
	if err := regular.Make(name); err != nil {
		return nil, broken(name, err)
	}
	db, err := open(name, "rw")
	if err != nil {
		return nil, broken(name, err)
	}
	r := &Recording{db: db, said: map[int]string{}}
	if err := r.begin(beganAt); err != nil {
		_ = db.Close() // the error before it is the one to tell
		return nil, broken(name, err)
	}
	return r, nil
}

// ours refuses what is no recording, before a byte of it is touched.
func ours(name string) error {
	head := make([]byte, 72)
	f, err := os.Open(name)
	if err != nil {
		return broken(name, err)
	}
	n, _ := f.Read(head)
	_ = f.Close() // it was only read
	const idAt = 68
	if n < len(head) || string(head[:16]) != "SQLite format 3\x00" {
		return fault(name, name+" is no recording of memwall watch", "another name: a file that is not memwall's own is not touched")
	}
	if id := uint32(head[idAt])<<24 | uint32(head[idAt+1])<<16 | uint32(head[idAt+2])<<8 | uint32(head[idAt+3]); id != application {
		return fault(name, name+" is a database of another program", "another name: a file that is not memwall's own is not touched")
	}
	const versionAt = 60
	if v := uint32(head[versionAt])<<24 | uint32(head[versionAt+1])<<16 | uint32(head[versionAt+2])<<8 | uint32(head[versionAt+3]); v != version {
		return fault(name, fmt.Sprintf("%s has tables of version %d, and this memwall knows version %d", name, v, version), "a newer memwall, or another name")
	}
	return nil
}

func broken(name string, err error) error {
	text := err.Error()
	if e, ok := errors.AsType[*os.PathError](err); ok {
		text = e.Err.Error()
	}
	hint := "a file in a folder that exists and can be written"
	if strings.Contains(text, "locked") || strings.Contains(text, "busy") {
		hint = "another watch writes to it: give each its own file"
	}
	return fault(name, name+" cannot be used: "+text, hint)
}

// begin makes the tables of a new file and begins a run. The file is marked as a recording before it has a log of writes:
// who is killed in between leaves what is known for one.
func (r *Recording) begin(at float64) error {
	if err := r.make(); err != nil {
		return err
	}
	if err := r.journal("WAL"); err != nil {
		return err
	}
	if _, err := r.db.Exec("PRAGMA synchronous=NORMAL"); err != nil {
		return err
	}
	done, err := r.db.Exec("INSERT INTO run(began_s, memwall) VALUES (?, ?)", at, memwall.Version)
	if err != nil {
		return err
	}
	r.run, err = done.LastInsertId()
	return err
}

// journal sets how writes are kept safe, a property of the file. SQLite does not wait for another that is writing here as it does
// elsewhere; either mode is sound, so that who comes second takes the file as it is.
func (r *Recording) journal(mode string) error {
	_, err := r.db.Exec("PRAGMA journal_mode=" + mode)
	if err != nil && strings.Contains(err.Error(), "locked") {
		return nil
	}
	return err
}

func (r *Recording) make() error {
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	var made int
	if err := tx.QueryRow("SELECT count(*) FROM sqlite_master WHERE name = 'moment'").Scan(&made); err != nil || made > 0 {
		return err
	}
	if _, err := tx.Exec(tables + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", application, version)); err != nil {
		return err
	}
	return tx.Commit()
}

// Add writes a moment, and predictions that are new, as a whole.
func (r *Recording) Add(m *live.Moment, said map[int]*live.Prediction) error {
	tx, err := r.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	w := writer{tx: tx}
	if err := r.say(&w, m.At, said); err != nil {
		return err
	}
	w.moment(r.run, m)
	if w.err != nil {
		return w.err
	}
	return tx.Commit()
}

// say writes the predictions that are new.
func (r *Recording) say(w *writer, at float64, said map[int]*live.Prediction) error {
	for pid, p := range said {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if r.said[pid] != string(text) {
			w.put("INSERT INTO prediction VALUES (?, ?, ?, ?)", r.run, pid, at, string(text))
			r.said[pid] = string(text)
		}
	}
	return w.err
}

// Say writes predictions that came after the last moment, at its time.
func (r *Recording) Say(at float64, said map[int]*live.Prediction) error {
	tx, err := r.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	if err := r.say(&writer{tx: tx}, at, said); err != nil {
		return err
	}
	return tx.Commit()
}

// Close ends the recording, and leaves one file of it, unless another watch still writes to it.
func (r *Recording) Close() error {
	err := r.journal("DELETE")
	if closed := r.db.Close(); err == nil {
		err = closed
	}
	return err
}

// writer writes rows until one fails.
type writer struct {
	tx  *sql.Tx
	id  int64
	err error
}

func (w *writer) put(query string, args ...any) {
	if w.err != nil {
		return
	}
	done, err := w.tx.Exec(query, args...)
	if err == nil {
		w.id, err = done.LastInsertId()
	}
	w.err = err
}

func (w *writer) moment(run int64, m *live.Moment) {
	var total, free any
	if m.Host != nil {
		total, free = int64(m.Host.Total), int64(m.Host.Free)
	}
	w.put("INSERT INTO moment(run, at_s, host_total_bytes, host_free_bytes) VALUES (?, ?, ?, ?)", run, m.At, total, free)
	id := w.id
	for i := range m.Devices {
		d := &m.Devices[i]
		w.put("INSERT INTO device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", id, d.Index, d.Name, d.ID, int64(d.Total), whole(d.Used), whole(d.Free), d.Busy, d.ByProcess)
	}
	for i := range m.Processes {
		p := &m.Processes[i]
		w.put("INSERT INTO process VALUES (?, ?, ?, ?, ?, ?)", id, p.PID, p.Name, p.Engine, whole(p.Resident), whole(p.Own))
		for _, h := range p.Held {
			w.put("INSERT INTO held VALUES (?, ?, ?, ?)", id, p.PID, h.Device, whole(h.Bytes))
		}
	}
	for i := range m.Engines {
		e := &m.Engines[i]
		r := e.Reading
		if r == nil {
			r = &live.Reading{}
		}
		w.put("INSERT INTO engine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", id, e.PID, e.Name, e.Model, e.Command, e.Page,
			r.Running, r.Waiting, r.KVUsage, r.KVTokens, r.PromptRate, r.OutputRate, r.Preemptions, r.HitRate, r.TTFT, r.TPOT, whole(r.OnDevice))
	}
	for _, t := range m.Troubles {
		w.put("INSERT INTO trouble VALUES (?, ?, ?)", id, t.Source, t.Why)
	}
}

// whole is a number of bytes as a column takes it; NULL for what is not known.
func whole[T ~int64](b *T) any {
	if b == nil {
		return nil
	}
	return int64(*b)
}
