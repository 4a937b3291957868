package browser

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/serve"
	"github.com/memwall/memwall/source"
)

// submitted sets a word of the question, asks, and waits for the page that comes.
const submitted = `window.submitted = async (name, value) => {
	const w = document.querySelector('#question [name="' + name + '"]'), old = document.querySelector('main');
	w.value = value;
	w.form.requestSubmit();
	for (const began = performance.now(); document.querySelector('main') === old && performance.now() - began < 8000;) await new Promise(r => setTimeout(r, 2));
	return document.querySelector('main') !== old;
}; null`

// odd is what nobody should type.
var odd = []string{strings.Repeat("9", 3000), "<img src=x onerror=window.struck=1>", "-1", "\u202e\u0000\U0001f642", "2x,,+ +2x", "1e308"}

// TestOddWords: whatever stands in whatever box, the page has an answer or says what is wrong, keeps its question, runs none of it and is
// no wider than its window.
func TestOddWords(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for _, path := range []string{"/fit?m=llama-3.1-8b&on=rtx-4090", "/plan?m=qwen3-8b&on=rtx-4090", "/train?m=llama-3.1-8b&on=rtx-4090&method=qlora", "/sim?m=llama-3.1-8b&on=l40s&rate=1&prompt=500&output=100&requests=50", "/pick?on=rtx-3060"} {
		open(t, ctx, home+path)
		script[any](t, ctx, submitted)
		for _, name := range script[[]string](t, ctx, `[...document.querySelectorAll('#question input.word')].map(w => w.name)`) {
			values, err := json.Marshal(odd)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range script[[]string](t, ctx, fmt.Sprintf(`(async () => {
				const name = %q, box = () => document.querySelector('#question [name="' + name + '"]'), was = box().value, out = [];
				for (const value of %s) {
					const page = await submitted(name, value), wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
					const wrong = !page ? 'no page' : !document.querySelector('#answer')?.textContent.trim() ? 'no answer' : !box() ? 'no question' : window.struck ? 'it ran' : wide > 0 ? wide + ' pixels too wide' : '';
					if (wrong) out.push(value.slice(0, 30) + ': ' + wrong);
				}
				await submitted(name, was);
				return out;
			})()`, name, values), wait) {
				t.Errorf("%s: %s = %s", path, name, wrong)
			}
		}
	}
}

// TestBackAndForward: thirty questions, back through all of them and forward again: each shows its own answer.
func TestBackAndForward(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/fit?m=llama-3.1-8b&on=h100&ctx=4k")
	script[any](t, ctx, submitted)
	if wrong := script[string](t, ctx, `(async () => {
		const seen = [], users = () => new URLSearchParams(location.search).get('users'), says = () => document.querySelector('#question [name="users"]').value;
		for (let i = 2; i <= 31; i++) { await submitted('users', i); seen.push(document.querySelector('#ledger').textContent); }
		const go = async (step, want) => {
			history.go(step);
			for (const began = performance.now(); (users() !== String(want) || says() !== String(want)) && performance.now() - began < 5000;) await new Promise(r => setTimeout(r, 2));
			return users() === String(want) && says() === String(want) && document.querySelector('#ledger').textContent === seen[want - 2];
		};
		for (let i = 30; i >= 2; i--) if (!await go(-1, i)) return 'back at ' + i + ': ' + users() + ', ' + says();
		for (let i = 3; i <= 31; i++) if (!await go(1, i)) return 'forward at ' + i + ': ' + users() + ', ' + says();
		return '';
	})()`, wait); wrong != "" {
		t.Error(wrong)
	}
}

// TestTwoTabs: two pages of one browser do not see each other's questions.
func TestTwoTabs(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/fit?m=llama-3.1-8b&on=rtx-4090")
	other, stop := chromedp.NewContext(ctx)
	defer stop()
	open(t, other, home+"/fit?m=qwen3-32b&on=h100")
	script[any](t, other, submitted)
	script[bool](t, other, `submitted('users', 7)`, wait)
	script[any](t, other, `document.querySelector('#theme').click()`)
	script[any](t, ctx, submitted)
	script[bool](t, ctx, `submitted('users', 3)`, wait)
	for tab, want := range map[string]string{ask(t, ctx, chromedp.Location()): "m=llama-3.1-8b&on=rtx-4090&users=3", ask(t, other, chromedp.Location()): "m=qwen3-32b&on=h100&users=7"} {
		if !strings.Contains(tab, want) {
			t.Errorf("a tab is at %s, not %s", tab, want)
		}
	}
}

// TestRestart: while the server is away the last answer stays and the page says so; when it is back, the next question is answered.
func TestRestart(t *testing.T) {
	models := source.Inline{Rest: memwall.Catalog{}}
	s, err := serve.New(serve.Options{Desk: desk.New(desk.Options{Asker: memwall.Asker{Models: models}}), Models: models, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	first := httptest.NewServer(s.Handler())
	at := first.Listener.Addr().String()
	ctx := browseQuietly(t)
	open(t, ctx, "http://"+at+"/fit?m=llama-3.1-8b&on=rtx-4090")
	script[any](t, ctx, submitted)
	first.CloseClientConnections()
	first.Close()
	script[any](t, ctx, `(() => { const w = document.querySelector('#question [name=users]'); w.value = 5; w.form.requestSubmit() })()`)
	says(t, ctx, "#told", "does not answer")
	says(t, ctx, "#answer", "Yes.")
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Skip("another program took the port: ", err)
	}
	again := httptest.NewUnstartedServer(s.Handler())
	_ = again.Listener.Close() // the old address takes its place
	again.Listener = l
	again.Start()
	defer again.Close()
	if !script[bool](t, ctx, `submitted('users', 6)`, wait) {
		t.Error("no answer from the server that is back")
	}
	says(t, ctx, "#question", "")
	if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, "users=6") {
		t.Errorf("the address is %s", at)
	}
}

// TestSnapshotStays: where the core is a server's, a memory snapshot that is dropped goes nowhere.
func TestSnapshotStays(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	data, err := os.ReadFile("../snapshot/testdata/bare.pickle")
	if err != nil {
		t.Fatal(err)
	}
	open(t, ctx, home+"/fit?m=llama-3.1-8b&on=rtx-4090")
	script[any](t, ctx, `(() => { const real = fetch; window.sent = 0; window.fetch = (...a) => { window.sent++; return real(...a) } })()`)
	drop(t, ctx, "snapshot.pickle", data)
	says(t, ctx, "#told", "Not sent: memwall snapshot snapshot.pickle")
	if n := script[int64](t, ctx, `window.sent`); n != 0 {
		t.Errorf("%d requests", n)
	}
}
