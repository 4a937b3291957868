package render_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/render/tui"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/learn"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

var update = flag.Bool("update", false, "write the golden files")

// read decodes a stored answer or card, as memwall --json wrote it.
func read[T any](t testing.TB, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func answer(t testing.TB, name string) *memwall.Answer {
	return read[memwall.Answer](t, "answers/"+name)
}

// The stored answers come from vLLM, which has none of these: an unknown part, host memory, a second model,
// eight groups of ranks and more.

func unknownPart(t testing.TB) *memwall.Answer {
	a := answer(t, "fits")
	a.Verdict, a.Rungs, a.Reasons, a.KV = memwall.Unknown, nil, nil, nil
	for i := range a.Devices[0].Ledger {
		if it := &a.Devices[0].Ledger[i]; it.ID == "kv_cache" {
			it.Unknown, it.Bytes, it.Low, it.High = true, 0, 0, 0
		}
	}
	a.Model = &memwall.ModelInfo{ID: "a-model-whose-file-has-a-name-that-goes-on-and-on-for-longer-than-anybody-likes.gguf"}
	a.Notes = append(a.Notes, memwall.Note{Code: "unknown_architecture", Severity: "warn",
		Text: "no family reads the architecture \"new\x1b[31mone\": weights are exact, caches unknown"})
	return a
}

func withHost(t testing.TB) *memwall.Answer {
	a := answer(t, "fits")
	const weights, ring, logits = 417 * unit.MiB, 8 * unit.GiB, 600 * unit.KiB
	a.Host = &memwall.Memory{Capacity: 62 * unit.GiB, Needed: weights + logits, NeededLow: weights + logits,
		NeededHigh: weights + logits + ring, Ledger: []memwall.Item{
			{ID: "weights", Name: "token embedding", Bytes: weights, Low: weights, High: weights, Place: ledger.Mapped},
			{ID: "prompt_cache", Name: "prompts of idle slots, up to --cache-ram", Low: 0, High: ring, Basis: ledger.Assumed,
				Place: ledger.Host, Source: "at most --cache-ram"},
			{ID: "output", Name: "output", Bytes: logits, Low: logits, High: logits, Place: ledger.Pinned},
		}}
	a.Also = []*memwall.Answer{answer(t, "tight"), {Error: &memwall.Error{Message: `no model called "lama"`}}}
	return a
}

func manyRanks(t testing.TB) *memwall.Answer {
	a := answer(t, "ranks")
	for len(a.Devices) < 12 {
		d := a.Devices[len(a.Devices)-1]
		d.Ranks = fmt.Sprint(len(a.Devices) * 2)
		d.Count = 1
		a.Devices = append(a.Devices, d)
	}
	return a
}

// twoKinds are unequal devices, the smaller one deciding.
func twoKinds(t testing.TB) *memwall.Answer {
	a := answer(t, "ranks")
	a.Devices = a.Devices[:2]
	for i, name := range []string{"GeForce RTX 3060 12GB", "GeForce RTX 4090"} {
		d := &a.Devices[i]
		d.Name, d.Ranks, d.Count, d.Limit = name, fmt.Sprint(1-i), 1, ""
	}
	a.Devices[0].Capacity, a.Devices[0].Usable = 20*unit.GiB, 19*unit.GiB
	return a
}

// longChange is a plan whose first change takes many words, and costs more memory than it saves.
func longChange(t testing.TB) *memwall.Answer {
	a := answer(t, "plan")
	c := &a.Ladder[1]
	c.Change = "llama.cpp + q4_k_m + KV q8_0 + experts of 24 of 60 layers on the host + a-word-that-is-longer-than-any-column-is-wide"
	c.Saves, c.Quality = -3*unit.GiB, &memwall.Quality{Metric: "mrcr-2needle-auc256k", Mid: -5.94}
	return a
}

// bareGoal is of a recording, on hardware that nobody asks a price for, whose highest load still holds.
func bareGoal(t testing.TB) *memwall.Answer {
	a := answer(t, "goal")
	a.Candidates = a.Candidates[:1]
	a.Plan.Workload = &workload.Spec{Arrivals: "trace", Trace: "monday.csv.gz"}
	f := a.Best.Fleet
	f.Replicas, f.USDPerHour, f.USDPerMillion, f.Price, f.Watts, f.Sure = 1, nil, nil, "", nil, nil
	for i := range f.Curve {
		f.Curve[i].Met, f.Curve[i].USDPerMillion = true, nil
	}
	a.Candidates[0], a.Surprises = *a.Best, nil
	return a
}

// fewServed is a simulation that was stopped, of several replicas and users of a closed loop of whom some were refused, some
// failed and some gave up; nobody knows how much it holds.
func fewServed(t testing.TB) *memwall.Answer {
	a := answer(t, "sim-grows")
	v := a.Simulated
	v.Stopped, v.DivergesAt, v.Capacity, v.Versus, v.Series = true, nil, nil, v.Versus[:1], nil
	v.Requests = memwall.Requests{Asked: 10_000, Finished: 1, Failed: 2, Refused: 3, HungUp: 4}
	v.RunsOut, v.TPOT, v.Versus[0].Capacity, v.Versus[0].TTFT, v.Versus[0].Pool = "max_num_seqs", nil, nil, nil, nil
	a.Plan.Replicas, a.Plan.Workload.Arrivals, a.Plan.Workload.Rate, a.Plan.Workload.Concurrency = 3, "closed", 0, 64
	a.Wall, a.Suggestions = 12, nil
	return a
}

// bareDiff is of plans without speeds, pools and measured formats.
func bareDiff(t testing.TB) *memwall.Answer {
	a := answer(t, "diff")
	d := a.Diff
	d.A.Speed, d.B.Speed, d.A.KV, d.B.KV = nil, nil, nil, nil
	d.DecodeRatio, d.FirstRatio, d.CostRatio, d.Quality = nil, nil, nil, nil
	return a
}

func watched(t testing.TB, name string, o tui.WatchOptions) func(term.Style) string {
	o.Zone = time.UTC
	return func(st term.Style) string { return tui.Watch(read[live.Picture](t, "answers/"+name), o, st) }
}

// troubled is a machine of ten devices of which little can be read, a second engine, and more held than was said.
func troubled(t testing.TB) *live.Picture {
	p := read[live.Picture](t, "answers/watch-said")
	d := p.Devices[0]
	off := *d.Off
	off.Bytes, off.Within, off.Why = 3*unit.GiB, false, "beyond the band; CUDA graphs is its least certain line"
	over := *d.Engines + 3*unit.GiB
	d.Engines, d.Off, d.Bar = &over, &off, append([]live.Stretch{{ID: live.Over, Bytes: 3 * unit.GiB}}, d.Bar...)
	p.Devices[0] = d
	p.Devices[1].Engines, p.Devices[1].Off, p.Devices[1].Used, p.Devices[1].Bar = nil, nil, nil, nil
	for i := range 8 {
		e := p.Devices[1]
		e.Index = 2 + i
		p.Devices = append(p.Devices, e)
	}
	first := 0
	p.Finding = live.Finding{Code: live.MoreThanSaid, Device: &first}
	p.Engines = append(p.Engines, live.EngineView{Engine: live.Engine{PID: 9, Name: "ollama", Model: "a-model-with-a-long-name:8b"},
		Unsaid: "remote"})
	p.Cost, p.Recording = nil, "a-file-with-a-very-long-name-of-its-own.db"
	for _, text := range []string{"nvidia-smi: has said nothing for 12s",
		"http://127.0.0.1:8001/metrics: the page holds no metric: is this the address of /metrics?", "three", "four\x1b[31m"} {
		p.Notes = append(p.Notes, memwall.Note{Severity: "warn", Text: text})
	}
	return p
}

// screens are all that is drawn, by name.
func screens(t testing.TB) map[string]func(term.Style) string {
	fit := func(a *memwall.Answer, opt render.FitOptions) func(term.Style) string {
		return func(st term.Style) string { return render.Fit(a, opt, st) }
	}
	train := func(name string, opt render.FitOptions) func(term.Style) string {
		return func(st term.Style) string { return render.Train(answer(t, name), opt, st) }
	}
	simulated := func(name string) func(term.Style) string {
		return func(st term.Style) string { return render.Sim(answer(t, name), render.SimOptions{}, st) }
	}
	plan := func(a *memwall.Answer, opt render.PlanOptions) func(term.Style) string {
		return func(st term.Style) string { return render.Plan(a, opt, st) }
	}
	layers := *read[[]memwall.LayerGroup](t, "answers/layers")
	devices := *read[struct {
		Devices []card.HardwareRow
		Nodes   []card.Node
	}](t, "cards/devices")
	formats := *read[struct {
		Formats []*card.Format
		Blocks  []*card.Format `json:"gguf_blocks"`
		Recipes []*card.Recipe

		Measured []*card.Published `json:"measured_only"`
	}](t, "cards/formats")
	return map[string]func(term.Style) string{
		"fits":            fit(answer(t, "fits"), render.FitOptions{}),
		"short":           fit(answer(t, "short"), render.FitOptions{}),
		"tight":           fit(answer(t, "tight"), render.FitOptions{}),
		"nowhere":         fit(answer(t, "nowhere"), render.FitOptions{}),
		"ranks":           fit(answer(t, "ranks"), render.FitOptions{}),
		"timed":           fit(answer(t, "timed"), render.FitOptions{}),
		"many":            fit(manyRanks(t), render.FitOptions{}),
		"mixed":           fit(twoKinds(t), render.FitOptions{}),
		"unknown":         fit(unknownPart(t), render.FitOptions{}),
		"host":            fit(withHost(t), render.FitOptions{}),
		"life":            fit(answer(t, "fits"), render.FitOptions{ByLife: true}),
		"notes":           fit(answer(t, "fits"), render.FitOptions{Notes: true}),
		"layers":          fit(answer(t, "fits"), render.FitOptions{Layers: layers}),
		"explain":         fit(answer(t, "fits"), render.FitOptions{Explain: render.All}),
		"explain-one":     fit(answer(t, "fits"), render.FitOptions{Explain: "kv_cache"}),
		"train":           train("train", render.FitOptions{}),
		"train-short":     train("train-short", render.FitOptions{}),
		"train-notes":     train("train", render.FitOptions{Notes: true}),
		"sim":             simulated("sim"),
		"sim-grows":       simulated("sim-grows"),
		"sim-nowhere":     simulated("sim-nowhere"),
		"sim-few":         func(st term.Style) string { return render.Sim(fewServed(t), render.SimOptions{Notes: true}, st) },
		"plan":            plan(answer(t, "plan"), render.PlanOptions{}),
		"plan-fits":       plan(answer(t, "plan-fits"), render.PlanOptions{}),
		"plan-none":       plan(answer(t, "plan-none"), render.PlanOptions{Notes: true}),
		"plan-any":        plan(answer(t, "plan-any"), render.PlanOptions{}),
		"plan-all":        plan(answer(t, "plan"), render.PlanOptions{All: true, If: true}),
		"plan-long":       plan(longChange(t), render.PlanOptions{}),
		"plan-train":      plan(answer(t, "plan-train"), render.PlanOptions{}),
		"plan-train-all":  plan(answer(t, "plan-train-cost"), render.PlanOptions{All: true}),
		"plan-train-cost": plan(answer(t, "plan-train-cost"), render.PlanOptions{}),
		"plan-train-none": plan(answer(t, "plan-train-none"), render.PlanOptions{Notes: true}),
		"goal":            plan(answer(t, "goal"), render.PlanOptions{}),
		"goal-day":        plan(answer(t, "goal-day"), render.PlanOptions{All: true}),
		"goal-none":       plan(answer(t, "goal-none"), render.PlanOptions{Notes: true}),
		"goal-bare":       plan(bareGoal(t), render.PlanOptions{}),
		"pick":            func(st term.Style) string { return render.Pick(answer(t, "pick"), st) },
		"pick-none":       func(st term.Style) string { return render.Pick(answer(t, "pick-none"), st) },
		"diff":            func(st term.Style) string { return render.Diff(answer(t, "diff"), st) },
		"diff-engine":     func(st term.Style) string { return render.Diff(answer(t, "diff-engine"), st) },
		"diff-bare":       func(st term.Style) string { return render.Diff(bareDiff(t), st) },
		"compare":         func(st term.Style) string { return render.Compare(answer(t, "compare"), false, st) },
		"model":           func(st term.Style) string { return cards.Model(read[card.Model](t, "cards/model"), st) },
		"tied":            func(st term.Style) string { return cards.Model(read[card.Model](t, "cards/tied"), st) },
		"models":          func(st term.Style) string { return cards.Models(modelRows(t), "llama", st) },
		"device":          func(st term.Style) string { return cards.Hardware(read[card.Hardware](t, "cards/device"), st) },
		"tiers":           func(st term.Style) string { return cards.Tiers(tiers(t), st) },
		"shared":          func(st term.Style) string { return cards.Hardware(read[card.Hardware](t, "cards/shared"), st) },
		"roof":            func(st term.Style) string { return render.Roof(read[memwall.Roof](t, "cards/roof"), st) },
		"roof-short":      func(st term.Style) string { return render.Roof(read[memwall.Roof](t, "cards/roof-short"), st) },
		"why":             func(st term.Style) string { return render.Why(read[card.Hardware](t, "cards/why"), st) },
		"devices":         func(st term.Style) string { return cards.Devices(devices.Devices, devices.Nodes, "h1", st) },
		"node":            func(st term.Style) string { return cards.Node(read[card.Node](t, "cards/node"), st) },
		"watch-leak":      watched(t, "watch-leak", tui.WatchOptions{}),
		"watch-said": watched(t, "watch-said",
			tui.WatchOptions{Keys: "q quit   e explain   r record   ? help", Rows: 24, Every: time.Second}),
		"watch-explain": watched(t, "watch-said", tui.WatchOptions{Explain: true, Notes: true}),
		"watch-help":    watched(t, "watch-leak", tui.WatchOptions{Help: true}),
		"watch-report": func(st term.Style) string {
			return tui.WatchReport(read[live.Report](t, "answers/watch-report"), "day.jsonl", st)
		},
		"watch-troubles":   func(st term.Style) string { return tui.Watch(troubled(t), tui.WatchOptions{Zone: time.UTC}, st) },
		"watch-nothing":    watched(t, "watch-nothing", tui.WatchOptions{}),
		"diagnose-train":   func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-train"), false, st) },
		"diagnose-ranks":   func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-ranks"), false, st) },
		"diagnose-growing": func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-growing"), false, st) },
		"diagnose-vllm":    func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-vllm"), false, st) },
		"diagnose-none":    func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-none"), false, st) },
		"diagnose-not":     func(st term.Style) string { return render.Diagnose(answer(t, "diagnose-not"), false, st) },
		"formats": func(st term.Style) string {
			return cards.Formats(formats.Formats, formats.Blocks, formats.Recipes, formats.Measured, "q4", st)
		},
		"format":    func(st term.Style) string { return cards.Format(read[card.Format](t, "cards/format"), st) },
		"block":     func(st term.Style) string { return cards.Format(read[card.Format](t, "cards/block"), st) },
		"recipe":    func(st term.Style) string { return cards.Recipe(read[card.Recipe](t, "cards/recipe"), st) },
		"unstated":  func(st term.Style) string { return cards.Recipe(read[card.Recipe](t, "cards/unstated"), st) },
		"cached":    func(st term.Style) string { return cards.Format(read[card.Format](t, "cards/cached"), st) },
		"published": func(st term.Style) string { return cards.Published(read[card.Published](t, "cards/published"), st) },
		"study": func(st term.Style) string {
			return cards.Study(read[card.Study](t, "cards/study"), cards.StudyOptions{}, st)
		},
		"study-held": func(st term.Style) string {
			return cards.Study(read[card.Study](t, "cards/study"), cards.StudyOptions{Held: true}, st)
		},
		"study-fits": func(st term.Style) string {
			return cards.Study(read[card.Study](t, "cards/study-fits"), cards.StudyOptions{All: true}, st)
		},
		"study-some": func(st term.Style) string { return cards.Study(someHeld(t), cards.StudyOptions{}, st) },
		"study-none": func(st term.Style) string { return cards.Study(noneHeld(t), cards.StudyOptions{}, st) },
		"study-begun": func(st term.Style) string {
			return cards.Study(&card.Study{Name: "begun", Criterion: card.Fitting, Points: 9}, cards.StudyOptions{}, st)
		},
		"methods": func(st term.Style) string { return cards.Methods(*read[[]*card.Method](t, "cards/methods"), "", st) },
		"order":   func(st term.Style) string { return cards.Order(read[card.Order](t, "cards/order"), "4", st) },
		"method": func(st term.Style) string {
			return cards.Methods((*read[[]*card.Method](t, "cards/methods"))[2:3], "fp8", st)
		},
		"lessons":      func(st term.Style) string { return render.Lessons(*read[[]learn.Topic](t, "lessons/list"), st) },
		"lesson":       func(st term.Style) string { return render.Lesson(read[learn.Lesson](t, "lessons/kv-cache"), st) },
		"lesson-books": func(st term.Style) string { return render.Lesson(read[learn.Lesson](t, "lessons/anatomy"), st) },
		"lesson-gaps":  func(st term.Style) string { return render.Lesson(read[learn.Lesson](t, "lessons/unknown"), st) },
		"question": func(st term.Style) string {
			return render.Question(&(*read[[]learn.Question](t, "lessons/questions"))[0], "1 of 2", st)
		},
		"choice": func(st term.Style) string {
			return render.Question(&(*read[[]learn.Question](t, "lessons/questions"))[1], "2 of 2", st)
		},
		"worked": func(st term.Style) string {
			return render.Worked(&(*read[[]learn.Question](t, "lessons/questions"))[0], "right", st)
		},
		"worked-wrong": func(st term.Style) string {
			return render.Worked(&(*read[[]learn.Question](t, "lessons/questions"))[1], "wrong", st)
		},
		"welcome": welcome.Text,
		"help":    help.Text,
		"errors":  errorsOf,
	}
}

// someHeld is a study of which one case has no design that meets the goal, and another none that does it ever.
func someHeld(t testing.TB) *card.Study {
	s := read[card.Study](t, "cards/study")
	s.Overall = nil
	for i := range s.Designs {
		if d := &s.Designs[i]; i >= s.Cases[3].From {
			d.Held, d.Front = 0, false
		} else if i >= s.Cases[1].From && i < s.Cases[2].From {
			d.Held, d.Front = min(d.Held, 9), false
		}
	}
	s.Cases[1].Held, s.Cases[1].Best, s.Cases[1].Nearest = 0, -1, s.Cases[1].From
	s.Cases[3].Held, s.Cases[3].Best = 0, -1
	return s
}

// noneHeld is a study of one case in which nothing meets the goal.
func noneHeld(t testing.TB) *card.Study {
	s := someHeld(t)
	c := s.Cases[1]
	s.Designs = s.Designs[c.From : c.From+c.Designs]
	c.From, c.Nearest, c.Name = 0, 0, ""
	s.Cases = []card.StudyCase{c}
	s.Failures = []card.Count{{What: "a worker said \x1b[31mno", N: 3}, {What: "does not fit", N: 2}}
	return s
}

// modelRows are stored without the word of the list.
func modelRows(t testing.TB) []card.ModelRow {
	rows := *read[[]card.ModelRow](t, "cards/models")
	for i := range rows {
		rows[i].Short, _, _ = strings.Cut(rows[i].Attention, " ×")
	}
	return rows
}

var welcome = &cards.Welcome{Lines: []string{"What it is.", "How sure it is.", "Where to look on."},
	Examples: []string{"memwall fit llama-3.1-8b --on rtx-4090"}, Machine: "2xrtx-4090"}

var help = &cards.Help{Use: "memwall fit MODEL", Short: "does it fit, and where does every byte go",
	Long: "MODEL is a catalog id or a file.", Examples: []string{"memwall fit llama-3.1-8b"},
	Groups: []cards.HelpGroup{{Name: "what and where",
		Rows: [][2]string{{"--on HARDWARE", "device, node or custom device, with counts: 2xh100, rtx-4090+rtx-3060, p5.48xlarge"},
			{"--ctx TOKENS", "tokens that one sequence may hold"}}}, {Name: "empty"}}}

// errorsOf draws errors of every shape, those of UX.md among them.
func errorsOf(st term.Style) string {
	var b strings.Builder
	for _, e := range []memwall.Error{
		{Message: "tp = 3 does not divide the 64 attention heads of llama-3.1-70b",
			Hint: "--tp 2 (the third GPU idle), or --on 4xh100 --tp 4"},
		{Message: `no model called "lama-3.1-70b"`, Hint: "did you mean: llama-3.1-70b, llama-3-70b, llama-3.1-8b"},
		{Message: `hardware "rtx-4091" is not in the catalog`, Hint: "did you mean rtx-4090?"},
		{Message: "m.gguf, byte 24: a name of 68,719,476,736 bytes in a file of 9.1 MB",
			Hint: "the file is damaged or cut short; fetch it again"},
		{Message: "nothing can be said"},
	} {
		b.WriteString(render.Error(&e, st))
	}
	return b.String()
}

// looked are the sizes and styles of the golden files; every screen is drawn at 80 columns, the main ones in
// all.
var looked = []struct {
	suffix string
	st     term.Style
	all    bool
}{
	{"80", term.Style{Width: 80}, true},
	{"60", term.Style{Width: 60}, false},
	{"120", term.Style{Width: 120}, false},
	{"40", term.Style{Width: 40}, false},
	{"80-colour", term.Style{Width: 80, Colour: term.Colours256}, false},
	{"80-ascii", term.Style{Width: 80, ASCII: true}, false},
}

var mainScreens = map[string]bool{"fits": true, "short": true, "tight": true, "ranks": true, "timed": true, "model": true, "device": true,
	"errors": true, "plan": true, "plan-train": true, "goal": true, "pick": true, "diff": true, "train": true, "train-short": true,
	"sim": true, "sim-grows": true, "lesson": true, "study": true}

// TestGolden compares every screen with the file that holds it; go test -update writes the files.
func TestGolden(t *testing.T) {
	for name, draw := range screens(t) {
		for _, l := range looked {
			if !l.all && !mainScreens[name] {
				continue
			}
			file := filepath.Join("testdata", "golden", name+"-"+l.suffix+".txt")
			got := draw(l.st)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
				continue
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s at %s (-want +got):\n%s", name, l.suffix, diff)
			}
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colour adds, it never carries: without it the text is the same.
func TestColourIsOnlyAdded(t *testing.T) {
	for name, draw := range screens(t) {
		for _, c := range []term.Colour{term.Colours16, term.Colours256} {
			coloured := draw(term.Style{Width: 80, Colour: c})
			if plain := draw(term.Style{Width: 80}); escapes.ReplaceAllString(coloured, "") != plain {
				t.Errorf("%s: the text differs with colour", name)
			} else if coloured == plain && name != "errors" {
				t.Errorf("%s: no colour at all", name)
			}
		}
	}
}

// No line is wider than asked, ends in a space, or holds what a terminal would obey.
func TestLines(t *testing.T) {
	for name, draw := range screens(t) {
		for width := term.MinWidth; width <= term.MaxWidth; width += 4 {
			for _, ascii := range []bool{false, true} {
				out := draw(term.Style{Width: width, ASCII: ascii})
				if !strings.HasSuffix(out, "\n") || strings.HasSuffix(out, "\n\n") || strings.Contains(out, "\n\n\n") {
					t.Errorf("%s at %d: blank lines", name, width)
				}
				for _, l := range strings.Split(out, "\n") {
					checkLine(t, fmt.Sprintf("%s at %d", name, width), l, width, ascii)
				}
			}
		}
	}
}

func checkLine(t *testing.T, at, l string, width int, ascii bool) {
	t.Helper()
	if term.Cells(l) > width {
		t.Errorf("%s: %d cells: %q", at, term.Cells(l), l)
	}
	if strings.TrimRight(l, " ") != l {
		t.Errorf("%s: a space at the end of %q", at, l)
	}
	for _, r := range l {
		if r < ' ' || r == 0x7f || ascii && r > 0x7f {
			t.Errorf("%s: %q in %q", at, r, l)
		}
	}
}

// The verdict is there at any width.
func TestVerdictIsNeverCut(t *testing.T) {
	for _, name := range []string{"fits", "short", "tight", "nowhere", "ranks"} {
		a := answer(t, name)
		out := render.Fit(a, render.FitOptions{}, term.Style{Width: term.MinWidth})
		if !strings.HasPrefix(out, string(term.MarkOf(a.Verdict).Sign)+" "+term.MarkOf(a.Verdict).Word) {
			t.Errorf("%s: %.60q", name, out)
		}
	}
}

// Numbers of a ledger table stand on one decimal point.
func TestLedgerAligns(t *testing.T) {
	row := regexp.MustCompile(`^  (?:[█▒░▓·╳] .*?\S|needed|may use) {2,}[<≥]?[0-9][0-9,]*(\.)[0-9]`)
	for _, name := range []string{"fits", "short", "tight", "ranks", "nowhere"} {
		for _, width := range []int{60, 80, 120} {
			column := map[int][]string{}
			for _, l := range strings.Split(render.Fit(answer(t, name), render.FitOptions{}, term.Style{Width: width}), "\n") {
				if m := row.FindStringSubmatchIndex(l); m != nil {
					at := term.Cells(l[:m[2]])
					column[at] = append(column[at], l)
				}
			}
			if len(column) != 1 {
				t.Errorf("%s at %d: decimal points in %d columns: %v", name, width, len(column), column)
			}
		}
	}
}

// The picture of a stored answer is well formed and follows its golden file.
func TestPicture(t *testing.T) {
	for _, name := range []string{"short", "ranks", "nowhere"} {
		got := string(svg.Ledger(answer(t, name)))
		file := filepath.Join("testdata", "golden", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// tiers are those of the card that has most of them measured.
func tiers(t testing.TB) *card.Tiers {
	t.Helper()
	out, err := card.TiersOf("a100-sxm-80gb")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Changes, names and figures of plans are whole at any width: they wrap.
func TestPlansAreNotCut(t *testing.T) {
	for name, draw := range screens(t) {
		kind, _, _ := strings.Cut(name, "-")
		if kind != "plan" && kind != "goal" && kind != "pick" && kind != "diff" {
			continue
		}
		for width := term.MinWidth; width <= term.MaxWidth; width++ {
			if out := draw(term.Style{Width: width}); strings.Contains(out, "…") {
				t.Errorf("%s at %d is cut:\n%s", name, width, out)
			}
		}
	}
}
