package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/source"
)

// usualSite is the default address of memwall serve.
const usualSite = "http://" + usualListen

// linkTo prints the address of the page with the same answer, if requested.
func (a *app) linkTo(r *memwall.Request) {
	if !a.link {
		return
	}
	q := *r
	if ref := a.written(r.Model); ref != "" {
		q.Model = ref
	}
	path, ok := page.Address(&q)
	if !ok {
		fmt.Fprintln(a.Stderr, "page: a link cannot hold all of this question")
		return
	}
	fmt.Fprintf(a.Stderr, "page: %s%s\n", strings.TrimSuffix(cmp.Or(a.Env("MEMWALL_SITE"), usualSite), "/"), path)
}

// written returns a config.json as a reference that fits into a URL; "" if the model is not one.
func (a *app) written(model string) string {
	if !strings.HasSuffix(model, ".json") {
		return ""
	}
	f, err := a.OpenFile(model)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, mostConfig))
	if err != nil {
		return ""
	}
	ref, err := source.Reference(text)
	if err != nil {
		return ""
	}
	return ref
}

// mostConfig bounds the bytes of a config.json read for a URL.
const mostConfig = 1 << 20
