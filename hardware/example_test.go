package hardware_test

import (
	"fmt"

	"github.com/memwall/memwall/hardware"
)

func ExampleFind() {
	d, notes, err := hardware.Find("NVIDIA GeForce RTX 3060")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.ID, d.Memory.Value, d.Bandwidth.Value, d.Peaks.BF16.Value, d.Peaks.BF16.Basis)
	fmt.Println(notes[0].Text)
	// Output:
	// rtx-3060-12gb 12.00 GiB 360 GB/s 25.5 TFLOP/s derived
	// rtx-3060 read as rtx-3060-12gb: the version in this catalog; an 8 GB card exists
}

func ExampleParse() {
	m, notes, err := hardware.Parse("16xh100-sxm-80gb", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Devices(), "devices in", m.Nodes, "nodes,", m.Intra.EachWay.Value, "within and", m.Inter.EachWay.Value, "between")
	for _, n := range notes {
		fmt.Println(n.Text)
	}
	// Output:
	// 16 devices in 2 nodes, 450 GB/s within and 50 GB/s between
	// 16 devices taken as 2 nodes of up to 8, as h100-sxm-80gb usually comes
	// between nodes 50 GB/s each way for each device, as with 400 Gb/s InfiniBand; say fabric=name:rate
}

func ExampleParse_unknown() {
	_, _, err := hardware.Parse("rtx-4091", 0)
	fmt.Println(err)
	// Output:
	// hardware "rtx-4091" is not in the catalog: did you mean rtx-4090?
}
