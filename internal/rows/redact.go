package rows

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
)

// modelName: a catalog id, or org/name of the hub. A path has a folder before its first slash, or an ending.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:+-]{0,120}(/[A-Za-z0-9][A-Za-z0-9._:+-]{0,120})?$`)

// formats are the words of these fields; other fields of words are lists of the schema, or are not shared.
var formats = []string{"weights", "kv", "kv_v", "draft_kv", "draft_kv_v"}

var shares = regexp.MustCompile(`^[0-9.,:/ -]{1,80}$`)

// redacted is the plan with what may leave a machine: numbers, switches, words of a list, formats, shares. What is text of
// somebody's own, such as arguments, patterns and files, is left out, and named.
func redacted(p *api.Request) (out api.Request, left []string) {
	out = api.Request{Ask: "fit", Model: p.Model, Hardware: p.Hardware}
	out.Engine = p.Engine
	fields := api.Fields()
	for i := range fields {
		f := &fields[i]
		v := f.Value(p)
		if v.IsZero() || slices.Contains([]string{"ask", "model", "hardware", "engine"}, f.Name) {
			continue
		}
		if !shareable(f, v) {
			left = append(left, f.Name)
			continue
		}
		f.Value(&out).Set(v)
	}
	return out, left
}

// shareable says whether a value of a field tells nothing but how a model was run.
func shareable(f *api.Field, v reflect.Value) bool {
	if !f.OfAsk("fit") || f.Name == "also" || f.Name == "explain" {
		return false
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	case reflect.String:
		return shareableWord(f, v.String())
	case reflect.Struct:
		return f.Name == "offload" || f.Name == "disaggregated"
	}
	return false
}

func shareableWord(f *api.Field, s string) bool {
	switch {
	case slices.Contains(f.Enum, s):
		return true
	case slices.Contains(formats, f.Name):
		return dtype.FindFormat(s) != nil || dtype.FindRecipe(s) != nil
	case f.Name == "tensor_split" || f.Name == "fit_target" || f.Name == "smart_expert_reduction":
		return shares.MatchString(s)
	}
	return false
}

// Shared is a row that may leave, and what of the plan was left out.
type Shared struct {
	Row  *Row     `json:"row"`
	Left []string `json:"left_out,omitempty"`
}

// From converts a comparison to a row. named is the model's name if the user allowed sharing it; otherwise only a catalog name is
// included. The error says what is missing.
func From(a *api.Answer, named, source, licence, date string) (*Shared, error) {
	if a.Plan == nil || len(a.Compare) == 0 {
		return nil, &Error{At: "the comparison", Why: "holds no figure to share", Fix: "a start-up log with memory lines"}
	}
	p, left := redacted(a.Plan)
	if err := publicModel(&p, a, named); err != nil {
		return nil, err
	}
	if err := publicHardware(&p); err != nil {
		return nil, err
	}
	ask, err := askOf(&p)
	if err != nil {
		return nil, err
	}
	r := &Row{Schema: Schema, By: memwall.Version, Engine: a.Plan.Engine, Date: date, Source: source, Licence: licence, Ask: ask,
		Figures: figuresOf(a.Compare)}
	return &Shared{r, left}, r.check("the row")
}

// askOf writes a plan as a request that Decode reads.
func askOf(p *api.Request) (json.RawMessage, error) { return json.Marshal(p) }

// publicModel puts the catalog's name for a file's, or the one that the user gave.
func publicModel(p *api.Request, a *api.Answer, named string) error {
	switch {
	case named != "" && modelName.MatchString(named):
		p.Model = named
		return nil
	case a.Model != nil && inCatalog(a.Model.ID):
		p.Model = a.Model.ID
		return nil
	case inCatalog(p.Model):
		return nil
	}
	return &Error{At: "the model", Why: "is none of the catalog, and its name is not shared unless you say it",
		Fix: "--model org/name, or --model with an id of memwall models"}
}

func inCatalog(name string) bool {
	if name == "" || !modelName.MatchString(name) {
		return false
	}
	r, err := (memwall.Catalog{}).Model(name)
	return err == nil && !r.Assumed && !r.Guessed
}

// publicHardware writes devices by their ids in the catalog; a description of one's own stays without its name.
func publicHardware(p *api.Request) error {
	m, _, err := hardware.Parse(p.Hardware, int(p.Devices))
	if err != nil || m.Devices() == 0 {
		return &Error{At: "the hardware", Field: "hardware", Value: clip(p.Hardware), Why: "is not known",
			Fix: "--on names it, as memwall hardware lists it"}
	}
	var words []string
	for i := range m.Groups {
		if m.Groups[i].Device.ID == "" {
			return &Error{At: "the hardware", Field: "hardware", Value: clip(p.Hardware), Why: "is a description of your own",
				Fix: "--on with a device of memwall hardware"}
		}
		words = append(words, countOf(m.Groups[i].Count)+m.Groups[i].Device.ID)
	}
	p.Hardware, p.Devices = strings.Join(words, "+"), 0
	return nil
}

// figuresOf the lines that were printed.
func figuresOf(lines []api.Line) (out []Figure) {
	for i := range lines {
		l := &lines[i]
		if l.Printed == nil || l.Given != "" {
			continue
		}
		out = append(out, Figure{Name: l.Name, Device: l.Device, Unit: l.Unit, Measured: *l.Printed, Predicted: l.Ours, Low: l.Low,
			High: l.High})
	}
	return out
}
