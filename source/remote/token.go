package remote

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/memwall/memwall/source/regular"
)

const (
	hubHost   = "https://huggingface.co"
	hubDomain = "huggingface.co"
)

// hubEndpoint is HF_ENDPOINT, or the hub.
func (f *Finder) hubEndpoint() string { return hubEndpoint(f.env) }

func hubEndpoint(env func(string) string) string {
	if e := strings.TrimRight(env("HF_ENDPOINT"), "/"); e != "" {
		return e
	}
	return hubHost
}

// endpoints are those that the user configured; they may be private.
func (f *Finder) endpoints() (out []string) {
	if e := f.env("HF_ENDPOINT"); e != "" {
		out = append(out, e)
	}
	if e := f.env("MODELSCOPE_DOMAIN"); e != "" {
		out = append(out, f.modelScopeEndpoint())
	}
	return out
}

// hostOf is the host of an endpoint, with its port where it names one.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// tokens gives the hub's token to the endpoint's own host, over https, and to nobody else.
func tokens(env func(string) string, home string) func(*url.URL) string {
	endpoint, err := url.Parse(hubEndpoint(env))
	if err != nil || endpoint.Scheme != "https" {
		return func(*url.URL) string { return "" }
	}
	return func(u *url.URL) string {
		if u.Scheme != "https" || hostPort(u) != hostPort(endpoint) {
			return ""
		}
		return hubToken(env, home)
	}
}

// hubToken is HF_TOKEN, else what the file of HF_TOKEN_PATH holds, as the hub's own tools keep it.
func hubToken(env func(string) string, home string) string {
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if t := clean(env(name)); t != "" {
			return t
		}
	}
	if set(env("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return ""
	}
	name := env("HF_TOKEN_PATH")
	if name == "" {
		dir := hubHome(env, home)
		if dir == "" {
			return ""
		}
		name = filepath.Join(dir, "token")
	}
	return clean(firstOf(expand(name, home), 4096))
}

// clean keeps a token that can stand in a header, without spaces around it.
func clean(t string) string {
	t = strings.TrimSpace(t)
	if strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return t
}

// firstOf reads the first bytes of a small file; "" when there is none.
func firstOf(name string, n int64) string {
	f, err := regular.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return ""
	}
	return string(b)
}

// hubHome is HF_HOME, else the hub's folder among the user's caches; "" when it is not known.
func hubHome(env func(string) string, home string) string {
	switch {
	case env("HF_HOME") != "":
		return expand(env("HF_HOME"), home)
	case env("XDG_CACHE_HOME") != "":
		return filepath.Join(expand(env("XDG_CACHE_HOME"), home), "huggingface")
	case home != "":
		return filepath.Join(home, ".cache", "huggingface")
	}
	return ""
}

// expand puts the home folder for a leading ~.
func expand(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return name
}
