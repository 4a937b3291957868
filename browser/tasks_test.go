package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// task is what a new user wants: what is done, counted in clicks and words that are typed, and what the answer must say.
type task struct {
	name   string
	at     string // where it begins
	does   []string
	budget int
	at2    string // in the address at the end
	sees   map[string]string
	lacks  map[string]string
}

// A step is "type SELECTOR = TEXT", "click SELECTOR", "key K", "back" or "push SELECTOR = TEXT", a whole log.
var tasks = []task{
	{name: "will it run on my card", at: "/", does: []string{`type form[action="/fit"] [name=m] = qwen3-30b-a3b`, `type form[action="/fit"] [name=on] = rtx-4060-ti-16gb`, "key \r"}, budget: 3, at2: "/fit?", sees: map[string]string{"#answer": "GiB"}},
	{name: "nothing is pinned that was not set", at: "/fit",
		does:   []string{"type [name=m] = qwen3-30b-a3b", "type [name=weights] = q4_k_m", "type [name=on] = rtx-4060-ti-16gb", "key \r"},
		budget: 4, sees: map[string]string{"#set": "weights q4_k_m", "main": "llama.cpp"}, lacks: map[string]string{"#set": "engine"}},
	{name: "the command is of the plan that works", at: "/fit?m=llama-3.1-70b&on=2xh100&users=6", budget: 0,
		sees: map[string]string{".cmd code": "Instruct-FP8-dynamic", "#answer": "of 6 users, others wait"}},
	{name: "which GPU do I need", at: "/", does: []string{`type form[action="/plan"] [name=m] = qwen3-14b`, "key \r"}, budget: 2, sees: map[string]string{"#answer": "kinds of hardware", "table.grid": "$ an hour"}},
	{name: "how many users", at: "/", does: []string{"click section:nth-of-type(3) .gist"}, budget: 1,
		sees: map[string]string{"#answer": "Yes.", "label[for=s-users]": "users"}},
	{name: "what does training take", at: "/", does: []string{`type form[action="/train"] [name=m] = qwen3-8b`, "key \r"}, budget: 2, at2: "/train?", sees: map[string]string{"#answer": "Yes."}},
	{name: "why did it run out", at: "/", does: []string{`push form[action="/diagnose"] textarea = torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.40 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free.`, `click form[action="/diagnose"] button`}, budget: 2, sees: map[string]string{"#answer": "4.40 GiB"}},
	{name: "what to change", at: "/plan?m=qwen3-32b&weights=q4_k_m&on=rtx-4090&ctx=32k", budget: 0,
		sees: map[string]string{"#answer": "ways"}},
	{name: "take a change", at: "/plan?m=llama-3.1-70b&on=2xh100&users=6", does: []string{"click [data-rung]"}, budget: 1,
		sees: map[string]string{"#answer": "fits"}},
	{name: "take a setting away", at: "/fit?m=qwen3-8b&on=rtx-4090&engine=vllm&kv=fp8", does: []string{`click #set a[aria-label="leave out engine vllm"]`}, budget: 1, sees: map[string]string{"#set": "kv fp8"}, lacks: map[string]string{"#set": "engine"}},
	{name: "change the engine", at: "/fit?m=qwen3-30b-a3b&on=rtx-4090&cpu-moe=10", does: []string{"type [name=engine] = vllm", "key \r"},
		budget: 2, sees: map[string]string{"#set": "left out, because vllm has no such setting: cpu-moe", "#answer": "GiB"}},
	{name: "serve users within bounds", at: "/serve", budget: 0, sees: map[string]string{"#answer": "work", "#set": "tpot 50ms"}},
	{name: "play a load", at: "/sim", does: []string{"type [name=rate] = 2", "key \r"}, budget: 2, at2: "rate=2",
		sees: map[string]string{"#answer": "2.0 requests/s"}},
	{name: "which models for my card", at: "/pick", does: []string{"type [name=on] = rtx-3060", "key \r"}, budget: 2,
		sees: map[string]string{"#answer": "rtx-3060"}},
	{name: "a wrong word is mended", at: "/fit?m=llama-3.1-8c&on=rtx-4090", does: []string{".failure a"}, budget: 1,
		sees: map[string]string{"#answer": "Yes."}},
}

// TestTasks: each ends where a new user wants to be, within its budget of clicks and words.
func TestTasks(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for _, c := range tasks {
		t.Run(c.name, func(t *testing.T) {
			open(t, ctx, home+c.at)
			for _, s := range c.does {
				act(t, ctx, s)
			}
			for selector, words := range c.sees {
				says(t, ctx, selector, words)
			}
			for selector, words := range c.lacks {
				if _, err := chromedp.Run(ctx,
					chromedp.Poll[bool](fmt.Sprintf("!document.querySelector(%q)?.textContent.includes(%q)", selector, words),
						chromedp.WithPollingTimeout(5*time.Second))); err != nil {
					t.Errorf("%s says %q", selector, words)
				}
			}
			if at := ask(t, ctx, chromedp.Location()); !strings.Contains(at, c.at2) {
				t.Errorf("it ends at %s", at)
			}
			if len(c.does) > c.budget {
				t.Errorf("%d steps of %d", len(c.does), c.budget)
			}
			look(t, ctx, "task-"+strings.ReplaceAll(c.name, " ", "-"))
		})
	}
}

// act does one step of a task.
func act(t *testing.T, ctx context.Context, step string) {
	t.Helper()
	verb, rest, _ := strings.Cut(step, " ")
	selector, text, _ := strings.Cut(rest, " = ")
	switch verb {
	case "type":
		script[any](t, ctx, fmt.Sprintf("(() => { const w = document.querySelector(%q); w.focus(); w.select() })()", selector))
		do(t, ctx, chromedp.KeyEvent(text))
	case "push":
		do(t, ctx, chromedp.SetValue(chromedp.CSS(selector), text))
	case "key":
		do(t, ctx, chromedp.KeyEvent(rest))
	case "click":
		click(t, ctx, rest)
	default:
		click(t, ctx, step)
	}
}

// TestPhone: at the width of a phone nothing is cut off, what is touched is 44 pixels high, and an address can be shared.
func TestPhone(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	for name, path := range looks {
		do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(home+path))
		small := script[[]string](t, ctx, `[...document.querySelectorAll('button, input:not([type=hidden]):not([type=checkbox]), .chips a, nav a, .opt, summary')].filter(e => e.checkVisibility() && e.getBoundingClientRect().left > -999 && !e.closest('dialog') && e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 70) + ' ' + e.getBoundingClientRect().height)`)
		if len(small) > 0 {
			t.Errorf("%s: %q", path, small)
		}
		if !script[bool](t, ctx, `document.querySelector('#share').checkVisibility()`) {
			t.Errorf("%s: nothing to share with", path)
		}
		look(t, ctx, "phone-"+name)
	}
}

// TestKeys: ? says which keys there are, and single letters can be switched off.
func TestKeys(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+short)
	do(t, ctx, chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#keys")))
	click(t, ctx, "#letters")
	click(t, ctx, "#keys form button")
	do(t, ctx, chromedp.KeyEvent("m"))
	if on := script[string](t, ctx, `document.activeElement.name || ''`); on == "m" {
		t.Error("a letter is a key after it was switched off")
	}
}

// TestCancel: a search that takes long says so, and ends when it is told to; another question does not wait for it.
func TestCancel(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/pick?on=rtx-4090")
	script[any](t, ctx, `(() => { const real = fetch; window.fetch = (u, o) => String(u).includes('m4') ? new Promise((_, fail) => o.signal.addEventListener('abort', () => fail(o.signal.reason))) : real(u, o); const w = document.querySelector('[name=on]'); w.value = 'm4-max'; w.form.requestSubmit() })()`)
	says(t, ctx, "#work", "searching")
	click(t, ctx, "#work button")
	says(t, ctx, "#told", "Cancelled.")
	script[any](t, ctx, `(() => { const w = document.querySelector('[name=on]'); w.value = 'm4-pro'; w.form.requestSubmit() })()`)
	says(t, ctx, "#work", "searching")
	script[any](t, ctx, `(() => { const w = document.querySelector('[name=on]'); w.value = 'rtx-3060'; w.form.requestSubmit() })()`)
	says(t, ctx, "#answer", "rtx-3060")
}

// TestOffers: names are offered while one is typed, told apart by format, size and date; arrows and Enter take one, Escape none.
func TestOffers(t *testing.T) {
	home := host(t)
	ctx := browse(t, home)
	open(t, ctx, home+"/fit?m=llama-3.1-8b&on=rtx-4090")
	act(t, ctx, "type #question [name=m] = qwen3-32")
	says(t, ctx, "#offers", "qwen3-32b")
	says(t, ctx, "#offers", "GiB · 2025-04")
	look(t, ctx, "offers")
	do(t, ctx, chromedp.KeyEvent("\u0301"), chromedp.KeyEvent("\r")) // arrow down, Enter
	says(t, ctx, "title", "Qwen3 32B")
	act(t, ctx, "type #question [name=on] = 3090")
	says(t, ctx, "#offers", "rtx-3090")
	do(t, ctx, chromedp.KeyEvent("\x1b"), chromedp.WaitNotPresent(chromedp.CSS("#offers")))
	if on := script[string](t, ctx, `document.activeElement.name + document.activeElement.value`); on != "on3090" {
		t.Errorf("after Escape %q", on)
	}
}
