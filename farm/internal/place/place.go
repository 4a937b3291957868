// Package place opens tables that lie in an SQLite file, or in a Postgres database by its URL. What is not of the kind that is
// asked for is never touched. It is the only package that knows pgx.
package place

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/memwall/memwall"
)

// Patience is how long a database is waited for.
const Patience = 30 * time.Second

// Kind tells tables of one kind from other databases.
type Kind struct {
	Application, Version int    // SQLite's application id, and the version of the tables
	Is                   string // what such a place is, "results of a study"
	Flag                 string // that names it
	Again                string // what names one that may be used
	Busy, Wait           string // who else writes to it, and what to do meanwhile
	Database             string // what an address of a database should be
}

// Place is an open one.
type Place struct {
	*sql.DB
	Kind    *Kind
	Where   string // without passwords
	Dollars bool   // it is Postgres: parameters are $1, not ?
}

var database = regexp.MustCompile(`^postgres(ql)?://`)

// IsURL tells a database from a file.
func IsURL(where string) bool { return database.MatchString(where) }

// Open a place as it is; write may make it.
func (k *Kind) Open(where string, write bool) (*Place, error) {
	if IsURL(where) {
		db, err := sql.Open("pgx", where)
		return &Place{db, k, Shown(where), true}, err
	}
	mode := "ro"
	if write {
		mode = "rwc"
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(where)}).EscapedPath(),
		RawQuery: "mode=" + mode + "&_txlock=" + map[bool]string{true: "immediate", false: "deferred"}[write] +
			"&_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)"}
	db, err := sql.Open("sqlite", u.String())
	return &Place{db, k, where, false}, err
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

// Statement writes parameters as the database has them.
func (p *Place) Statement(q string) string {
	if !p.Dollars {
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

// Has reports whether a table is there.
func (p *Place) Has(ctx context.Context, table string) (bool, error) {
	q := "SELECT count(*) FROM sqlite_master WHERE name = ?"
	if p.Dollars {
		q = "SELECT count(*) FROM information_schema.tables WHERE table_name = ? AND table_schema = current_schema()"
	}
	var n int
	err := p.QueryRowContext(ctx, p.Statement(q), table).Scan(&n)
	return n > 0, err
}

// Mark is what names a new file as of its kind; "" for a database.
func (p *Place) Mark() string {
	if p.Dollars {
		return ""
	}
	return fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", p.Kind.Application, p.Kind.Version)
}

// Ours refuses a file of another kind, before a byte of it is touched.
func (k *Kind) Ours(where string) error {
	if IsURL(where) {
		return nil
	}
	info, err := os.Stat(where)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return k.Fault(where, where+" cannot be used", "a file that can be read and written")
	case !info.Mode().IsRegular():
		return k.Fault(where, where+" is not a file", k.Again)
	case info.Size() == 0:
		return nil
	}
	head := make([]byte, 100)
	file, err := os.Open(where)
	if err != nil {
		return k.Fault(where, where+" cannot be read", "a file that can be read and written")
	}
	n, _ := file.Read(head)
	_ = file.Close() // it was only read
	return k.headed(where, head, n)
}

// headed checks the first bytes of a file, as SQLite has them.
func (k *Kind) headed(where string, head []byte, n int) error {
	word := func(at int) int {
		return int(head[at])<<24 | int(head[at+1])<<16 | int(head[at+2])<<8 | int(head[at+3])
	}
	const versionAt, idAt = 60, 68
	switch {
	case n < len(head) || string(head[:16]) != "SQLite format 3\x00":
		return k.Fault(where, where+" is not "+k.Is, "another name: a file that is not memwall's own is not touched")
	case word(idAt) != k.Application:
		return k.Fault(where, where+" is a database of another program", "another name: a file that is not memwall's own is not touched")
	}
	return k.Known(where, word(versionAt))
}

// Known refuses tables of another version.
func (k *Kind) Known(where string, version int) error {
	if version == k.Version {
		return nil
	}
	return k.Fault(where, fmt.Sprintf("%s has tables of version %d, and this memwall-farm knows version %d", where, version, k.Version),
		"a newer memwall-farm, or another name")
}

// Fault is an error of a place, by the flag that names it.
func (k *Kind) Fault(where, message, hint string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: k.Flag, Value: where, Message: message, Hint: hint}
}

// Broken is an error of the database in words.
func (p *Place) Broken(err error) error {
	var known *memwall.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	hint := "a file in a folder that exists and can be written"
	switch {
	case Busy(err):
		return p.Kind.Fault(p.Where, p.Kind.Busy+p.Where, p.Kind.Wait)
	case strings.Contains(text, "full"):
		hint = "make room on the disk, then give the same command: what has come is kept"
	case p.Dollars:
		hint = p.Kind.Database
	}
	return p.Kind.Fault(p.Where, p.Where+" cannot be used: "+text, hint)
}

// ErrHeld: another process holds it.
var ErrHeld = errors.New("another process holds it")

// Busy is an error of what somebody else has open.
func Busy(err error) bool {
	return errors.Is(err, ErrHeld) || strings.Contains(err.Error(), "locked") || strings.Contains(err.Error(), "busy")
}
