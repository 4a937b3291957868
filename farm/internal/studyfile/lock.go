package studyfile

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"

	"github.com/memwall/memwall/farm/internal/place"
)

// Lock is a file that one process holds at a time. The system lets go of it when the process ends, however it ends.
type Lock struct {
	db   *sql.DB
	name string
}

// Hold a file of the name, which is made; place.ErrHeld where another process does.
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
			if place.Busy(err) {
				err = place.ErrHeld
			}
			return nil, err
		}
	}
	return &Lock{db, name}, nil
}

// Release it, and remove the file.
func (l *Lock) Release() {
	_ = l.db.Close()
	_ = os.Remove(l.name)
}
