//go:build js

// Command inbrowser is the core in a browser: it gives the page's script a function that draws the page of an address,
// and what was pasted into it, and programs one that answers a request of the contract.
package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"syscall/js"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/batch"
	"github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/source"
)

func main() {
	s := page.Site{Asker: &memwall.Asker{Models: source.Inline{Rest: memwall.Catalog{}}}, OnePage: true}
	js.Global().Set("memwallPage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		_, query, _ := strings.Cut(args[0].String(), "?")
		if len(args) > 2 && args[2].Truthy() {
			return page.SnapshotPage(context.Background(), &s, &dropped{file: args[2]}).HTML
		}
		pasted := ""
		if len(args) > 1 && args[1].Type() == js.TypeString {
			pasted = args[1].String()
		}
		return s.Page(context.Background(), "", query, pasted).HTML
	}))
	js.Global().Set("memwallAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		line := &batch.Line{Text: []byte(args[0].String())}
		text, err := json.Marshal(batch.Shown(line.Answer(s.Asker.Ask), len(args) > 1 && args[1].Truthy(), svg.Answer))
		if err != nil {
			return err.Error() // which is not JSON, and whoever reads it says so
		}
		return string(safe.JSON(text))
	}))
	select {}
}

// dropped are the bytes of a file that a browser holds.
type dropped struct {
	file js.Value
	at   int
}

// Read copies the bytes that follow.
func (d *dropped) Read(b []byte) (int, error) {
	n := js.CopyBytesToGo(b, d.file.Call("subarray", d.at, d.at+len(b)))
	if d.at += n; n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
