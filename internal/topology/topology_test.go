package topology_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/topology"
)

func fixture(t testing.TB, name string) string {
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAmong: matrices as nvidia-smi printed them. Sources: eight B300, sgl-project benchmark notes; four A100 in pairs, a
// blog of 2024-03 on NVLink; five of 24 and 32 GB, noonghunna/club-3090 issue 46; two 1080 Ti, a blog of 2024-01; four
// MI100 over PCIe, ROCm/rocm_smi_lib issue 108.
func TestAmong(t *testing.T) {
	for _, c := range []struct {
		file       string
		n          int
		kind, text string
	}{
		{"topo-8-nv18.txt", 8, "nvlink", "NV18 between all"},
		{"topo-4-nv12-pairs.txt", 4, "pairs", "NV12 between 0–1, 2–3, SYS between the others"},
		{"topo-5-mixed.txt", 5, "pcie", "PCI Express, from socket to socket (SYS)"},
		{"topo-2-phb.txt", 2, "pcie", "PCI Express, through the processor (PHB)"},
		{"rocm-4-pcie.txt", 4, "pcie", "PCI Express"},
	} {
		m, err := topology.Read(fixture(t, c.file))
		var all []int
		for i := range m {
			all = append(all, i)
		}
		if l := m.Among(all); err != nil || len(m) != c.n || l.Kind != c.kind || l.Text != c.text {
			t.Errorf("%s: %d devices, %+v, %v", c.file, len(m), l, err)
		}
	}
	m, _ := topology.Read(fixture(t, "topo-4-nv12-pairs.txt"))
	if l := m.Among([]int{2, 3}); l.Kind != "nvlink" {
		t.Errorf("the second pair: %+v", l)
	}
}

// cube is a DGX-1 with eight V100: each has six links to four others (the dump of NVIDIA/nccl issue 671).
const cube = `	GPU0	GPU1	GPU2	GPU3	GPU4	GPU5	GPU6	GPU7	CPU Affinity
GPU0	 X 	NV1	NV1	NV2	NV2	SYS	SYS	SYS	0-19
GPU1	NV1	 X 	NV2	NV1	SYS	NV2	SYS	SYS	0-19
GPU2	NV1	NV2	 X 	NV1	SYS	SYS	NV2	SYS	0-19
GPU3	NV2	NV1	NV1	 X 	SYS	SYS	SYS	NV2	0-19
GPU4	NV2	SYS	SYS	SYS	 X 	NV1	NV1	NV2	20-39
GPU5	SYS	NV2	SYS	SYS	NV1	 X 	NV2	NV1	20-39
GPU6	SYS	SYS	NV2	SYS	NV1	NV2	 X 	NV1	20-39
GPU7	SYS	SYS	SYS	NV2	NV2	NV1	NV1	 X 	20-39
`

// ofRows is a report as "tp:gpus way GB/s each way", those that are taken unless a program is told with a question mark.
func ofRows(r *topology.Report) string {
	var out []string
	for i := range r.Rows {
		w := &r.Rows[i]
		s := w.Group.Names() + " " + w.Group.Way
		if w.Rate != nil {
			s += " " + w.Rate.String()
		}
		if w.Unless {
			s += " ?"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// TestGroups: pairs of NVLink are kept together, a ring of unequal links has those of the GPU with fewest, a group without
// a ring of its own goes over PCI Express.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ text, device, want string }{
		{fixture(t, "topo-4-nv12-pairs.txt"), "a100-sxm-80gb", "0,1 NV12 300 GB/s; 0,1,2,3 SYS 31.5 GB/s"},
		{fixture(t, "topo-8-nv18.txt"), "b300-sxm-270gb",
			"0,1 NV18 900 GB/s; 0,1,2,3 NV18 900 GB/s; 0,1,2,3,4,5,6,7 NV18 900 GB/s"},
		{fixture(t, "topo-5-mixed.txt"), "rtx-3090", "1,2 PHB 31.5 GB/s; 0,1 SYS 31.5 GB/s ?; 1,2,3,4 NODE 31.5 GB/s; 0,1,2,3 SYS 31.5 GB/s ?"},
		{cube, "v100-sxm-32gb", "0,3 NV2 50 GB/s; 0,1 NV1 25 GB/s ?; 0,1,2,3 NV1 100 GB/s; 0,1,2,3,4,5,6,7 NV1 150 GB/s"},
		{strings.NewReplacer("NV12", "NV4").Replace(fixture(t, "topo-4-nv12-pairs.txt")), "rtx-a6000", "0,1 NV4 56.3 GB/s; 0,1,2,3 SYS 31.5 GB/s"},
		{strings.ReplaceAll(fixture(t, "rocm-4-pcie.txt"), "PCIE", "XGMI"), "mi210", "0,1 XGMI 150 GB/s; 0,1,2,3 XGMI 150 GB/s"},
	} {
		r, err := topology.For(c.text, c.device, &api.Request{}, nil)
		if err != nil || ofRows(r) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.device, err, ofRows(r), c.want)
		}
	}
	r, _ := topology.For(fixture(t, "topo-4-nv12-pairs.txt"), "a100-sxm-80gb", &api.Request{}, nil)
	if also := r.Rows[0].Also; len(also) != 1 || also[0].Names() != "2,3" {
		t.Errorf("beside 0,1: %+v", also)
	}
}

// TestCosts: the same model on pairs with NVLink and over PCIe: what crosses the socket takes longer and reads prompts
// slower; all answers are of one engine and format; GPUs that cannot hold the model have no speed but a verdict.
func TestCosts(t *testing.T) {
	ask := func(r *api.Request) (*api.Answer, error) { return (&memwall.Asker{}).Ask(r) }
	r, err := topology.For(fixture(t, "topo-4-nv12-pairs.txt"), "a100-sxm-80gb", &api.Request{Model: "llama-3.1-70b"}, ask)
	if err != nil || len(r.Rows) != 3 || len(r.Notes) > 0 {
		t.Fatal(err, r)
	}
	one, two, four := r.Rows[0].Cost, r.Rows[1].Cost, r.Rows[2].Cost
	if one.Verdict != api.DoesNotFit || two.Verdict != api.Fits || four.Verdict != api.Fits {
		t.Errorf("verdicts %s, %s, %s", one.Verdict, two.Verdict, four.Verdict)
	}
	if *four.Layer < 2**two.Layer || *four.Share < 3**two.Share || *four.Prefill > *two.Prefill || *four.Decode < *two.Decode {
		t.Errorf("a layer %g and %g µs, shares %g and %g, prompts %g and %g, decode %g and %g", *two.Layer, *four.Layer, *two.Share, *four.Share,
			*two.Prefill, *four.Prefill, *two.Decode, *four.Decode)
	}
	r, err = topology.For(fixture(t, "topo-5-mixed.txt"), "rtx-3090", &api.Request{Model: "llama-3.1-8b"}, ask)
	if err != nil || *r.Rows[0].Cost.Decode >= *r.Rows[1].Cost.Decode || r.Weights != "bf16" {
		t.Errorf("one card of five answers as fast as two, or in another format: %v %+v", err, r)
	}
	if _, err := topology.For(cube, "v100-sxm-32gb", &api.Request{Model: "nope"}, ask); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("a model that is none: %v", err)
	}
}

// TestWrong: what is not a matrix, or one of other devices, is answered with its place.
func TestWrong(t *testing.T) {
	for _, c := range []struct{ text, device, want string }{
		{"", "a100", "GPU0 GPU1"},
		{"Failed to initialize NVML", "a100", "is missing"},
		{"GPU0 CPU\nGPU0 X 0-3\n", "a100", "one GPU"},
		{"GPU0 GPU1\nGPU0 X PHB\n", "a100", "row GPU1 is missing"},
		{"GPU0 GPU1\nGPU0 X\nGPU1 PHB X\n", "a100", "row GPU0 has 1 columns"},
		{"\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tWAT\t X \n", "a100", "GPU0, GPU1: PHB, and back WAT"},
		{"\tGPU0\tGPU1\nGPU0\t X \tWAT\nGPU1\tWAT\t X \n", "a100", `"WAT" is not a way`},
		{"\tGPU0\tGPU1\nGPU0\tPHB\tPHB\nGPU1\tPHB\t X \n", "a100", "of itself"},
		{"GPU0 GPU2\nGPU0 X PHB\nGPU2 PHB X\n", "a100", "has GPU2 where GPU1 is due"},
		{"GPU0 GPU1\nGPU0 X NV18\nGPU1 NV18 X\n", "a100", "has 12 links"},
		{"GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n", "rtx-4090", "has no NVLink"},
		{"GPU0 GPU1\nGPU0 X XGMI\nGPU1 XGMI X\n", "a100", "none of AMD's"},
		{"GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n", "mi300x", "XGMI and PCIE"},
		{"GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n", "cpu", "not one kind"},
		{wide(20), "a100", "16 GPUs at most"},
		{wide(65), "a100", "more than 64"},
	} {
		_, err := topology.For(c.text, c.device, &api.Request{}, nil)
		var e *api.Error
		if !errors.As(err, &e) && err == nil {
			t.Errorf("%q is read", c.text)
			continue
		}
		if said := api.AsError(err).Message; !strings.Contains(said, c.want) || strings.Contains(said, "\n") {
			t.Errorf("%q on %s: %v, want %q", c.text[:min(40, len(c.text))], c.device, err, c.want)
		}
	}
}

// wide is a matrix of n GPUs over PCI Express.
func wide(n int) string {
	var b strings.Builder
	for row := -1; row < n; row++ {
		for col := -1; col < n; col++ {
			switch {
			case row < 0 && col >= 0:
				b.WriteString(" GPU" + itoa(col))
			case row >= 0 && col < 0:
				b.WriteString("GPU" + itoa(row))
			case row < 0:
			case row == col:
				b.WriteString(" X")
			default:
				b.WriteString(" PIX")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return string(rune('0'+n/10)) + string(rune('0'+n%10))
}

// FuzzRead: whatever is pasted, reading and grouping end, and groups name GPUs that are there.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"topo-8-nv18.txt", "topo-4-nv12-pairs.txt", "topo-5-mixed.txt", "topo-2-phb.txt", "rocm-4-pcie.txt"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := topology.Read(text)
		if err != nil {
			return
		}
		groups, err := m.Groups(2)
		for _, g := range groups {
			if len(g.GPUs) != 2 || g.GPUs[1] >= len(m) {
				t.Errorf("group %+v of %d", g, len(m))
			}
		}
		if err == nil && len(groups) == 0 {
			t.Error("no group of two")
		}
	})
}
