package studyfile

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Lock is a file that one process holds at a time. The system lets go of it when the process ends, however it ends.
type Lock struct {
	db   *sql.DB
	name string
}

// ErrHeld: another process holds it.
var ErrHeld = errors.New("another process holds it")

// Hold a file of the name, which is made; ErrHeld where another process does.
func Hold(ctx context.Context, name string) (*Lock, error) {
	at := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath(), RawQuery: "_pragma=busy_timeout(0)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			_ = db.Close() // the error before it is the one to tell
			if busy(err) {
				err = ErrHeld
			}
			return nil, err
		}
	}
	return &Lock{db, name}, nil
}

// busy is an error of SQLite of what somebody else has open.
func busy(err error) bool {
	return errors.Is(err, ErrHeld) || strings.Contains(err.Error(), "locked") || strings.Contains(err.Error(), "busy")
}

// Release it, and remove the file.
func (l *Lock) Release() {
	_ = l.db.Close()
	_ = os.Remove(l.name)
}
