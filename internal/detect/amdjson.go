package detect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// amdSMI parses the names in the output of amd-smi static --asic --json, in order. Warnings may precede the JSON, and older
// versions print a bare list.
func amdSMI(out []byte) (names []string) {
	type gpu struct {
		ASIC json.RawMessage `json:"asic"`
	}
	var all struct {
		GPUs []gpu `json:"gpu_data"`
	}
	if i := bytes.IndexAny(out, "{["); i >= 0 {
		out = out[i:]
	}
	if json.Unmarshal(out, &all) != nil && json.Unmarshal(out, &all.GPUs) != nil {
		return nil
	}
	for _, g := range all.GPUs[:min(len(all.GPUs), maxGPUs)] {
		var asic struct {
			Name string `json:"market_name"`
		}
		if json.Unmarshal(g.ASIC, &asic) != nil || asic.Name == "N/A" {
			asic.Name = ""
		}
		names = append(names, asic.Name)
	}
	return names
}

// rocmSMI parses the names in the output of rocm-smi --showproductname --json: "card0": {"Card Series": …}, in the spellings of
// versions 5 and 6.
func rocmSMI(out []byte) (names []string) {
	var cards map[string]map[string]any
	if i := bytes.IndexByte(out, '{'); i >= 0 {
		out = out[i:]
	}
	if json.Unmarshal(out, &cards) != nil {
		return nil
	}
	for i := range min(len(cards), maxGPUs) {
		c, ok := cards[fmt.Sprintf("card%d", i)]
		if !ok {
			break
		}
		names = append(names, rocmName(c))
	}
	return names
}

// rocmName returns the card's series; for "Arcturus GL-XL [Instinct MI100]" the text in brackets.
func rocmName(c map[string]any) string {
	for _, key := range []string{"Card Series", "Card series", "Device Name", "Card Model", "Card model"} {
		name, _ := c[key].(string)
		if _, inside, ok := strings.Cut(name, "["); ok {
			name, _, _ = strings.Cut(inside, "]")
		}
		if name != "" && name != "N/A" && !strings.HasPrefix(name, "0x") {
			return printable(name)
		}
	}
	return ""
}
