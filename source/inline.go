package source

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model/family"
)

// Inlined is the prefix of a reference that contains a config.json: deflated (RFC 1951) and in base64url without
// padding, so that it can be part of a URL.
const Inlined = "config:"

// Limits on such references: unpacked size, and encoded length.
const (
	maxInline  = 1 << 20
	mostPacked = 1 << 18
)

// Inline is a ModelSource that resolves inlined config.json references itself and passes all others to Rest. It does no
// I/O.
type Inline struct{ Rest memwall.ModelSource }

// Model resolves a reference.
func (s Inline) Model(ref string) (*Resolved, error) {
	if strings.HasPrefix(ref, Inlined) {
		return unpacked(ref)
	}
	return s.Rest.Model(ref)
}

// Reference returns a reference that contains the given config.json, minified.
func Reference(config []byte) (string, error) {
	if len(config) > maxInline {
		return "", badInline(fmt.Sprintf("a config.json of %d bytes is longer than %d", len(config), maxInline), "give its folder at a terminal")
	}
	if _, err := family.ParseConfig(config); err != nil {
		return "", inFile("config.json", err)
	}
	var plain, b bytes.Buffer
	if err := json.Compact(&plain, config); err != nil {
		return "", badInline("no JSON: "+err.Error(), "the text of a config.json, with both braces")
	}
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "", err
	}
	_, _ = w.Write(plain.Bytes()) // in-memory writes cannot fail
	_ = w.Close()
	out := Inlined + base64.RawURLEncoding.EncodeToString(b.Bytes())
	if len(out) > mostPacked {
		return "", badInline(fmt.Sprintf("packed it has %d letters of %d", len(out), mostPacked), "give its folder at a terminal")
	}
	return out, nil
}

// unpacked resolves a reference, never unpacking more than the limit.
func unpacked(ref string) (*Resolved, error) {
	if len(ref) > mostPacked {
		return nil, badInline(fmt.Sprintf("it has %d letters of %d", len(ref), mostPacked), "give the folder of the model at a terminal")
	}
	packed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(ref, Inlined))
	if err != nil {
		return nil, badInline("it is not base64url: a part of the address may be missing", "copy the whole address, or paste the config.json again")
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxInline+1))
	switch {
	case err != nil:
		return nil, badInline("it does not unpack: a part of the address may be missing", "copy the whole address, or paste the config.json again")
	case len(text) > maxInline:
		return nil, badInline(fmt.Sprintf("it unpacks to more than %d bytes", maxInline), "give the folder of the model at a terminal")
	}
	r, err := Config(inlineName(text), text)
	if err != nil {
		return nil, err
	}
	r.Provenance = "pasted " + r.Provenance
	return r, nil
}

// inlineName returns the name that a config.json gives its model, or else what it describes.
func inlineName(text []byte) string {
	var named struct {
		Name  any `json:"_name_or_path"`
		Type  any `json:"model_type"`
		Class any `json:"architectures"`
	}
	if json.Unmarshal(text, &named) != nil {
		return "config.json"
	}
	name, _ := named.Name.(string)
	kind, _ := named.Type.(string)
	if name = path.Base(strings.TrimRight(name, "/")); name == "." || name == "/" || len(name) > 80 {
		name = ""
	}
	if len(kind) > 40 {
		kind = ""
	}
	return cmp.Or(name, kind, "config.json")
}

func badInline(why, fix string) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "model", Value: Inlined + "…", Message: "model = config:…: " + why, Hint: fix}
}
