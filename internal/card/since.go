package card

import (
	"cmp"
	"slices"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/stable"
)

// ModelsSince lists the models that a filter names and that were released in or after a month ("2026-06") or a
// year ("2026"), the newest first; "" is no bound and the order of Models. A model without a date is not listed
// behind a bound: it is not known to be of that time. Anything else is an error.
func ModelsSince(filter, since string) ([]ModelRow, error) {
	rows := Models(filter)
	if since == "" {
		return rows, nil
	}
	if !isMonth(since) {
		return nil, &api.Error{Code: api.BadField, Field: "since", Value: since, Message: "since is neither a month nor a year",
			Hint: "--since 2026-06"}
	}
	rows = slices.DeleteFunc(rows, func(r ModelRow) bool { return r.Released < since })
	stable.Sort(rows, func(a, b ModelRow) int { return cmp.Compare(b.Released, a.Released) })
	return rows, nil
}

// isMonth reports whether a text is written like the catalog's dates.
func isMonth(text string) bool {
	_, month := time.Parse("2006-01", text)
	_, year := time.Parse("2006", text)
	return month == nil || year == nil
}
