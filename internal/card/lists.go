package card

import "github.com/memwall/memwall"

// HardwareList is the catalog's hardware.
type HardwareList struct {
	Devices []HardwareRow `json:"devices"`
	Nodes   []Node        `json:"nodes,omitempty"`
}

// ListHardware returns the devices and nodes that match a filter.
func ListHardware(filter string) *HardwareList {
	return &HardwareList{Devices(filter), Nodes(filter)}
}

// FormatList holds the formats of numbers and the recipes of models.
type FormatList struct {
	Formats  []*Format    `json:"formats"`
	Blocks   []*Format    `json:"gguf_blocks"`
	Recipes  []*Recipe    `json:"recipes"`
	Measured []*Published `json:"measured_only"`
}

// ListFormats returns the formats and recipes that match a filter.
func ListFormats(filter string) *FormatList {
	l := &FormatList{Recipes: Recipes(filter), Measured: MeasuredOnly(filter)}
	l.Formats, l.Blocks = Formats(filter)
	return l
}

// Empty reports whether nothing matched.
func (l *FormatList) Empty() bool {
	return len(l.Formats)+len(l.Blocks)+len(l.Recipes)+len(l.Measured) == 0
}

// FormatCard returns the card of a name; a name that is both a format and a recipe, such as bf16, is the format.
func FormatCard(name string) (any, *memwall.Error) {
	if f := FormatOf(name); f != nil {
		return f, nil
	}
	if r := RecipeOf(name); r != nil {
		return r, nil
	}
	if m := PublishedOf(name); m != nil {
		return m, nil
	}
	return nil, NoFormat(name)
}
