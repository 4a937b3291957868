package hardware

import (
	"errors"
	"testing"
)

func TestOne(t *testing.T) {
	for _, c := range []struct{ text, id string }{{"h100", "h100-sxm-80gb"}, {"name=x,memory=24GiB", "x"},
		{"rtx-4090,host=64GiB", "rtx-4090"}, {"epyc-9654", "epyc-9654"}} {
		d, _, err := One(c.text)
		if err != nil || d.ID != c.id {
			t.Errorf("%q: %+v, %v", c.text, d, err)
		}
	}
	for _, c := range []struct{ text, code, problem string }{
		{"2xh100", BadField, "is not one device"}, {"p5.48xlarge", BadField, "is not one device"},
		{"rtx-4090+rtx-3060", BadField, "is not one device"},
		{"2xname=x,memory=24GiB", BadField, "is not one device"}, {"rtx-4091", UnknownHardware, "is not in the catalog"},
		{"name=x", BadField, "is missing"},
		{"cpu,host=64GiB", BadField, "is not one device"},
	} {
		_, _, err := One(c.text)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Code != c.code || e.Problem != c.problem || e.Fix == "" {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
