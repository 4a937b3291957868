package detect

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/card"
)

// smiGPU is a device in the output of nvidia-smi -q -x (nvsmi_device_v10 to v13.dtd), as far as it is used.
type smiGPU struct {
	Name      string        `xml:"product_name"`
	UUID      string        `xml:"uuid"`
	Sliced    string        `xml:"mig_mode>current_mig"`
	Instances []smiInstance `xml:"mig_devices>mig_device"`
	Gen       string        `xml:"pci>pci_gpu_link_info>pcie_gen>max_link_gen"`
	HostGen   string        `xml:"pci>pci_gpu_link_info>pcie_gen>max_host_link_gen"`
	Lanes     string        `xml:"pci>pci_gpu_link_info>link_widths>current_link_width"`
	Memory    smiMemory     `xml:"fb_memory_usage"`
	Processes []smiProcess  `xml:"processes>process_info"`
	index     int
}

type smiInstance struct {
	Instance string    `xml:"gpu_instance_id"`
	SMs      string    `xml:"device_attributes>shared>multiprocessor_count"`
	Memory   smiMemory `xml:"fb_memory_usage"`
}

// smiMemory counts in "MiB". Used excludes Reserved, which the driver keeps; drivers before 510 print no Reserved and include it in
// Used.
type smiMemory struct {
	Total    string `xml:"total"`
	Reserved string `xml:"reserved"`
	Used     string `xml:"used"`
}

type smiProcess struct {
	Instance string `xml:"gpu_instance_id"`
	PID      string `xml:"pid"`
	Name     string `xml:"process_name"`
	Used     string `xml:"used_memory"`
}

// maxGPUs bounds the devices of one machine.
const maxGPUs = 256

var errTooMany = errors.New("more devices than a machine has")

// smiXML parses the devices of nvidia-smi -q -x, and the number attached. For truncated output, it returns the devices before the
// break with the error.
func smiXML(text []byte) (gpus []smiGPU, attached int, err error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && len(gpus) > 0:
			return gpus, attached, nil
		case err != nil:
			return gpus, attached, err
		case len(gpus) > maxGPUs:
			return gpus[:maxGPUs], attached, errTooMany
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "attached_gpus":
			var n string
			if d.DecodeElement(&n, &start) == nil {
				attached, _ = small(strings.TrimSpace(n))
			}
		case "gpu":
			g := smiGPU{index: len(gpus)}
			if err := d.DecodeElement(&g, &start); err != nil {
				return gpus, attached, err
			}
			if printable(g.Name) != "" {
				gpus = append(gpus, g)
			}
		}
	}
}

func (p *smiProcess) user() card.User {
	pid, _ := strconv.Atoi(strings.TrimSpace(p.PID))
	return card.User{PID: max(0, pid), Name: programOf(p.Name), Bytes: mib(p.Used)}
}

// usersOf returns the programs on one instance.
func usersOf(g *smiGPU, in *smiInstance) (out []card.User) {
	for _, p := range g.Processes {
		if p.Instance == in.Instance {
			out = append(out, p.user())
		}
	}
	return out
}

// believedSize parses a plausible number of bytes.
func believedSize(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n < maxSize
}
