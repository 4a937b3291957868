package dtype

import "testing"

// Every entry says something, of a format that is listed, once, with its source.
func TestUses(t *testing.T) {
	listed := map[*Format]bool{}
	for _, list := range [][]*Format{Plain, GGML} {
		for _, f := range list {
			listed[f] = true
		}
	}
	seen := map[*Format]bool{}
	for _, u := range uses {
		switch {
		case u.Format == nil || !listed[u.Format]:
			t.Errorf("%+v: of no listed format", u)
		case seen[u.Format]:
			t.Errorf("%s stands twice", u.Format.Name)
		case u.Source == "" || u.Native == "" && u.StoredBy == "":
			t.Errorf("%s: %+v", u.Format.Name, u)
		case u.Beside == u.Format:
			t.Errorf("%s beside itself", u.Format.Name)
		case UseOf(u.Format) == nil:
			t.Errorf("%s is not found", u.Format.Name)
		}
		seen[u.Format] = true
	}
	for _, f := range []*Format{F32, F16, BF16, FP8E4M3, FP8E5M2, FP4E2M1, NF4, I8, I4} {
		if !seen[f] {
			t.Errorf("nothing is said of %s", f.Name)
		}
	}
	if UseOf(Bool) != nil {
		t.Error("something is said of bool")
	}
}

// What Why says of ranges and bits holds for the formats.
func TestWhys(t *testing.T) {
	if r := BF16.Float.Max() / F16.Float.Max(); r < 0x1p111 || r > 0x1p113 {
		t.Errorf("bf16 reaches %g times as far as f16, not 2^112", r)
	}
	if d := F16.Float.Fraction - BF16.Float.Fraction; d != 3 {
		t.Errorf("f16 has %d more fraction bits than bf16", d)
	}
	if FP8E5M2.Float.Exponent != F16.Float.Exponent || TF32.Float.Exponent != F32.Float.Exponent ||
		BF16.Float.Exponent != F32.Float.Exponent {
		t.Error("exponents")
	}
	if Q4_K.Bits() != Q4_0.Bits() || Q8_0.Bits() != 8.5 {
		t.Error("bits of blocks")
	}
}
