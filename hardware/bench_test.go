package hardware

import "testing"

// Cold: every lookup scans the table, for nothing is kept between calls.
func BenchmarkFind(b *testing.B) {
	for _, name := range []string{"h100", "rtx-4090", "ampereone-a192", "NVIDIA GeForce RTX 4090", "Apple M3 Max 12P+4E+40GPU",
		"System76 Thelio Astra (Nvidia A4000)"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Find(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFindMissing(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Find("rtx-4091"); err == nil {
			b.Fatal("found")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"8xh100", "2xp5.48xlarge", "rtx-4090+rtx-3060",
		"name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS,host=128GiB@200GB/s"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Parse(text, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		if len(All()) == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkPrices(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(Prices("h100-sxm-80gb")) == 0 {
			b.Fatal("empty")
		}
	}
}
