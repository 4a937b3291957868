package record

import (
	"database/sql"
	"encoding/json"
	"os"

	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

// Replay reads the newest run of a recording: each moment in order, with predictions before the moment from which on they
// hold. It ends with the first error that a function gives.
func Replay(name string, predict func(pid int, p *live.Prediction), moment func(*live.Moment) error) error {
	if _, err := os.Stat(name); err != nil {
		return broken(name, err)
	}
	if err := ours(name); err != nil {
		return err
	}
	db, err := open(name, "ro")
	if err != nil {
		return broken(name, err)
	}
	defer func() { _ = db.Close() }() // it was only read
	r := &reader{db: db}
	moments, ids := r.moments()
	said := r.predictions()
	for i := 0; r.err == nil && i < len(moments); i++ {
		m := &moments[i]
		for len(said) > 0 && said[0].at <= m.At {
			predict(said[0].pid, said[0].p)
			said = said[1:]
		}
		r.fill(m, ids[i])
		if r.err == nil {
			if err := moment(m); err != nil {
				return err
			}
		}
	}
	if r.err != nil {
		return broken(name, r.err)
	}
	return nil
}

// reader reads rows until an error.
type reader struct {
	db  *sql.DB
	err error
}

// rows calls scan for each row of a query.
func (r *reader) rows(query string, scan func(*sql.Rows) error, args ...any) {
	if r.err != nil {
		return
	}
	rows, err := r.db.Query(query, args...)
	if err != nil {
		r.err = err
		return
	}
	defer func() { _ = rows.Close() }() // its errors are those of Err
	for rows.Next() && err == nil {
		err = scan(rows)
	}
	if err == nil {
		err = rows.Err()
	}
	r.err = err
}

// newest is the run that is read.
const newest = "(SELECT max(run) FROM moment)"

// most moments of a run that are read: a day and a half, one a second.
const most = 1 << 17

func (r *reader) moments() (out []live.Moment, ids []int64) {
	r.rows("SELECT id, at_s, host_total_bytes, host_free_bytes FROM moment WHERE run = "+newest+" ORDER BY at_s, id LIMIT ?", func(rows *sql.Rows) error {
		var id int64
		var m live.Moment
		var total, free *int64
		err := rows.Scan(&id, &m.At, &total, &free)
		if total != nil && free != nil {
			m.Host = &live.Host{Total: unit.Bytes(*total), Free: unit.Bytes(*free)}
		}
		out, ids = append(out, m), append(ids, id)
		return err
	}, most)
	return out, ids
}

// predicted is a prediction from a time on.
type predicted struct {
	at  float64
	pid int
	p   *live.Prediction
}

func (r *reader) predictions() (out []predicted) {
	const most = 1024
	r.rows("SELECT at_s, pid, said FROM prediction WHERE run = "+newest+" ORDER BY at_s LIMIT ?", func(rows *sql.Rows) error {
		var text []byte
		p := predicted{p: &live.Prediction{}}
		if err := rows.Scan(&p.at, &p.pid, &text); err != nil {
			return err
		}
		out = append(out, p)
		return json.Unmarshal(text, p.p)
	}, most)
	return out
}

// fill reads what belongs to a moment.
func (r *reader) fill(m *live.Moment, id int64) {
	r.rows("SELECT device, name, id, total_bytes, used_bytes, free_bytes, busy, by_process FROM device WHERE moment = ? ORDER BY device", func(rows *sql.Rows) error {
		var d live.Device
		err := rows.Scan(&d.Index, &d.Name, &d.ID, &d.Total, &d.Used, &d.Free, &d.Busy, &d.ByProcess)
		m.Devices = append(m.Devices, d)
		return err
	}, id)
	at := map[int]int{}
	r.rows("SELECT pid, name, engine, resident_bytes, own_bytes FROM process WHERE moment = ? ORDER BY pid", func(rows *sql.Rows) error {
		var p live.Process
		err := rows.Scan(&p.PID, &p.Name, &p.Engine, &p.Resident, &p.Own)
		at[p.PID] = len(m.Processes)
		m.Processes = append(m.Processes, p)
		return err
	}, id)
	r.rows("SELECT pid, device, bytes FROM held WHERE moment = ? ORDER BY pid, device", func(rows *sql.Rows) error {
		var pid int
		var h live.Held
		err := rows.Scan(&pid, &h.Device, &h.Bytes)
		if i, ok := at[pid]; ok {
			m.Processes[i].Held = append(m.Processes[i].Held, h)
		}
		return err
	}, id)
	r.engines(m, id)
	r.rows("SELECT source, why FROM trouble WHERE moment = ? ORDER BY rowid", func(rows *sql.Rows) error {
		var t live.Trouble
		err := rows.Scan(&t.Source, &t.Why)
		m.Troubles = append(m.Troubles, t)
		return err
	}, id)
}

func (r *reader) engines(m *live.Moment, id int64) {
	r.rows(`SELECT pid, name, model, command, page, running, waiting, kv_usage, kv_tokens, prompt_tokens_per_s, output_tokens_per_s, preemptions_per_s, prefix_hit_rate, ttft_s, tpot_s, on_device_bytes
		FROM engine WHERE moment = ? ORDER BY rowid`, func(rows *sql.Rows) error {
		e := live.Engine{Reading: &live.Reading{}}
		x := e.Reading
		err := rows.Scan(&e.PID, &e.Name, &e.Model, &e.Command, &e.Page, &x.Running, &x.Waiting, &x.KVUsage, &x.KVTokens, &x.PromptRate, &x.OutputRate, &x.Preemptions, &x.HitRate, &x.TTFT, &x.TPOT, &x.OnDevice)
		if *x == (live.Reading{}) {
			e.Reading = nil
		}
		m.Engines = append(m.Engines, e)
		return err
	}, id)
}
