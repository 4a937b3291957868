package card

import (
	"strings"

	"github.com/memwall/memwall/hardware"
)

// NewDevice is the row that a described device would add to the catalog. Nothing is written.
type NewDevice struct {
	Row   string   `json:"row"` // cells apart by tabs
	RowIn string   `json:"row_in"`
	Empty []string `json:"empty"` // columns that the description cannot fill
	Notes []string `json:"notes,omitempty"`
}

// NewDeviceOf reads name=x,memory=24GiB,...
func NewDeviceOf(text string) (*NewDevice, error) {
	row, empty, rest, err := hardware.Row(text)
	if err != nil {
		return nil, err
	}
	n := &NewDevice{Row: row, RowIn: "hardware/catalog/devices.tsv", Empty: empty}
	if len(rest) > 0 {
		n.Notes = append(n.Notes, strings.Join(rest, ", ")+": of a machine, not of a device; a row of hardware/catalog/nodes.tsv holds "+
			"such figures")
	}
	id, _, _ := strings.Cut(row, "\t")
	if d, _, err := hardware.Find(id); err == nil {
		n.Notes = append(n.Notes, "the name "+id+" already means "+d.ID+": choose another, or see defaults.tsv")
	}
	return n, nil
}
