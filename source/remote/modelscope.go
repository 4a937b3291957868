package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/source"
)

// ModelScope (modelscope.cn) lists a repository at /api/v1/models/REPO/repo/files and gives a file at
// /api/v1/models/REPO/repo?FilePath=FILE. A list has no commit; files are told apart by their sums.

// modelScopeEndpoint is MODELSCOPE_DOMAIN, or the service.
func (f *Finder) modelScopeEndpoint() string {
	d := strings.TrimRight(f.env("MODELSCOPE_DOMAIN"), "/")
	if d == "" {
		return "https://www.modelscope.cn"
	}
	if !strings.Contains(d, "://") {
		d = "https://" + d
	}
	return d
}

// modelScope finds a model of ModelScope.
func (f *Finder) modelScope(r *reference) (*source.Place, error) {
	if !strings.Contains(r.repo, "/") {
		return nil, badReference(r.given, "names no repository", "modelscope:org/name")
	}
	r.revision = cmp.Or(r.revision, "master")
	p := &repo{finder: f, service: f.modelScopeService(), ref: r}
	return p.open()
}

func (f *Finder) modelScopeService() *service {
	endpoint := f.modelScopeEndpoint()
	s := &service{name: strings.TrimPrefix(hostOf(endpoint), "www."), decode: decodeModelScope}
	s.list = func(r *reference) *url.URL {
		return joined(endpoint, "/api/v1/models/"+r.repo+"/repo/files?Recursive=true&Revision="+url.QueryEscape(r.revision))
	}
	s.file = func(r *reference, _, name string) *url.URL {
		return joined(endpoint, "/api/v1/models/"+r.repo+"/repo?Revision="+url.QueryEscape(r.revision)+"&FilePath="+url.QueryEscape(name))
	}
	s.explain = func(r *reference, name string, err error) error {
		e, ok := errors.AsType[*statusError](err)
		if !ok || e.status != 404 && e.status != 401 && e.status != 403 {
			return f.fault(s.name, r, name, err)
		}
		return &memwall.Error{Code: memwall.UnknownModel, Field: "model", Value: redact(r.given),
			Message: fmt.Sprintf("%s has no model %s at %s that is open to everybody", s.name, cmpName(r, name), r.revision),
			Hint:    "check the spelling; private models of ModelScope are not read: download them and give their folder"}
	}
	return s
}

// decodeModelScope reads a list of files. The service reports failures in a body of their own.
func decodeModelScope(data []byte) (*listing, error) {
	var in struct {
		Success *bool  `json:"Success"`
		Message string `json:"Message"`
		Data    struct {
			Files []struct {
				Path   string `json:"Path"`
				Type   string `json:"Type"`
				Size   int64  `json:"Size"`
				Sha256 string `json:"Sha256"`
			} `json:"Files"`
		} `json:"Data"`
	}
	if err := json.Unmarshal(data, &in); err != nil || len(in.Data.Files) > maxListed {
		return nil, refuse(tryLater, "ModelScope's list of files cannot be read")
	}
	if in.Success != nil && !*in.Success {
		return nil, refuse("check the spelling and the revision", "ModelScope says: %s", format40(in.Message))
	}
	l := &listing{Files: map[string]entry{}}
	for _, f := range in.Data.Files {
		if f.Type == "tree" || !validFile(f.Path) {
			continue
		}
		e := entry{Size: max(-1, f.Size)}
		if isHex(f.Sha256, 64) {
			e.Sum = f.Sha256
		}
		l.Files[f.Path] = e
	}
	return l, nil
}
