package family_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// oneOfEach gives a configuration of the catalog for every architecture, with the texts of its fields.
func oneOfEach(t *testing.T) map[string]map[string]json.RawMessage {
	t.Helper()
	out := map[string]map[string]json.RawMessage{}
	for _, e := range catalog.All() {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(e.Config, &fields); err != nil {
			t.Fatal(err)
		}
		class := string(fields["architectures"]) + string(fields["model_type"]) + string(fields["_class_name"])
		if out[class] == nil {
			out[class] = fields
		}
	}
	return out
}

// build reads a configuration.
func build(fields map[string]json.RawMessage) (*model.Model, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	c, err := family.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	return family.FromConfigModel("m", c)
}

// size is what a wrong value must not change in silence.
func size(m *model.Model) string {
	var caches []model.Cache
	for i := range m.Parts {
		m.Parts[i].Each(func(k *model.Kind, n int64) {
			k.Caches(func(c model.Cache) {
				c.Scan = nil // an address
				caches = append(caches, c)
			})
		})
	}
	return fmt.Sprint(m.Totals(), m.ActiveParams(), m.Context, m.Vocab, caches)
}

// ratios are fields that may be any number.
var ratios = map[string]bool{"hidden_ratio": true, "mlp_ratio": true, "mamba_expand": true}

// TestWrongValues: in a configuration of any architecture, a number of the wrong kind is refused with the
// name of its field and what to do, or it is in a field that has no say.
func TestWrongValues(t *testing.T) {
	refused := 0
	for class, fields := range oneOfEach(t) {
		m, err := build(fields)
		if err != nil {
			t.Fatalf("%s: %v", class, err)
		}
		was := size(m)
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			if text := string(fields[field]); strings.Trim(text, "-0123456789.e+") != "" {
				continue // no number
			}
			for _, wrong := range []string{"-4", "2.5", `"64"`, "1e30", "99999999999999999999", "[1]", "{}", "true"} {
				if wrong == "2.5" && ratios[field] {
					continue // such a network can be
				}
				if wrongValue(t, class, fields, field, wrong, was) {
					refused++
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d values were refused", refused)
	}
}

func wrongValue(t *testing.T, class string, fields map[string]json.RawMessage, field, wrong, was string) (refused bool) {
	t.Helper()
	changed := maps.Clone(fields)
	changed[field] = json.RawMessage(wrong)
	m, err := build(changed)
	if err == nil {
		if now := size(m); now != was {
			t.Errorf("%s with %s = %s is taken for another model", class, field, wrong)
		}
		return false
	}
	var e *family.FieldError
	if !errors.As(err, &e) || e.Fix == "" || !strings.Contains(err.Error(), field) {
		t.Errorf("%s with %s = %s: %v", class, field, wrong, err)
	}
	return true
}

// TestMissingFields: without any one of its fields, a configuration is read or refused with what to do.
func TestMissingFields(t *testing.T) {
	for class, fields := range oneOfEach(t) {
		for field := range fields {
			for _, with := range []string{"", "null"} {
				changed := maps.Clone(fields)
				if changed[field] = json.RawMessage(with); with == "" {
					delete(changed, field)
				}
				m, err := build(changed)
				var e *family.FieldError
				var u *family.UnknownError
				switch {
				case err == nil && m.Params() <= 0:
					t.Errorf("%s without %s: no parameters", class, field)
				case err != nil && !errors.As(err, &u) && (!errors.As(err, &e) || e.Fix == ""):
					t.Errorf("%s without %s: %v", class, field, err)
				}
			}
		}
	}
}
