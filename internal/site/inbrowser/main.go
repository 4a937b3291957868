//go:build js

// Command inbrowser is the core in a browser: it gives the page's script a function that draws the page of an address,
// and what was pasted into it.
package main

import (
	"context"
	"strings"
	"syscall/js"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/source"
)

func main() {
	s := page.Site{Asker: &memwall.Asker{Models: source.Inline{Rest: memwall.Catalog{}}}, OnePage: true}
	js.Global().Set("memwallPage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		_, query, _ := strings.Cut(args[0].String(), "?")
		pasted := ""
		if len(args) > 1 && args[1].Type() == js.TypeString {
			pasted = args[1].String()
		}
		return s.Page(context.Background(), "", query, pasted).HTML
	}))
	select {}
}
