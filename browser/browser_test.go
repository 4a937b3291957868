// Package browser tries the page in a real browser, from a server and from a folder of files. It is a module of its own, so that
// nobody who imports memwall has what drives browsers among their modules.
package browser

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/serve"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/source"
)

// host is memwall serve.
func host(t *testing.T) string {
	t.Helper()
	models := source.Inline{Rest: memwall.Catalog{}}
	s, err := serve.New(serve.Options{Desk: desk.New(desk.Options{Asker: memwall.Asker{Models: models}}), Models: models, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// chromium is the browser of all tests: each has windows and a memory of its own in it. TestMain ends it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("no-sandbox", true), chromedp.WindowSize(1184, 900))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, close := chromedp.NewContext(ctx)
	quit = func() { close(); stop() }
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

var quit = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	quit()
	os.Exit(code)
}

// browse opens a browser that fails the test for what it complains about, and for requests to others than the host.
func browse(t *testing.T, home string) context.Context {
	t.Helper()
	ctx := browseQuietly(t)
	complain(t, ctx, home)
	return ctx
}

// browseQuietly opens a browser that may complain.
func browseQuietly(t *testing.T) context.Context {
	t.Helper()
	one, err := chromium()
	if err != nil {
		t.Fatalf("no browser: %v", err)
	}
	ctx, stop := chromedp.NewContext(one, chromedp.WithNewBrowserContext())
	context.AfterFunc(t.Context(), stop) // which ends before what is to be cleaned up, and the events with it
	t.Cleanup(stop)
	do(t, ctx, chromedp.EmulateViewport(1184, 900))
	ctx, stop = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// complain fails the test for what a browser complains about, and for requests to others than the host.
func complain(t *testing.T, ctx context.Context, home string) {
	heed(t, ctx, chromedp.Events(ctx, runtime.ConsoleAPICalled), func(e runtime.EventConsoleAPICalled) string {
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeWarning {
			return ""
		}
		return fmt.Sprint("the console says ", e.Type, " ", e.Args)
	})
	heed(t, ctx, chromedp.Events(ctx, runtime.ExceptionThrown), func(e runtime.EventExceptionThrown) string {
		return "the script fails: " + e.ExceptionDetails.Text
	})
	heed(t, ctx, chromedp.Events(ctx, cdplog.EntryAdded), func(e cdplog.EventEntryAdded) string {
		if e.Entry.Level != cdplog.EntryLevelError || strings.Contains(e.Entry.Text, "422") || strings.HasSuffix(e.Entry.URL, "/nowhere") ||
			strings.HasSuffix(e.Entry.URL, "/nope") {
			return ""
		}
		return "the browser says " + e.Entry.Text
	})
	heed(t, ctx, chromedp.Events(ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) string {
		if u := e.Request.URL; !strings.HasPrefix(u, home) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			return "a request to " + u
		}
		return ""
	})
}

// heed fails the test for events that are wrong.
func heed[E any](t *testing.T, ctx context.Context, events iter.Seq2[E, error], wrong func(E) string) {
	var done sync.WaitGroup
	done.Go(func() {
		for e, err := range events {
			if err != nil {
				return
			}
			if w := wrong(e); w != "" && ctx.Err() == nil {
				t.Error(w)
			}
		}
	})
	t.Cleanup(done.Wait)
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func ask[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func script[T any](t *testing.T, ctx context.Context, text string, how ...func(*runtime.EvaluateParams)) T {
	t.Helper()
	return ask(t, ctx, chromedp.Evaluate[T](text, how...))
}

// wait for what a script promises.
func wait(p *runtime.EvaluateParams) { yes := true; p.AwaitPromise = &yes }

// says waits until an element says some words: for long, where a machine is busy.
func says(t *testing.T, ctx context.Context, selector, words string) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, words),
		chromedp.WithPollingTimeout(time.Minute))); err != nil {
		said, _ := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("document.readyState + ' ' + location + ' ' + document.querySelector(%q)?.textContent", selector)))
		t.Fatalf("%s does not say %q: %v; %.600s", selector, words, err, said)
	}
}

func open(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(address))
}

func click(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	do(t, ctx, chromedp.Click(chromedp.CSS(selector)))
}

const short = "/fit?m=llama-3.1-70b&on=2xh100&users=6&ctx=8k&engine=vllm"

// TestPath is a person's: a model that does not fit, a change by a click, now it fits, the command that runs it.
func TestPath(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/fit?m=llama-3.1-70b&on=2xh100&users=6&ctx=8k")
	says(t, ctx, "#answer", "No.")
	click(t, ctx, "#rungs .pick a")
	says(t, ctx, "#answer", "Yes.")
	if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, "weights=fp8") {
		t.Errorf("the address is %s", at)
	}
	if command := ask(t, ctx, chromedp.Text(chromedp.CSS(".cmd code"))); !strings.Contains(command, "vllm serve") ||
		!strings.Contains(command, "Instruct-FP8-dynamic") {
		t.Errorf("the command is %s", command)
	}
	if copied := script[string](t, ctx, `new Promise(done => { navigator.clipboard.writeText = async text => done(text); document.querySelector('.copy').click() })`, wait); !strings.HasPrefix(copied, "vllm serve") || !strings.Contains(copied, "Instruct-FP8-dynamic") {
		t.Errorf("what is copied is %s", copied)
	}
	do(t, ctx, chromedp.NavigateBack())
	says(t, ctx, "#answer", "No.")
	script[any](t, ctx, `(() => { const w = document.querySelector('[name="m"]'); w.value = 'llama-3.1-8b'; w.form.requestSubmit() })()`)
	says(t, ctx, "#answer", "Yes.")
}

// TestSlider: the answer and the picture follow while a slider is dragged, within 50 ms, and the address when it rests.
func TestSlider(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short+"&weights=fp8")
	do(t, ctx, chromedp.WaitEnabled(chromedp.CSS("#s-ctx")))
	took := ask(t, ctx, chromedp.Evaluate[float64](`(async () => {
		const s = document.querySelector('#s-ctx'), times = [];
		for (let i = 0; i < 17; i++) {
			s.value = i;
			const began = performance.now(), old = document.querySelector('#picture').innerHTML;
			s.dispatchEvent(new Event('input', {bubbles: true}));
			while (document.querySelector('#picture').innerHTML === old && performance.now() - began < 2000) await new Promise(r => setTimeout(r, 1));
			times.push(performance.now() - began);
		}
		s.value = 8;
		s.dispatchEvent(new Event('input', {bubbles: true}));
		s.dispatchEvent(new Event('change', {bubbles: true}));
		return times.sort((a, b) => a - b)[8];
	})()`, func(p *runtime.EvaluateParams) { yes := true; p.AwaitPromise = &yes }))
	t.Logf("from a move of the slider to the picture: %.1f ms", took)
	says(t, ctx, "#answer", "Yes.")
	says(t, ctx, `label[for="s-ctx"] b`, "2,048")
	if at := ask(t, ctx, chromedp.Location()); took > 2000 || !strings.Contains(at, "ctx=") {
		t.Errorf("%.0f ms, %s", took, at)
	}
}

// TestOrigin: a number opens how it was made, by a click and by a key, and closes again.
func TestOrigin(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short)
	click(t, ctx, `#ledger tr[data-item="kv_cache"] a.q`)
	says(t, ctx, ".prov", "8,053,063,680 B")
	script[any](t, ctx, `document.activeElement.blur()`)
	do(t, ctx, chromedp.KeyEvent("\x1b"), chromedp.WaitNotPresent(chromedp.CSS(".prov")), chromedp.KeyEvent("e"),
		chromedp.WaitVisible(chromedp.CSS(".prov")))
}

// plans of all kinds, whose pages are held against the answers.
var plans = []string{
	"m=llama-3.1-70b&on=2xh100&users=6&ctx=8k&engine=vllm", "m=llama-3.1-8b&on=rtx-4090",
	"m=qwen3-30b-a3b&on=rtx-4090&weights=q4_k_m&engine=llama.cpp&ctx=32k",
	"m=deepseek-v3&on=8xh200", "m=qwen3-32b&on=rtx-4090&weights=q4_k_m&engine=llama.cpp&ctx=20k",
	"m=llama-3.1-8b&on=2xrtx-3090&engine=llama-server&kv=q8_0",
	"m=mixtral-8x7b&on=2xa100-80gb", "m=gemma-3-27b&on=h100", "m=gpt-oss-120b&on=h100", "m=llama-3.1-405b&on=8xh100&weights=fp8",
	"m=qwen2.5-7b&on=rtx-3060", "m=mistral-7b&on=l4", "m=llama-3.1-8b&on=a10g&engine=sglang", "m=phi-4&on=rtx-4080", "m=llama-3.2-1b&on=t4",
	"m=qwen3-8b&on=l40s&users=32", "m=llama-3.1-70b&on=4xa100-80gb&tp=4", "m=llama-3.1-8b&on=h100&kv=fp8&users=64",
	"m=deepseek-v2-lite&on=rtx-4090", "m=qwen3-0.6b&on=rtx-4090",
}

// TestTextIsTheAnswer: what a browser shows is what the answer's JSON says.
func TestTextIsTheAnswer(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for _, query := range plans {
		r := &memwall.Request{Ask: "fit"}
		values, _ := url.ParseQuery(query)
		for key := range values {
			for i := range memwall.Fields() {
				if f := &memwall.Fields()[i]; f.Flag == key || key == "m" && f.Name == "model" {
					if err := r.Set(f.Name, values.Get(key)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		r.Explain = true
		a, err := memwall.Ask(r)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		open(t, ctx, home+"/fit?"+query)
		text := ask(t, ctx, chromedp.Text(chromedp.CSS("main")))
		for _, row := range render.LedgerRows(a, 0) {
			if !strings.Contains(text, row.Figure) {
				t.Errorf("%s: %s %s is not shown", query, row.Name, row.Figure)
			}
		}
		if h := render.HeadOf(a); !strings.Contains(text, h.Word) || !strings.Contains(text, h.Answer) {
			t.Errorf("%s: %s %s is not shown", query, h.Word, h.Answer)
		}
	}
}

// TestLooks: nothing is wider than its window from phones to wide screens, and letters stand out in both themes.
func TestLooks(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for _, wide := range []int64{390, 768, 1280, 2200} {
		for _, theme := range []string{"light", "dark"} {
			between := wide == 768 || wide == 2200 // of which only the width is new
			if between && theme == "dark" {
				continue
			}
			for name, path := range looks {
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
					emulation.SetEmulatedMediaParams{
						Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}); err != nil {
					t.Fatal(err)
				}
				do(t, ctx, chromedp.EmulateViewport(wide, 800), chromedp.Navigate(home+path))
				if over := script[int64](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("%s at %d: %d pixels too wide", path, wide, over)
				}
				if between {
					continue
				}
				if faint := script[string](t, ctx, contrast); faint != "" {
					t.Errorf("%s, %s, at %d: too faint: %s", path, theme, wide, faint)
				}
				if small := script[string](t, ctx, letters); small != "" {
					t.Errorf("%s at %d: letters too small: %s", path, wide, small)
				}
				look(t, ctx, fmt.Sprintf("%s-%s-%d", name, theme, wide))
			}
		}
	}
}

// looks are pages of all kinds.
var looks = map[string]string{
	"start": "/", "nothing": "/nowhere", "fit": short, "plan": "/plan?m=llama-3.1-70b&on=2xh100", "hardware": "/plan?m=llama-3.1-8b",
	"serve": "/serve?m=llama-3.1-8b&users=8&tpot=60ms&on=l40s,h100", "pick": "/pick?on=rtx-4090",
	"train": "/train?m=llama-3.1-70b&on=32xh100&framework=megatron&tp=4&pp=4&accumulation=16",
	"sim":   "/sim?m=llama-3.1-8b&on=l40s&rate=2&prompt=500&output=100&requests=500&why=/ttft_ms/p99",
	"learn": "/learn?topic=kv-cache", "diagnose": "/diagnose",
	"models": "/models?q=qwen3", "model": "/models/qwen3-32b", "devices": "/hardware?q=rtx", "device": "/hardware/rtx-4090",
	"formats": "/formats", "format": "/formats/bf16",
}

// letters finds text of pictures that is drawn smaller than 11 pixels, and other text that is.
const letters = `(() => {
	for (const e of document.querySelectorAll('main text, main td, main th, main p, main dd, main li')) {
		if (!e.checkVisibility() || !e.textContent.trim()) continue;
		const m = e.getScreenCTM?.(), size = parseFloat(getComputedStyle(e).fontSize) * (m ? Math.hypot(m.a, m.b) : 1);
		if (size < 10.9) return e.textContent.trim().slice(0, 40) + ' ' + size.toFixed(1);
	}
	return '';
})()`

// TestPrint: on paper the answer, its pictures, notes and commands are left, in light, and nothing that is to be pressed.
func TestPrint(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	open(t, ctx, home+short)
	if shown := script[string](t, ctx, `[...document.querySelectorAll('button, nav, .ctl, .takeaway')].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 60)).join()`); shown != "" {
		t.Errorf("on paper: %s", shown)
	}
	if !script[bool](t, ctx, `['#answer', '#picture svg', '#ledger', '.cmd code', '.notes'].every(s => [...document.querySelectorAll(s)].some(e => e.checkVisibility()))`) {
		t.Error("a part of the answer is not on paper")
	}
	look(t, ctx, "print")
}

// TestTables: every cell of a page that is set from a screen's parts is what the answer says, in a table with heads.
func TestTables(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for path, r := range map[string]*memwall.Request{
		"/pick?on=rtx-4090":               {Ask: "pick", Hardware: "rtx-4090"},
		"/plan?m=llama-3.1-70b&on=2xh100": {Ask: "plan", Model: "llama-3.1-70b", Hardware: "2xh100"},
		"/plan?m=llama-3.1-8b":            {Ask: "plan", Model: "llama-3.1-8b"},
	} {
		a, err := memwall.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		open(t, ctx, home+path)
		shown := script[[][]string](t, ctx, `[...document.querySelectorAll('table.grid tr')].map(r => [...r.cells].map(c => c.textContent.trim()))`)
		var want [][]string
		for _, b := range render.Parts(a) {
			for _, row := range b.Rows {
				var cells []string
				for _, c := range row.Cells {
					cells = append(cells, strings.TrimSpace(c.String()))
				}
				want = append(want, cells)
			}
		}
		if len(shown) != len(want) || len(want) == 0 {
			t.Fatalf("%s: %d rows of %d", path, len(shown), len(want))
		}
		for i := range want {
			if got := shown[i][:len(want[i])]; !slices.Equal(got, want[i]) {
				t.Errorf("%s: %q, want %q", path, got, want[i])
			}
		}
		if n := script[int64](t, ctx, `[...document.querySelectorAll('table.grid')].filter(t => !t.querySelector('thead th[scope=col]')).length`); n != 0 {
			t.Errorf("%s: %d tables without heads", path, n)
		}
	}
}

// TestRungs: keys take a change of the ladder, a fleet leads to where it is played, a model to where it fits.
func TestRungs(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/plan?m=llama-3.1-70b&on=2xh100&users=6")
	do(t, ctx, chromedp.KeyEvent("1"))
	says(t, ctx, "#answer", "Fits as asked")
	open(t, ctx, home+"/pick?on=rtx-4090")
	click(t, ctx, "table.grid tbody a, table.grid tr:nth-child(1) td a")
	says(t, ctx, "#answer", "Yes.")
	if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, "/fit?") || !strings.Contains(at, "on=rtx-4090") {
		t.Errorf("a model leads to %s", at)
	}
	open(t, ctx, home+"/serve?m=llama-3.1-8b&users=8&tpot=60ms&on=l40s&engine=vllm")
	click(t, ctx, "table.grid td a")
	says(t, ctx, "title", "Simulate")
	if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, "/sim?") || !strings.Contains(at, "users=8") {
		t.Errorf("a fleet leads to %s", at)
	}
	click(t, ctx, `a[href*="ttft_ms"]`)
	says(t, ctx, ".prov", "percentile of")
}

// TestDropped: a config.json that is dropped on a page is asked whether it fits; its address has it, and leads back to it.
func TestDropped(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	e, err := catalog.Find("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	open(t, ctx, home+"/fit?m=qwen3-8b&on=rtx-4090")
	drop(t, ctx, "config.json", []byte(e.Config))
	says(t, ctx, "#ledger", "14.99")
	at := ask(t, ctx, chromedp.Location())
	if !strings.Contains(at, "/fit?m=config:") || !strings.Contains(at, "on=rtx-4090") {
		t.Fatalf("the address is %s", at)
	}
	open(t, ctx, at)
	says(t, ctx, "#ledger", "14.99")
	script[any](t, ctx, `(() => { const w = document.querySelector('input.word[name="m"]'); w.value = 'qwen3-8b'; w.form.requestSubmit() })()`)
	says(t, ctx, "title", "Qwen3 8B")
	open(t, ctx, home+"/diagnose?on=rtx-4090")
	script[any](t, ctx, fmt.Sprintf(`(() => { const w = document.querySelector('textarea'); w.value = %q; w.form.requestSubmit() })()`, e.Config))
	says(t, ctx, "#ledger", "14.99")
}

// TestShared: an address that is shared says what the answer was, and opens without a word where it still is.
func TestShared(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short)
	at := script[string](t, ctx, `new Promise(done => { navigator.clipboard.writeText = async text => done(text); document.querySelector('#share').click() })`, wait)
	if !strings.Contains(at, "was=") || len(at) > 400 {
		t.Fatalf("what is copied is %s", at)
	}
	open(t, ctx, at)
	says(t, ctx, "#answer", "No.")
	if script[bool](t, ctx, `!!document.querySelector('.moved')`) {
		t.Error("nothing has moved, and the page says so")
	}
	open(t, ctx, regexp.MustCompile(`\d+\.\d\+GiB\+short`).ReplaceAllString(at, "4.0+GiB+short"))
	says(t, ctx, ".moved", "4.0 GiB short")
}

// look keeps a picture where somebody wants to see it.
func look(t *testing.T, ctx context.Context, name string) {
	folder := os.Getenv("MEMWALL_PICTURES")
	if folder == "" {
		return
	}
	png := ask(t, ctx, chromedp.FullScreenshot(100))
	if err := os.WriteFile(folder+"/"+name+".png", png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// contrast finds text that stands out from what is behind it by less than 4.5 to 1, and pictures of letters by less than 3 (WCAG 2.2,
// 1.4.3 and 1.4.11).
const contrast = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
	const light = ([r, g, b]) => { const f = x => (x /= 255) <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b) };
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c } return [255, 255, 255, 1] };
	for (const e of document.querySelectorAll('main *, header *, footer *')) {
		const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		if (!own || !e.checkVisibility() || e.closest('option,datalist')) continue;
		const s = getComputedStyle(e), ink = parse(e.closest('svg') ? s.fill : s.color), paper = behind(e);
		const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
		const picture = /^[^\p{L}\p{N}]*$/u.test(e.textContent);
		if ((a + .05) / (b + .05) < (picture ? 3 : 4.5)) return e.textContent.trim().slice(0, 40) + ' ' + s.color + ' on ' + paper;
	}
	return '';
})()`

// TestAccess: every control has a name, pictures say what they show, headings are in order, the keyboard reaches the
// question first, and the answer is announced.
func TestAccess(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for _, path := range looks {
		open(t, ctx, home+path)
		wrong := script[[]string](t, ctx, `(() => {
			const wrong = [];
			for (const e of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea')) {
				const name = e.ariaLabel || e.textContent.trim() || (e.labels && e.labels[0] && e.labels[0].textContent.trim());
				if (!name) wrong.push('no name: ' + e.outerHTML.slice(0, 80));
			}
			for (const e of document.querySelectorAll('svg:not([aria-hidden])')) if (e.getAttribute('role') !== 'img' || !e.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id))) wrong.push('a picture without words');
			if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
			if (!document.documentElement.lang) wrong.push('no language');
			if (!document.querySelector('main') || !document.querySelector('nav[aria-label]')) wrong.push('no landmarks');
			for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) wrong.push('a forced order');
			return wrong;
		})()`)
		for _, w := range wrong {
			t.Errorf("%s: %s", path, w)
		}
	}
	const focused = `document.activeElement.name || document.activeElement.textContent`
	do(t, ctx, chromedp.Navigate(home+short), chromedp.KeyEvent("\t"))
	first := script[string](t, ctx, focused)
	do(t, ctx, chromedp.KeyEvent("m"))
	then := script[string](t, ctx, focused)
	if first != "To the answer" || then != "m" {
		t.Errorf("the first stop is %q, m leads to %q", first, then)
	}
}

// TestWeight: the first page is three requests and 150 KB.
func TestWeight(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short)
	sizes := script[[]float64](t, ctx, `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(e => e.encodedBodySize)`)
	sum := 0.0
	for _, n := range sizes {
		sum += n
	}
	t.Logf("%d requests, %.0f bytes before they are packed", len(sizes), sum)
	if len(sizes) > 3 || sum > 150e3 {
		t.Errorf("%d requests, %.0f bytes", len(sizes), sum)
	}
}

// TestPNG: the picture is drawn as points.
func TestPNG(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short)
	script[any](t, ctx, `(() => { const old = HTMLCanvasElement.prototype.toBlob; HTMLCanvasElement.prototype.toBlob = function (f) { document.title = 'drawn ' + this.width + ' ' + new Set(this.getContext('2d').getImageData(0, 0, this.width, this.height).data).size; old.call(this, f) } })()`)
	do(t, ctx, chromedp.Click(chromedp.CSS("#png")))
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`/^drawn 1680 \d\d/.test(document.title)`, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		t.Fatal(script[string](t, ctx, "document.title"), err)
	}
}

// TestPasted: a log is answered, and no address has it.
func TestPasted(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/diagnose")
	do(t, ctx, chromedp.SetValue(chromedp.CSS("textarea"),
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.40 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 "+
			"GiB is free."))
	click(t, ctx, ".go")
	says(t, ctx, "#answer", "4.40 GiB")
	at := ask(t, ctx, chromedp.Location())
	if strings.Contains(at, "CUDA") {
		t.Errorf("the address is %s", at)
	}
}

// drop a file on the page.
func drop(t *testing.T, ctx context.Context, name string, data []byte) {
	t.Helper()
	script[any](t, ctx, fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q)); document.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true})) })()`, base64.StdEncoding.EncodeToString(data), name))
}

// TestStatic: the page without a server, from a folder of files: the core runs in the browser and says the same.
func TestStatic(t *testing.T) {
	folder := t.TempDir()
	c := exec.Command("go", "run", "./internal/site", "-out", folder, "-cards", "qwen3-32b")
	c.Dir = ".."
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(files.Close)
	ctx := browse(t, files.URL)
	open(t, ctx, files.URL+"/")
	says(t, ctx, "h1", "Does the model fit")
	open(t, ctx, files.URL+"/models/qwen3-32b/")
	says(t, ctx, "main", "it fits on")
	open(t, ctx, script[string](t, ctx, `document.querySelector('table.grid td a').href`))
	says(t, ctx, "#answer", "Yes.")
	open(t, ctx, files.URL+"/?ask=fit&m=llama-3.1-70b&on=2xh100&users=6&ctx=8k")
	says(t, ctx, "#answer", "No.")
	click(t, ctx, "#rungs .pick a")
	says(t, ctx, "#answer", "Yes.")
	a, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"})
	if err != nil {
		t.Fatal(err)
	}
	open(t, ctx, files.URL+"/?ask=fit&m=llama-3.1-8b&on=rtx-4090")
	says(t, ctx, "#answer", render.HeadOf(a).Answer)
	e, err := catalog.Find("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	open(t, ctx, files.URL+"/?ask=fit&m=qwen3-8b&on=rtx-4090")
	says(t, ctx, "title", "Qwen3 8B")
	drop(t, ctx, "config.json", []byte(e.Config))
	says(t, ctx, "#ledger", "14.99")
	if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, "m=config:") {
		t.Errorf("the address is %s", at)
	}
	record, err := os.ReadFile("../snapshot/testdata/training.pickle")
	if err != nil {
		t.Fatal(err)
	}
	drop(t, ctx, "snapshot.pickle", record)
	says(t, ctx, "#answer", "peak 1.14 GiB")
	says(t, ctx, "main", "optimizer states")
	if !script[bool](t, ctx, `!!document.querySelector('main figure svg path')`) {
		t.Error("a snapshot is shown without a picture")
	}
	drop(t, ctx, "half.pickle", record[:len(record)/2])
	says(t, ctx, "#answer", "✗")
	took := script[float64](t, ctx, `(async () => { const began = performance.now(); for (let i = 0; i < 20; i++) await memwall('?ask=fit&m=llama-3.1-8b&on=rtx-4090&users=' + (i + 1)); return (performance.now() - began) / 20 })()`, wait)
	t.Logf("a page in the browser: %.1f ms", took)
}
