package unit

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]Bytes{
		"24GiB": 24 << 30, "80GB": 80e9, "80 GB": 80e9, "512MiB": 512 << 20, "1e9": 1e9, "1024": 1024, "0": 0, "1.5KiB": 1536,
		"9.4GiB": 10093173146, "0.0001KB": 0, "2tib": 2 << 40, "7B": 7,
		"9007199254740993": 9007199254740993,
	} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "GiB", "-1", "NaN", "inf", "1.3B", "1e30", "1e30GiB", "0x10", "1_000", "24 GiBs", "9999999999999999999",
		"--1"} {
		if got, err := ParseBytes(s); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", s, got)
		} else if !strings.Contains(err.Error(), `"`+s+`"`) {
			t.Errorf("the error for %q does not name it: %v", s, err)
		}
	}
}

func TestLengthsAreBinaryAndCountsDecimal(t *testing.T) {
	if n, _ := ParseLength("32k"); n != 32768 {
		t.Errorf("32k tokens are %d", n)
	}
	if n, _ := ParseLength("1M"); n != 1<<20 {
		t.Errorf("1M tokens are %d", n)
	}
	if n, _ := ParseCount("10M"); n != 10_000_000 {
		t.Errorf("a budget of 10M is %d", n)
	}
	if n, _ := ParseCount("2T"); n != 2e12 {
		t.Errorf("a budget of 2T is %d", n)
	}
}

func TestRates(t *testing.T) {
	if r, err := ParseByteRate("3.35TB/s"); err != nil || r != 3.35e12 {
		t.Errorf("%g, %v", float64(r), err)
	}
	if r, err := ParseFLOPRate("989 TFLOP/s"); err != nil || r != 989e12 {
		t.Errorf("%g, %v", float64(r), err)
	}
	if _, err := ParseByteRate("900GB"); err == nil {
		t.Error("a size passes for a rate")
	}
	if s := ByteRate(3.35e12).String(); s != "3.35 TB/s" {
		t.Error(s)
	}
	if s := FLOPRate(989.4e12).String(); s != "989 TFLOP/s" {
		t.Error(s)
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Size(0, 2), "0 B"}, {Size(1023, 2), "1023 B"}, {Size(160<<10, 2), "160.0 KiB"}, {Size(75*MiB, 2), "75.0 MiB"},
		{Size(GiB+GiB/4, 2), "1.25 GiB"},
		{Size(1200*GiB, 1), "1.17 TiB"}, {Fixed(0.001, 2), "<0.01"}, {Fixed(0, 2), "0.00"}, {Fixed(0.04, 1), "<0.1"},
		{Count(1234567), "1,234,567"}, {Count(-1000), "-1,000"}, {Count(12), "12"}, {Length(8192), "8k"}, {Length(131072), "128k"},
		{Length(29936), "29,936"}, {Length(1 << 20), "1M"}, {Length(100), "100"},
		{Rate(37.4), "37"}, {Rate(2398), "2,400"}, {Rate(5.24), "5.2"}, {Rate(99.7), "99.7"}, {Seconds(0.0265).String(), "27 ms"},
		{Seconds(0.71).String(), "0.71 s"}, {Seconds(6480).String(), "110 min"}, {Seconds(7200 * 3).String(), "6.0 h"},
		{(-GiB).String(), "-1.00 GiB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestDecimals(t *testing.T) {
	if d := Decimals(GiB, GiB, GiB); d != 2 {
		t.Errorf("exact: %d decimals", d)
	}
	if d := Decimals(GiB, GiB-GiB/10, GiB+GiB/10); d != 1 {
		t.Errorf("±0.1: %d decimals", d)
	}
}

// TestRoundTrip: what is printed exactly is read back.
func TestRoundTrip(t *testing.T) {
	if err := quick.Check(func(n uint32) bool {
		b := Bytes(n) * KiB
		got, err := ParseBytes(strings.ReplaceAll(Count(int64(b)), ",", ""))
		return err == nil && got == b
	}, nil); err != nil {
		t.Error(err)
	}
}

func TestIntegers(t *testing.T) {
	if err := quick.Check(func(a uint32, b uint16) bool {
		n, d := int64(a), int64(b)+1
		return CeilDiv(n, d) == int64(math.Ceil(float64(n)/float64(d))) && PadUp(n, d)%d == 0 && PadUp(n, d)-n < d
	}, nil); err != nil {
		t.Error(err)
	}
	if _, ok := MulOK(1<<40, 1<<40); ok {
		t.Error("2^80 fits in 63 bits")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"24GiB", "1e9", "32k", "3.35TB/s", "80TFLOPS", "-1", "NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := ParseBytes(s); err == nil && b < 0 {
			t.Errorf("ParseBytes(%q) = %d", s, b)
		}
		if n, err := ParseLength(s); err == nil && n < 0 {
			t.Errorf("ParseLength(%q) = %d", s, n)
		}
		_, _ = ParseCount(s)
		_, _ = ParseByteRate(s)
		_, _ = ParseFLOPRate(s)
	})
}

// TestPrintAndParse: what is printed for people is read back within what was rounded away.
func TestPrintAndParse(t *testing.T) {
	if err := quick.Check(func(n int64) bool {
		b := Bytes(n)
		got, err := ParseBytes(strings.TrimPrefix(b.String(), "-"))
		if err != nil && strings.Contains(b.String(), ".") {
			_, err = parseFloat(strings.TrimPrefix(b.String(), "-"), byteScales, "a size") // a part of a byte
			return err == nil
		}
		return err == nil && math.Abs(math.Abs(float64(n))-float64(got)) <= 0.005*math.Abs(float64(n))+0.05*float64(KiB)
	}, nil); err != nil {
		t.Error(err)
	}
	if err := quick.Check(func(n int64) bool {
		got, err := strconv.ParseInt(strings.ReplaceAll(Count(n), ",", ""), 10, 64)
		return err == nil && got == n
	}, nil); err != nil {
		t.Error(err)
	}
	for n := int64(1); n < 1<<40; n = n*3 + 1<<10 {
		if got, err := ParseLength(strings.ReplaceAll(Length(n), ",", "")); err != nil || got != n {
			t.Errorf("%d tokens are %s are %d, %v", n, Length(n), got, err)
		}
	}
}

// TestEnds: the largest and least numbers are printed.
func TestEnds(t *testing.T) {
	for _, b := range []Bytes{math.MinInt64, math.MinInt64 + 1, math.MaxInt64} {
		if s := b.String(); !strings.HasSuffix(s, "8388608.00 TiB") || strings.HasPrefix(s, "-") != (b < 0) {
			t.Errorf("%d is %s", int64(b), s)
		}
	}
	if s := Count(math.MinInt64); s != "-9,223,372,036,854,775,808" {
		t.Error(s)
	}
}

// FuzzPrint: every number has a print.
func FuzzPrint(f *testing.F) {
	f.Add(int64(math.MinInt64), math.Inf(-1))
	f.Add(int64(1<<40), 0.0265)
	f.Add(int64(-1), math.NaN())
	f.Fuzz(func(t *testing.T, n int64, x float64) {
		for _, s := range []string{
			Bytes(n).String(), Size(Bytes(n), 1), Count(n), Length(n), Fixed(x, 2), Significant(x, 3), Rate(x), Seconds(x).String(),
			ByteRate(x).String(), FLOPRate(x).String(), FLOPs(x).String(),
		} {
			if s == "" || len(s) > 400 {
				t.Errorf("%d, %g: %q", n, x, s)
			}
		}
	})
}
