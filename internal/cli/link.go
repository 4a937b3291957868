package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
)

// usualSite is where memwall serve answers.
const usualSite = "http://" + usualListen

// linkTo tells the address of the page that has the same answer, where that is asked for.
func (a *app) linkTo(r *memwall.Request) {
	if !a.link {
		return
	}
	path, ok := page.Address(r)
	if !ok {
		fmt.Fprintln(a.Stderr, "page: an address cannot say all of this question")
		return
	}
	fmt.Fprintf(a.Stderr, "page: %s%s\n", strings.TrimSuffix(cmp.Or(a.Env("MEMWALL_SITE"), usualSite), "/"), path)
}
