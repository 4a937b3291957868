package remote

import (
	"net/url"
	"regexp"
	"sync"
)

// secret are tokens as services write them, and credentials in addresses.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`hf_[A-Za-z0-9]{8,}|(?i:bearer\s+)[A-Za-z0-9._~+/=-]{8,}|://[^/@\s]+@`)
})

// redact takes tokens out of a text that is shown or kept.
func redact(s string) string {
	return secret().ReplaceAllStringFunc(s, func(hit string) string {
		if len(hit) > 3 && hit[:3] == "://" {
			return "://…@"
		}
		return "…"
	})
}

// shown is an address without what signs it.
func shown(u *url.URL) string { return redact(u.Scheme + "://" + u.Host + u.EscapedPath()) }
