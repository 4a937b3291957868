package studyfile

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/internal/study"
)

// Row is a result.
type Row struct {
	Index            int64
	Key              string
	Verdict, Failure string
	Dead             bool
	Worker           string
	Took             float64 // seconds
	Figures          study.Figures
	Answer           []byte // JSON; nil where it was not asked for
	Packed           []byte // the same by Pack, where somebody has done that; only written
}

// Done is how many points have a row, and how many of these are dead.
func (f *File) Done(ctx context.Context) (done, dead int64, err error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	err = f.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(dead), 0) FROM result").Scan(&done, &dead)
	if err != nil {
		return 0, 0, f.Broken(err)
	}
	return done, dead, nil
}

// Missing are the points from one on up to another that have no row.
func (f *File) Missing(ctx context.Context, from, to int64) ([]int64, error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	rows, err := f.QueryContext(ctx, f.Statement("SELECT point FROM result WHERE point >= ? AND point < ? ORDER BY point"), from, to)
	if err != nil {
		return nil, f.Broken(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var missing []int64
	next := from
	for rows.Next() {
		var have int64
		if err := rows.Scan(&have); err != nil {
			return nil, f.Broken(err)
		}
		for ; next < have; next++ {
			missing = append(missing, next)
		}
		next = have + 1
	}
	if err := rows.Err(); err != nil {
		return nil, f.Broken(err)
	}
	for ; next < to; next++ {
		missing = append(missing, next)
	}
	return missing, nil
}

const insert = "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (point) "

// Put keeps rows, all or none. Points that have one keep it; fresh tells which rows are of others.
func (f *File) Put(ctx context.Context, all []Row) (fresh []bool, err error) {
	return f.write(ctx, insert+"DO NOTHING", all)
}

// Replace the row of a point.
func (f *File) Replace(ctx context.Context, r Row) error {
	_, err := f.write(ctx, insert+`DO UPDATE SET question = excluded.question, verdict = excluded.verdict, failure = excluded.failure, dead = excluded.dead,
		worker = excluded.worker, took_s = excluded.took_s, figures = excluded.figures, answer = excluded.answer`, []Row{r})
	return err
}

// write rows, all or none, and tell which of them were written.
func (f *File) write(ctx context.Context, statement string, all []Row) (written []bool, err error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	tx, err := f.BeginTx(ctx, nil)
	if err != nil {
		return nil, f.Broken(err)
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	put, err := tx.PrepareContext(ctx, f.Statement(statement))
	if err != nil {
		return nil, f.Broken(err)
	}
	defer func() { _ = put.Close() }() // it ends with its transaction
	for i := range all {
		values, err := all[i].values()
		if err != nil {
			return nil, err
		}
		done, err := put.ExecContext(ctx, values...)
		if err != nil {
			return nil, f.Broken(err)
		}
		n, err := done.RowsAffected()
		if err != nil {
			return nil, f.Broken(err)
		}
		written = append(written, n > 0)
	}
	if err := tx.Commit(); err != nil {
		return nil, f.Broken(err)
	}
	return written, nil
}

// values of the columns, in their order.
func (r *Row) values() ([]any, error) {
	figures, err := json.Marshal(r.Figures)
	if err != nil {
		return nil, err
	}
	packed := r.Packed
	if packed == nil {
		packed, err = Pack(r.Answer)
	}
	return []any{r.Index, r.Key, r.Verdict, r.Failure, number(r.Dead), r.Worker, r.Took, string(figures), packed}, err
}

// Row of a point, with its answer; nil where there is none.
func (f *File) Row(ctx context.Context, point int64) (*Row, error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	r, err := scan(f.QueryRowContext(ctx, f.Statement("SELECT "+columns+", answer FROM result WHERE point = ?"), point), true)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, f.Broken(err)
	}
	return r, nil
}

// Drop the rows of a worker, which is named by the ID in brackets at the end of its name, and give their points.
func (f *File) Drop(ctx context.Context, id string) (points []int64, err error) {
	ctx, stop := context.WithTimeout(ctx, place.Patience)
	defer stop()
	rows, err := f.QueryContext(ctx, f.Statement("DELETE FROM result WHERE worker LIKE ? RETURNING point"), "%("+id+")")
	if err != nil {
		return nil, f.Broken(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	for rows.Next() {
		var point int64
		if err := rows.Scan(&point); err != nil {
			return nil, f.Broken(err)
		}
		points = append(points, point)
	}
	if err := rows.Err(); err != nil {
		return nil, f.Broken(err)
	}
	slices.Sort(points)
	return points, nil
}

// columns of a row but its answer.
const columns = "point, question, verdict, failure, dead, worker, took_s, figures"

// scan a row; without answers its last column is of no use.
func scan(from interface{ Scan(...any) error }, answers bool) (*Row, error) {
	r := &Row{}
	var dead int
	var figures string
	var packed []byte
	err := from.Scan(&r.Index, &r.Key, &r.Verdict, &r.Failure, &dead, &r.Worker, &r.Took, &figures, &packed)
	r.Dead = dead != 0
	if err == nil {
		err = json.Unmarshal([]byte(figures), &r.Figures)
	}
	if err == nil && answers {
		r.Answer, err = Unpack(packed)
	}
	return r, err
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Revive drops the dead, so that they are asked again.
func (f *File) Revive(ctx context.Context) (int64, error) {
	done, err := f.ExecContext(ctx, "DELETE FROM result WHERE dead <> 0")
	if err != nil {
		return 0, f.Broken(err)
	}
	return done.RowsAffected()
}

// All gives the rows in the order of their points, with their answers if they are asked for.
func (f *File) All(ctx context.Context, answers bool) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		column := "''"
		if answers {
			column = "answer"
		}
		rows, err := f.QueryContext(ctx, "SELECT "+columns+", "+column+" FROM result ORDER BY point")
		if err != nil {
			yield(nil, f.Broken(err))
			return
		}
		defer func() { _ = rows.Close() }() // rows.Err tells
		for rows.Next() {
			r, err := scan(rows, answers)
			if err != nil {
				yield(nil, f.Broken(err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, f.Broken(err))
		}
	}
}
