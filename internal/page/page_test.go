package page

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/source"
)

func site() *Site {
	return &Site{Asker: &memwall.Asker{Models: source.Inline{Rest: memwall.Catalog{}}}}
}

// told is a site whose pages share what their questions have in common, as those of one plan do.
var told = &Site{Asker: site().Asker.Remembering()}

func get(t testing.TB, href, pasted string) Response {
	t.Helper()
	path, query, _ := strings.Cut(href, "?")
	return told.Page(t.Context(), path, query, pasted)
}

// example is a plan that does not fit, and would.
const example = "m=llama-3.1-70b&on=2xh100&users=6&ctx=8k"

// plans are pages of all kinds.
var plans = []string{
	"/fit?" + example, "/fit?m=llama-3.1-8b&on=rtx-4090", "/fit?m=qwen3-30b-a3b&on=rtx-4090&weights=q4_k_m&engine=llama.cpp&ctx=32k",
	"/fit?m=deepseek-v3&on=8xh200", "/fit?m=llama-3.1-8b", "/fit?m=llama-3.1-8b&on=2xrtx-3090&kv=q8_0&engine=llama-server",
	"/plan?m=llama-3.1-70b&on=2xh100&users=6&ctx=8k", "/pick?on=rtx-4090", "/train?m=llama-3.1-8b&on=8xh100", "/diagnose", "/serve?m=llama-3.1-8b&users=8&tpot=60ms&on=l40s", "/sim?m=llama-3.1-8b&on=l40s&rate=2&prompt=500&output=100&requests=200", "/pack", "/pack?on=2xh100&mig=true&models=3x qwen3-8b --weights fp8", "/learn", "/learn?topic=kv-cache", "/learn?topic=roofline&m=qwen3-8b&on=rtx-4090", "/serve", "/sim", "/train", "/pick", "/plan", "/fit",
}

// shown are pages that ask no question of the contract.
var shown = []string{
	"/models", "/models?q=qwen3", "/models/qwen3-32b", "/models/bge-m3", "/hardware", "/hardware/rtx-4090", "/formats", "/formats/bf16", "/formats/q4_k_m",
}

// TestPages: each is whole, says its title, and refers to nothing outside.
func TestPages(t *testing.T) {
	for _, href := range slices.Concat(plans, shown) {
		r := get(t, href, "")
		if r.Status != 200 || !strings.HasPrefix(r.HTML, "<!doctype html>") || !strings.HasSuffix(r.HTML, "</html>") {
			t.Errorf("%s: %d", href, r.Status)
		}
		if len(r.HTML) > 128<<10 { // the list of all models is the longest
			t.Errorf("%s: %d bytes", href, len(r.HTML))
		}
		if outside := regexp.MustCompile(`(src|href|action)="(https?:)?//`).FindString(r.HTML); outside != "" {
			t.Errorf("%s refers outside: %s", href, outside)
		}
		if at := regexp.MustCompile(` (style|on[a-z]+)="`).FindString(r.HTML); at != "" {
			t.Errorf("%s: %s is what the content security policy refuses", href, at)
		}
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(r.HTML, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two elements are #%s", href, m[1])
			}
			ids[m[1]] = true
		}
	}
}

var linkTo = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)

// TestLinks: every link of a page of a plan leads to an answer.
func TestLinks(t *testing.T) {
	for _, href := range plans[:4] {
		seen := map[string]bool{}
		for _, m := range linkTo.FindAllStringSubmatch(get(t, href, "").HTML, -1) {
			to := strings.NewReplacer("&amp;", "&", "&quot;", `"`).Replace(m[1])
			if seen[to] || to == "/" || strings.HasPrefix(to, "/plan") || strings.HasPrefix(to, "/pick") || strings.HasPrefix(to, "/autoscale") {
				continue // plans are searched, which takes its time
			}
			seen[to] = true
			if r := get(t, to, ""); r.Status != 200 {
				t.Errorf("%s links to %s: %d", href, to, r.Status)
			}
		}
		if len(seen) < 8 {
			t.Errorf("%s has %d links", href, len(seen))
		}
	}
}

// TestFiguresAreTheAnswers: what the page prints is what the answer says.
func TestFiguresAreTheAnswers(t *testing.T) {
	for _, href := range plans[:6] {
		path, query, _ := strings.Cut(href, "?")
		s, err := readState(strings.Trim(path, "/"), query)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.request()
		if err != nil {
			t.Fatal(err)
		}
		r.Explain = true
		a, err := memwall.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		html := get(t, href, "").HTML
		for _, row := range render.LedgerRows(a, 0) {
			if !strings.Contains(html, ">"+row.Figure+"<") {
				t.Errorf("%s: %s %s is not on the page", href, row.Name, row.Figure)
			}
		}
		if h := render.HeadOf(a); !strings.Contains(html, escapeText.Replace(h.Answer)) {
			t.Errorf("%s: no %q", href, h.Answer)
		}
	}
}

// TestOrigins: every number that can be opened opens.
func TestOrigins(t *testing.T) {
	for _, href := range plans[:3] {
		for _, m := range regexp.MustCompile(`href="([^"]*why=[^"]*)"`).FindAllStringSubmatch(get(t, href, "").HTML, -1) {
			to := strings.ReplaceAll(m[1], "&amp;", "&")
			if html := get(t, to, "").HTML; !strings.Contains(html, `class="prov"`) || !strings.Contains(html, `aria-expanded="true"`) {
				t.Errorf("%s opens nothing", to)
			}
		}
	}
}

// TestAddresses: the address of a page is its question's, sorted, and reads as the same question again.
func TestAddresses(t *testing.T) {
	for _, href := range plans {
		path, query, _ := strings.Cut(href, "?")
		s, err := readState(strings.Trim(path, "/"), query)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.request()
		if err != nil {
			t.Fatal(err)
		}
		_, again, _ := strings.Cut(s.href(), "?")
		back, err := readState(s.ask, again)
		if err != nil {
			t.Fatal(err)
		}
		r2, err := back.request()
		want, _ := json.Marshal(r)
		if got, _ := json.Marshal(r2); err != nil || string(got) != string(want) || back.href() != s.href() {
			t.Errorf("%s: %s, then %s", href, want, got)
		}
	}
}

// TestBadAddresses: each says what is wrong beside the question, and none is a failure of the page's.
func TestBadAddresses(t *testing.T) {
	for _, c := range []struct{ href, says string }{
		{"/fit?m=nosuch", "nosuch"},
		{"/fit?m=llama-3.1-8b&ctx=zzz", "zzz"},
		{"/fit?m=llama-3.1-8b&on=2xnosuch", "nosuch"},
		{"/fit?m=llama-3.1-8b&nofield=1", "nofield"},
		{"/fit?m=%zz", "not a query"},
		{"/learn?topic=nosuch", "nosuch"},
		{"/learn?topic=moe&m=nosuch", "nosuch"},
		{"/sim?m=llama-3.1-8b&on=l40s&rate=nan", "nan"},
		{"/sim?m=llama-3.1-8b&on=l40s&rate=1&trace=/etc/passwd", "trace"},
		{"/sim?m=llama-3.1-8b&on=l40s&rate=1&prompt=@/etc/passwd", "not read here"},
		{"/fit?m=" + strings.Repeat("x", mostLetters), "letters"},
		{"/fit?m=/etc/passwd", "/etc/passwd"},
		{"/fit?m=<script>alert(1)</script>", "&lt;script&gt;"},
		{"/fit?m=llama-3.1-8b&on=%22%3E%3Cscript%3E", "&lt;script&gt;"},
		{"/fit?m=llama-3.1-70b&on=2xh100&tp=3", "tp"},
	} {
		r := get(t, c.href, "")
		if r.Status != 422 || !strings.Contains(r.HTML, c.says) || !strings.Contains(r.HTML, `role="alert"`) {
			t.Errorf("%.60s: %d", c.href, r.Status)
		}
		if strings.Contains(r.HTML, "<script>") {
			t.Errorf("%.60s: a word became markup", c.href)
		}
	}
	if r := get(t, "/nowhere", ""); r.Status != 404 {
		t.Errorf("nowhere: %d", r.Status)
	}
}

// TestCommands: a command line in the model's place is taken apart; the page then speaks of what it says.
func TestCommands(t *testing.T) {
	html := get(t, "/fit?on=2xh100&m="+url.QueryEscape("vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2 --max-model-len 16384 --no-such-thing 3"), "").HTML
	for _, want := range []string{`value="16384"`, `name="tp" value="2"`, "no-such-thing", `value="2xh100"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, c := range []struct{ pasted, says string }{{`{"model_type": "llama"}`, "config.json"}, {"CUDA out of memory. Tried", "Diagnose"}, {"rm -rf / now", "rm"}} {
		if r := get(t, "/fit?m="+url.QueryEscape(c.pasted), ""); r.Status != 422 || !strings.Contains(r.HTML, c.says) {
			t.Errorf("%s: %d", c.pasted, r.Status)
		}
	}
}

// TestPasted: what is pasted is answered and stands in no address.
func TestPasted(t *testing.T) {
	const log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.40 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free. Process has 77.90 GiB memory in use. secret <b>"
	r := get(t, "/diagnose", log)
	if r.Status != 200 || !strings.Contains(r.HTML, "4.40 GiB") || strings.Contains(r.HTML, "secret <b>") {
		t.Errorf("%d\n%s", r.Status, r.HTML)
	}
	for _, m := range linkTo.FindAllStringSubmatch(r.HTML, -1) {
		if strings.Contains(m[1], "secret") {
			t.Errorf("what was pasted stands in %s", m[1])
		}
	}
	if !strings.Contains(r.HTML, `method="post"`) {
		t.Error("what is pasted would be part of an address")
	}
}

// TestHowMany: numbers of hardware are offered where one kind is named, and count what was named: nodes as nodes.
func TestHowMany(t *testing.T) {
	for on, want := range map[string]string{"2xh100": "on=4xh100", "h100": "on=2xh100", "p5.48xlarge": "on=2xp5.48xlarge", "rtx-4090%2Brtx-3060": "", "name%3Dx,memory%3D48GiB,bandwidth%3D1TB/s": ""} {
		html := get(t, "/fit?m=llama-3.1-8b&on="+on, "").HTML
		if offered := strings.Contains(html, "<legend>devices</legend>"); offered != (want != "") || !strings.Contains(html, want) {
			t.Errorf("%s: offered %v, no %s", on, offered, want)
		}
	}
}

// TestExports: a plan's answer can be taken away; what has none says so as a page.
func TestExports(t *testing.T) {
	for ending, begins := range map[string]string{"svg": "<svg ", "csv": "item,GiB,band", "md": "| item | GiB |", "json": "{\n  \"schema\": \"memwall/1\""} {
		if r := get(t, "/fit."+ending+"?"+example, ""); r.Status != 200 || r.Type == "" || !strings.HasPrefix(r.HTML, begins) {
			t.Errorf("%s: %d %s %.60s", ending, r.Status, r.Type, r.HTML)
		}
		if r := get(t, "/fit."+ending+"?m=nosuch", ""); r.Status != 422 || r.Type != "" {
			t.Errorf("%s of an unknown model: %d %s", ending, r.Status, r.Type)
		}
	}
	for href, begins := range map[string]string{"/pick.csv?on=rtx-4090": "model,score,format,", "/pick.json?on=rtx-4090": "{", "/plan.md?m=llama-3.1-70b&on=2xh100": "|  | ", "/train.svg?m=llama-3.1-8b&on=8xh100": "<svg ", "/train.csv?m=llama-3.1-8b&on=8xh100": "item,GiB", "/sim.svg?m=llama-3.1-8b&on=l40s&rate=2&requests=100": "<svg ", "/sim.csv?m=llama-3.1-8b&on=l40s&rate=2&requests=100": ",p50,p90"} {
		if r := get(t, href, ""); r.Status != 200 || !strings.HasPrefix(r.HTML, begins) {
			t.Errorf("%s: %d %.60s", href, r.Status, r.HTML)
		}
	}
	for _, href := range []string{"/fit.exe?" + example, "/learn.svg?topic=kv-cache", "/diagnose.csv", "/pick.svg?on=rtx-4090", "/fit.?" + example} {
		if r := get(t, href, ""); r.Status != 404 {
			t.Errorf("%s: %d", href, r.Status)
		}
	}
}

// TestBeside: plans that were kept stand on one scale, at most three of them, and each can be taken away.
func TestBeside(t *testing.T) {
	kept := url.QueryEscape("m=llama-3.1-70b&on=2xh100&weights=fp8")
	href := "/fit?" + example + strings.Repeat("&vs="+kept, 5)
	html := get(t, href, "").HTML
	if n := strings.Count(html, `aria-label="take away"`); n != mostBeside {
		t.Errorf("%d plans beside", n)
	}
	one := get(t, "/fit?"+example+"&vs="+kept, "").HTML
	if n := strings.Count(one, "take away"); n != 1 {
		t.Errorf("%d plans beside", n)
	}
	if both := get(t, "/fit?"+example+"&vs="+kept+"&vs="+url.QueryEscape("m=llama-3.1-70b&on=4xh100"), "").HTML; !strings.Contains(both, `<td class="n b">`) || strings.Contains(one, ">any<") {
		t.Error("plans beside each other have no figures")
	}
}

func FuzzPage(f *testing.F) {
	for _, href := range plans[:6] {
		f.Add(href)
	}
	f.Add("/fit?m=llama-3.1-8b&on=rtx-4090&why=/devices/0/ledger/0/bytes&vs=m%3Dx")
	f.Fuzz(func(t *testing.T, href string) {
		if !strings.HasPrefix(href, "/fit") && !strings.HasPrefix(href, "/train") && !strings.HasPrefix(href, "/diagnose") {
			return // these search
		}
		if r := get(t, href, ""); r.Status == 500 || strings.Contains(r.HTML, "<script>") {
			t.Errorf("%d", r.Status)
		}
	})
}

func BenchmarkFit(b *testing.B) { benchmark(b, example) }

// BenchmarkDrag is what is drawn while a slider is dragged.
func BenchmarkDrag(b *testing.B) { benchmark(b, example+"&drag=1") }

// benchmark asks as a server does, which remembers.
func benchmark(b *testing.B, query string) {
	s := &Site{Asker: site().Asker.Remembering()}
	for b.Loop() {
		s.Page(b.Context(), "/fit", query, "")
	}
}

// TestElements: texts and attributes cannot become markup.
func TestElements(t *testing.T) {
	got := el("a", attr{"href", `/?a="b"&c`}, set("hidden"), when(false, txt("no")), txt("<b>&"), el("br")).String()
	if want := `<a href="/?a=&quot;b&quot;&amp;c" hidden>&lt;b&gt;&amp;<br></a>`; got != want {
		t.Error(got)
	}
}

// TestPartsAreShown: pages that stand in for a screen say all of it, as elements.
func TestPartsAreShown(t *testing.T) {
	for _, href := range plans {
		path, query, _ := strings.Cut(href, "?")
		if query == "" || !slices.Contains([]string{"/plan", "/pick", "/sim", "/serve"}, path) {
			continue
		}
		s, err := readState(strings.Trim(path, "/"), query)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.request()
		if err != nil {
			t.Fatal(err)
		}
		a, err := memwall.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		html := get(t, href, "").HTML
		if strings.Contains(html, "<pre") || !strings.Contains(html, "<thead>") {
			t.Errorf("%s has a screen for a table", href)
		}
		for _, b := range render.Parts(a) {
			for _, row := range b.Rows {
				for _, c := range row.Cells {
					for _, run := range c.Runs {
						if !strings.Contains(html, ">"+escapeText.Replace(run.Words)+"<") {
							t.Errorf("%s: no %q", href, run.Words)
						}
					}
				}
			}
		}
	}
}

// TestPastedConfig: a config.json is asked whether it fits, wherever it is pasted, and the page says an address that leads
// to the same answer.
func TestPastedConfig(t *testing.T) {
	e, err := catalog.Find("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	text := string(e.Config)
	at := regexp.MustCompile(`<main data-at="(/fit[^"]*m=config:[^"]*)"`)
	for _, c := range []struct{ href, pasted string }{{"/diagnose?on=rtx-4090", text}, {"/fit?on=rtx-4090&m=" + url.QueryEscape(text), ""}} {
		r := get(t, c.href, c.pasted)
		hit := at.FindStringSubmatch(r.HTML)
		if r.Status != 200 || hit == nil || !strings.Contains(r.HTML, "llama (pasted)") || !strings.Contains(r.HTML, "14.99") {
			t.Fatalf("%s: %d\n%s", c.href, r.Status, r.HTML)
		}
		if len(hit[1]) > 2000 {
			t.Errorf("an address of %d letters", len(hit[1]))
		}
		if again := get(t, strings.ReplaceAll(hit[1], "&amp;", "&"), ""); again.HTML != r.HTML {
			t.Error("the address leads to another page")
		}
		if !strings.Contains(r.HTML, "memwall fit ./config.json") {
			t.Error("no command")
		}
	}
	for pasted, says := range map[string]string{`{"model_type": "llama"`: "JSON", `{"a": 1}`: "architectures", "{" + strings.Repeat("[", 100_000): "JSON"} {
		if r := get(t, "/diagnose", pasted); r.Status != 422 || !strings.Contains(r.HTML, says) {
			t.Errorf("%.30s: %d %s", pasted, r.Status, r.HTML)
		}
	}
	if html := get(t, "/diagnose?on=2xh100", "vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 2").HTML; !strings.Contains(html, `name="tp" value="2"`) {
		t.Error("a pasted command is not asked whether it fits")
	}
}

// TestMoved: a link that says what its answer was, opened where it is another, says so; where nothing moved, nothing.
func TestMoved(t *testing.T) {
	for _, href := range []string{"/fit?" + example, "/train?m=llama-3.1-8b&on=8xh100", "/pick?on=rtx-4090", "/plan?m=llama-3.1-70b&on=2xh100"} {
		html := get(t, href, "").HTML
		hit := regexp.MustCompile(`data-was="([^"]*)"`).FindStringSubmatch(html)
		if len(hit) != 2 || len(hit[1]) > 200 {
			t.Fatalf("%s says not what it is: %v", href, hit)
		}
		says := strings.NewReplacer("&amp;", "&", "&quot;", `"`, "&lt;", "<", "&gt;", ">").Replace(hit[1])
		if again := get(t, href+"&was="+url.QueryEscape(says), "").HTML; again != html {
			t.Errorf("%s: nothing moved, and the page is another", href)
		}
		version, rest, _ := strings.Cut(says, "~")
		sum, words, _ := strings.Cut(rest, "~")
		for old, want := range map[string]string{
			version + "~00000000~" + words:       "the answer is the same, figures below it are not",
			"0.0.9~" + sum + "~Yes. 9 GiB free.": "by memwall 0.0.9, it was: <q>Yes. 9 GiB free.</q>",
			"1~2~<script>":                       "&lt;script&gt;",
		} {
			if got := get(t, href+"&was="+url.QueryEscape(old), ""); got.Status != 200 || !strings.Contains(got.HTML, want) || strings.Contains(got.HTML, "<script>") {
				t.Errorf("%s, %s: no %q", href, old, want)
			}
		}
		for _, none := range []string{"x", "~", strings.Repeat("~", 2000)} {
			if got := get(t, href+"&was="+none, ""); got.Status != 200 || strings.Contains(got.HTML, "has moved") {
				t.Errorf("%s: %.20s is taken for an answer", href, none)
			}
		}
	}
}

// TestInstead: a word that is wrong by a letter is mended by a click.
func TestInstead(t *testing.T) {
	for href, want := range map[string]string{"/fit?m=llama-3.1-8c&on=rtx-4090": "/fit?m=llama-3.1-8b&on=rtx-4090", "/fit?m=llama-3.1-8b&on=2xrtx-409": "/fit?m=llama-3.1-8b&on=2xrtx-4090"} {
		if html := strings.ReplaceAll(get(t, href, "").HTML, "&amp;", "&"); !strings.Contains(html, `href="`+want+`"`) {
			t.Errorf("%s does not lead to %s: %s", href, want, html)
		}
		if r := get(t, want, ""); r.Status != 200 {
			t.Errorf("%s: %d", want, r.Status)
		}
	}
}

// FuzzPasted: whatever is pasted is answered or refused, and none of it becomes markup.
func FuzzPasted(f *testing.F) {
	f.Add(`{"model_type": "llama"}`)
	f.Add("vllm serve meta-llama/Llama-3.1-8B --max-model-len 4k")
	f.Add("CUDA out of memory. <script>")
	f.Fuzz(func(t *testing.T, text string) {
		if r := get(t, "/diagnose", text); r.Status == 500 || strings.Contains(r.HTML, "<script>") {
			t.Errorf("%d", r.Status)
		}
	})
}
