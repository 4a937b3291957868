package studyfile

import (
	"context"
	"encoding/json"
	"iter"

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
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	err = f.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(dead), 0) FROM result").Scan(&done, &dead)
	if err != nil {
		return 0, 0, f.broken(err)
	}
	return done, dead, nil
}

// Missing are the points from one on up to another that have no row.
func (f *File) Missing(ctx context.Context, from, to int64) ([]int64, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	rows, err := f.db.QueryContext(ctx, f.query("SELECT point FROM result WHERE point >= ? AND point < ? ORDER BY point"), from, to)
	if err != nil {
		return nil, f.broken(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var missing []int64
	next := from
	for rows.Next() {
		var have int64
		if err := rows.Scan(&have); err != nil {
			return nil, f.broken(err)
		}
		for ; next < have; next++ {
			missing = append(missing, next)
		}
		next = have + 1
	}
	if err := rows.Err(); err != nil {
		return nil, f.broken(err)
	}
	for ; next < to; next++ {
		missing = append(missing, next)
	}
	return missing, nil
}

// Put keeps rows, all or none. Points that have one keep it; n is how many were new.
func (f *File) Put(ctx context.Context, all []Row) (n int64, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, f.broken(err)
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	put, err := tx.PrepareContext(ctx, f.query("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (point) DO NOTHING"))
	if err != nil {
		return 0, f.broken(err)
	}
	defer func() { _ = put.Close() }() // it ends with its transaction
	for i := range all {
		r := &all[i]
		figures, err := json.Marshal(r.Figures)
		if err != nil {
			return 0, err
		}
		packed := r.Packed
		if packed == nil {
			if packed, err = Pack(r.Answer); err != nil {
				return 0, err
			}
		}
		done, err := put.ExecContext(ctx, r.Index, r.Key, r.Verdict, r.Failure, number(r.Dead), r.Worker, r.Took, string(figures), packed)
		if err != nil {
			return 0, f.broken(err)
		}
		one, err := done.RowsAffected()
		if err != nil {
			return 0, f.broken(err)
		}
		n += one
	}
	if err := tx.Commit(); err != nil {
		return 0, f.broken(err)
	}
	return n, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Revive drops the dead, so that they are asked again.
func (f *File) Revive(ctx context.Context) (int64, error) {
	done, err := f.db.ExecContext(ctx, "DELETE FROM result WHERE dead <> 0")
	if err != nil {
		return 0, f.broken(err)
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
		rows, err := f.db.QueryContext(ctx, "SELECT point, question, verdict, failure, dead, worker, took_s, figures, "+column+" FROM result ORDER BY point")
		if err != nil {
			yield(nil, f.broken(err))
			return
		}
		defer func() { _ = rows.Close() }() // rows.Err tells
		for rows.Next() {
			r := &Row{}
			var dead int
			var figures string
			var packed []byte
			err := rows.Scan(&r.Index, &r.Key, &r.Verdict, &r.Failure, &dead, &r.Worker, &r.Took, &figures, &packed)
			r.Dead = dead != 0
			if err == nil {
				err = json.Unmarshal([]byte(figures), &r.Figures)
			}
			if err == nil && answers {
				r.Answer, err = Unpack(packed)
			}
			if err != nil {
				yield(nil, f.broken(err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, f.broken(err))
		}
	}
}
