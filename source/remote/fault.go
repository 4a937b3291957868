package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
)

// errOffline is asked for what is not here while nothing may be fetched.
var errOffline = errors.New("offline")

// fault says why something could not be had of a service, and what to do.
func (f *Finder) fault(service string, r *reference, name string, err error) error {
	var told *memwall.Error
	var before *source.Unreached
	switch {
	case errors.As(err, &before):
		return before
	case errors.As(err, &told):
		return told
	}
	out := &memwall.Error{Code: memwall.Remote, Field: "model", Value: redact(r.given)}
	what := cmpName(r, name)
	var s *statusError
	var no *refusal
	var p *privateError
	switch {
	case errors.Is(err, errOffline):
		out.Message = fmt.Sprintf("HF_HUB_OFFLINE is set, and %s is not on this machine: %s", what, f.looked(r))
		out.Hint = "unset HF_HUB_OFFLINE once, or fetch it: hf download " + strings.TrimSpace(r.repo+" "+name)
	case errors.As(err, &p):
		out.Message = fmt.Sprintf("%s: %s is the private address %s, which is not asked", what, p.host, p.address)
		out.Hint = "if it is meant: MEMWALL_ALLOW_PRIVATE=" + p.host
	case errors.As(err, &no):
		out.Message, out.Hint = what+": "+no.problem, no.fix
	case errors.As(err, &s) && s.status == 429:
		out.Message, out.Hint = fmt.Sprintf("%s: %s is asked too often", what, s.url.Host),
			"try again "+after(s.wait)+"; with HF_TOKEN set the hub allows more"
	case errors.As(err, &s):
		out.Message, out.Hint = what+": "+s.Error(), "check the address; if it is right, try again later"
	default:
		out.Message, out.Hint = what+": "+reason(err),
			"check the connection, HTTPS_PROXY if there is a proxy, and "+service+"; or download the files and give their path"
	}
	out.Message, out.Hint = redact(out.Message), redact(out.Hint)
	if unreached(err) {
		return &source.Unreached{Told: out}
	}
	return out
}

// unreached reports whether there was nobody to ask: no network, or none that leads there.
func unreached(err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	return errors.Is(err, errOffline) || errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

// cmpName is what could not be had: a file of a repository, or the repository.
func cmpName(r *reference, name string) string {
	switch {
	case r.repo == "" && r.url != nil:
		return shown(r.url)
	case name == "":
		return r.repo
	}
	return r.repo + "/" + name
}

func after(wait time.Duration) string {
	if wait <= 0 {
		return "in some minutes"
	}
	return "after " + wait.String()
}

// reason is a failure of the network in few words.
func reason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, errSilent), errors.Is(err, errStalled), errors.Is(err, errSlow), errors.Is(err, errOffline):
		return redact(err.Error())
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up"
	case isCertificate(err):
		return "the certificate is not trusted: " + redact(err.Error())
	case errors.As(err, &op) && op.Op == "dial":
		return redact(op.Error())
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was cut"
	}
	return redact(err.Error())
}
