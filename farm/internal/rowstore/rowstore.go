// Package rowstore keeps a team's rows of what was measured: an SQLite file that several may write to, or a Postgres database by
// its URL. A row lies there as memwall rows has it, with who added it and when; nothing is changed or taken away.
package rowstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/internal/rows"
	"github.com/memwall/memwall/source/regular"
)

// kind tells a store of rows from other databases: "mwrs", and the version of the tables.
var kind = &place.Kind{
	Application: 0x6d777273, Version: 1, Is: "a store of rows", Flag: "store", Again: "team.db, new or a store of rows",
	Busy: "somebody else has been writing for long to ", Wait: "the same command again: nothing was changed",
	Database: "postgres://USER:PASSWORD@HOST/DATABASE?sslmode=require of a server that runs; the database may be that of others",
}

// tables of version 1. The version stands in a table too, since Postgres has no other place for it.
const tables = `
CREATE TABLE IF NOT EXISTS memwall_store (version INTEGER PRIMARY KEY, memwall TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS memwall_row (id TEXT PRIMARY KEY, who TEXT NOT NULL, added TEXT NOT NULL, content TEXT NOT NULL);
`

// Bounds on what is read of a store: its rows are somebody else's.
const (
	maxRows = 100_000
	maxRow  = 64<<10 + 1
)

// Store is an open one.
type Store struct{ *place.Place }

// Create opens a store to add to it, and makes it where there is nothing.
func Create(ctx context.Context, where string) (*Store, error) {
	if err := kind.Ours(where); err != nil {
		return nil, err
	}
	if !place.IsURL(where) {
		if err := regular.Make(where); err != nil {
			return nil, kind.Fault(where, where+" cannot be used: "+regular.Cause(err).Error(),
				"a file in a folder that exists and can be written")
		}
	}
	s, err := opened(where, true)
	if err == nil {
		err = s.begin(ctx)
	}
	return s.orClosed(err)
}

// Open opens a store to read it, while others may write.
func Open(ctx context.Context, where string) (*Store, error) {
	if _, err := os.Stat(where); !place.IsURL(where) && err != nil {
		return nil, kind.Fault(where, where+" is not there", "memwall-farm store add "+where+" FILE makes it")
	}
	if err := kind.Ours(where); err != nil {
		return nil, err
	}
	s, err := opened(where, false)
	if err == nil {
		err = s.known(ctx, s.DB)
	}
	return s.orClosed(err)
}

func opened(where string, write bool) (*Store, error) {
	p, err := kind.Open(where, write)
	return &Store{p}, err
}

func (s *Store) orClosed(err error) (*Store, error) {
	if err == nil {
		return s, nil
	}
	if s.DB != nil {
		_ = s.Close() // the error before it is the one to tell
	}
	return nil, s.Broken(err)
}

// querier is a database, or a transaction.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// known refuses a store of another version. A file that somebody has only begun to make is an empty store.
func (s *Store) known(ctx context.Context, q querier) error {
	there, err := s.Has(ctx, "memwall_store")
	if err != nil || !there {
		return err
	}
	var version int
	err = q.QueryRowContext(ctx, "SELECT coalesce(max(version), 1) FROM memwall_store").Scan(&version)
	if err != nil {
		return err
	}
	return kind.Known(s.Where, version)
}

// begin makes the tables, or finds out whether they are of this version. Of two who begin at once, one waits.
func (s *Store) begin(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	there, err := s.Has(ctx, "memwall_store")
	if err != nil {
		return err
	}
	if there {
		return s.known(ctx, s.DB)
	}
	tx, err := s.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	if s.Dollars {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", kind.Application)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, tables+s.Mark()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, s.Statement("INSERT INTO memwall_store VALUES (?, ?) ON CONFLICT (version) DO NOTHING"),
		kind.Version, memwall.Version); err != nil {
		return err
	}
	return tx.Commit()
}

// Add puts rows into the store that it does not have, all or none of them, and gives how many there were already. A row stays
// with who added it first.
func (s *Store) Add(ctx context.Context, all []*rows.Row, who string, now time.Time) (added, had int, err error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	tx, err := s.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, s.Broken(err)
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	for _, r := range all {
		line, err := r.Line()
		if err != nil {
			return 0, 0, err
		}
		done, err := tx.ExecContext(ctx, s.Statement("INSERT INTO memwall_row VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"),
			r.ID(), who, now.UTC().Format(time.RFC3339), strings.TrimSpace(string(line)))
		if err != nil {
			return 0, 0, s.Broken(err)
		}
		n, err := done.RowsAffected()
		if err != nil {
			return 0, 0, s.Broken(err)
		}
		added += int(n)
	}
	if err := tx.Commit(); err != nil {
		return 0, 0, s.Broken(err)
	}
	return added, len(all) - added, nil
}

// All are the rows in the order in which they were added. A row that cannot be read is told and does not hide the others.
func (s *Store) All(ctx context.Context) (out []rows.Kept, err error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	if there, err := s.Has(ctx, "memwall_row"); err != nil || !there {
		return nil, s.Broken(err)
	}
	found, err := s.QueryContext(ctx, fmt.Sprintf("SELECT substr(id, 1, 100), substr(who, 1, 200), substr(added, 1, 40), "+
		"substr(content, 1, %d) FROM memwall_row ORDER BY added, id LIMIT %d", maxRow, maxRows+1))
	if err != nil {
		return nil, s.Broken(err)
	}
	defer func() { _ = found.Close() }() // Err tells
	for found.Next() {
		var e rows.Kept
		var content string
		if err := found.Scan(&e.ID, &e.Who, &e.Added, &content); err != nil {
			return nil, s.Broken(err)
		}
		if len(out) == maxRows {
			return nil, kind.Fault(s.Where, fmt.Sprintf("%s has more than %d rows", s.Where, maxRows), "a store for each team or each year")
		}
		readInto(&e, content)
		out = append(out, e)
	}
	return out, s.Broken(found.Err())
}

// readInto checks a row as any file of others is checked.
func readInto(e *rows.Kept, content string) {
	all, err := rows.Read([]byte(content))
	switch x, ok := errors.AsType[*rows.Error](err); {
	case len(content) >= maxRow:
		e.Why = "has more than 64 KiB"
	case ok:
		e.Why = strings.TrimPrefix(x.Error(), "row 1: ") + ": " + x.Fix
	case err != nil:
		e.Why = err.Error()
	case len(all) != 1:
		e.Why = fmt.Sprintf("holds %d rows in place of one", len(all))
	case all[0].ID() != e.ID:
		e.Why = "was changed after it was added: its content has another sum than its name"
	default:
		e.Row = all[0]
	}
}
