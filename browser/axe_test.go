package browser

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axeVersion is of axe-core, which finds what stands in the way of people who cannot see, or use no mouse. It is fetched by
// npm for the tests, and no part of what is built.
const axeVersion = "4.10.3"

// axe is its script: the file that MEMWALL_AXE names, else the package. Where neither is to be had, nothing is tested here.
func axe(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("MEMWALL_AXE"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	folder := t.TempDir()
	c := exec.Command("npm", "pack", "axe-core@"+axeVersion, "--silent", "--pack-destination", folder)
	c.Dir = folder
	if said, err := c.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no axe-core, without which the gate judges no page: npm: %v %s", err, said)
		}
		t.Skipf("no axe-core here: npm: %v %s", err, said) // a contributor without a network tries all else
	}
	text, err := packed(filepath.Join(folder, "axe-core-"+axeVersion+".tgz"), "package/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// packed is a file of a package of npm.
func packed(name, file string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return "", os.ErrNotExist
		}
		if err != nil {
			return "", err
		}
		if h.Name == file {
			text, err := io.ReadAll(r)
			return string(text), err
		}
	}
}

// states are what pages become when somebody uses them: an address, and what is done there.
var states = map[string][]string{
	"an origin that is open":      {short + "&why=/devices/0/needed_bytes"},
	"names that are offered":      {"/fit?m=llama-3.1-8b&on=rtx-4090", "type #question [name=m] = qwen3"},
	"keys":                        {short, "key ?"},
	"plans beside each other":     {short + "&vs=m%3Dllama-3.1-8b%26on%3Drtx-4090"},
	"an error":                    {"/fit?m=lama-3.1-70b&on=2xh100"},
	"a link whose answer moved":   {short + "&was=0.0.1~00000000~No"},
	"settings that were left out": {"/fit?m=qwen3-30b-a3b&on=rtx-4090&cpu-moe=10&engine=vllm"},
	"a card that is not there":    {"/models/nope"},
	"a day on replicas":           {"/autoscale"},
	"a pool of devices":           {"/pack"},
	"a load that is played":       {"/sim?m=llama-3.1-8b&on=l40s&rate=2&prompt=500&output=100&requests=200"},
}

// TestAxe: no page and no state has anything that axe-core finds wrong, in light and in dark.
func TestAxe(t *testing.T) {
	tool := axe(t)
	home := host(t)
	ctx := browse(t, home)
	check := func(name, options string) {
		t.Helper()
		script[any](t, ctx, tool+"; null")
		for _, wrong := range script[[]string](t, ctx, `axe.run(document, {`+options+`}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120) + ' (' + (n.any[0]?.message || v.help) + ')')))`, wait) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for theme, options := range map[string]string{"light": "", "dark": "runOnly: ['color-contrast']"} { // what differs in the dark
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
				Value: theme}}}); err != nil {
			t.Fatal(err)
		}
		for _, path := range looks {
			if path != "/nowhere" {
				open(t, ctx, home+path)
				check(theme+" "+path, options)
			}
		}
	}
	for name, steps := range states {
		open(t, ctx, home+steps[0])
		for _, s := range steps[1:] {
			act(t, ctx, s)
		}
		if strings.Contains(name, "offered") {
			do(t, ctx, chromedp.WaitVisible(chromedp.CSS("#offers")))
		}
		time.Sleep(50 * time.Millisecond) // a dialog opens
		check(name, "")
	}
}
