package validation

import (
	"fmt"
	"os"
	"testing"
)

func TestDumpTraining(t *testing.T) {
	rows, err := Trainings()
	if err != nil {
		t.Fatal(err)
	}
	f, _ := os.Create("/tmp/t1work/dump.tsv")
	defer f.Close()
	for i := range rows {
		r := &rows[i]
		if r.Refused != "" {
			continue
		}
		p, err := r.Predict()
		if err != nil {
			t.Errorf("%s: %v", r.Name(), err)
			continue
		}
		x := &p[0]
		x = r.Read(p)
		fmt.Fprintf(f, "%d\t%s\t%s\t%s\t%s\t%d\t%.2f\t%v\t%.2f", r.Line, r.Source, r.Model, r.Ask.Method, r.Ask.Sharding, r.Ask.Devices, r.GiB, r.OOM, r.SMI)
		g := 1 << 30
		fmt.Fprintf(f, "\t%s\t%.2f\t%.2f\t%.2f\t%s", r.Counter, x.Allocated.Mid/float64(g), x.Reserved.Mid/float64(g), x.SMI.Mid/float64(g), x.Phases[x.Peak].Name)
		for k := range x.Phases {
			tot := x.Phases[k].Total()
			fmt.Fprintf(f, "\t%.2f", tot.Bytes.GiB())
		}
		x = &p[0]
		need := 0.0
		for k := range x.Needed {
			need += x.Needed[k].Bytes.GiB()
		}
		fmt.Fprintf(f, "\tneed=%.2f/%.2f\t", need, x.Usable.V/float64(g))
		for _, it := range x.Phases[x.Peak].Items {
			fmt.Fprintf(f, "%s=%.2f;", it.Name, it.Bytes.GiB())
		}
		fmt.Fprintf(f, "\tT=%d b=%d rec=%s fk=%v fl=%v fw=%s prec=%s ac=%d\n", r.Ask.SequenceLength, r.Ask.MicroBatch, r.Ask.Recompute, r.Ask.Training.Fused != nil && *r.Ask.Training.Fused, r.Ask.FusedLoss != nil && *r.Ask.FusedLoss, r.Ask.Framework, r.Ask.Precision, r.Ask.Accumulation)
	}
}
