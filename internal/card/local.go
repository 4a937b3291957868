package card

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Local is the machine that the program runs on, as far as detected.
type Local struct {
	// Words are what --on takes for this machine, with its host less what other programs hold of it; "" where
	// nothing is known. Reserved is what others hold of one device, the most over all of them.
	Words    string     `json:"hardware"`
	Reserved unit.Bytes `json:"reserved_bytes"`
	// Idle is the same machine with nobody else on it.
	Idle string `json:"idle_hardware"`
	// CPUWords and IdleCPU are the same of the processor alone.
	CPUWords  string        `json:"cpu_hardware"`
	IdleCPU   string        `json:"idle_cpu_hardware"`
	Devices   []LocalDevice `json:"devices"`
	Link      string        `json:"link,omitempty"`
	Processor *Processor    `json:"processor,omitempty"`
	Host      *LocalHost    `json:"host,omitempty"`
	// InUse says in a sentence what others hold; "" where nobody does.
	InUse string `json:"in_use,omitempty"`
	// Notes are what was assumed, and what could not be read.
	Notes []string `json:"notes,omitempty"`
	// Measured is what a measurement on this machine found.
	Measured *Measured `json:"measured,omitempty"`
}

// LocalDevice is an accelerator of this machine.
type LocalDevice struct {
	Name   string     `json:"name"` // as its driver says it
	ID     string     `json:"id,omitempty"`
	Memory unit.Bytes `json:"memory_bytes"`
	// Used is in use by others, of what Memory counts, nil where nobody says; Users are some of them.
	Used  *unit.Bytes `json:"used_bytes"`
	Users []User      `json:"users,omitempty"`
	PCIe  string      `json:"pcie,omitempty"` // generation and lanes, "4x16"
}

// User is a program that holds memory of a device; 0 bytes where the system does not say how much.
type User struct {
	PID   int        `json:"pid"`
	Name  string     `json:"name"`
	Bytes unit.Bytes `json:"bytes,omitempty"`
}

// Processor is the CPU.
type Processor struct {
	Name string `json:"name"`
	ID   string `json:"id,omitempty"` // in the catalog, where it is the whole chip that runs here
	// Sockets, Cores and Threads are all of them; 0 where the system does not say.
	Sockets int `json:"sockets,omitempty"`
	Cores   int `json:"cores,omitempty"`
	Threads int `json:"threads,omitempty"`
	// Cache is the last level of all of them together.
	Cache unit.Bytes `json:"cache_bytes,omitempty"`
	// Channels are the memory channels that hold a module, where the kernel counts them.
	Channels int `json:"memory_channels,omitempty"`
	// Vectors are the instruction sets that matter to inference, best first.
	Vectors []string `json:"vectors,omitempty"`
}

// LocalHost is the memory of the processor.
type LocalHost struct {
	Total unit.Bytes `json:"total_bytes"`
	// Limit is what a container or a control group allows; 0 without one. LimitBy names the file that says it.
	Limit   unit.Bytes `json:"limit_bytes,omitempty"`
	LimitBy string     `json:"limit_by,omitempty"`
	// Used is held by all programs, without caches that the system gives back.
	Used unit.Bytes `json:"used_bytes"`
	Free unit.Bytes `json:"free_bytes"`
}

// Measured is the result of measuring memory bandwidth and arithmetic: the best of several rounds, and the worst.
type Measured struct {
	Processor string     `json:"processor"`
	Threads   int        `json:"threads"`
	Buffer    unit.Bytes `json:"buffer_bytes"` // of all threads together
	Rounds    int        `json:"rounds"`
	Read      Best       `json:"read"`
	Copy      Best       `json:"copy"`
	Triad     Best       `json:"triad"`
	// FMA is multiply-adds of one number at a time, of all threads; vector units do more.
	FMA     Best         `json:"scalar_fma"`
	Took    unit.Seconds `json:"took_s"`
	Written string       `json:"written,omitempty"`
}

// Best is the best of several rounds, with the worst, in bytes or operations per second.
type Best struct {
	Best  float64 `json:"best"`
	Worst float64 `json:"worst"`
}

// Rated puts the rate that was measured on this processor into the words; what was measured on another is left aside.
func (l *Local) Rated(m *Measured) {
	if m == nil || l.Processor == nil || l.Processor.Name != m.Processor || m.Rate() == "" {
		return
	}
	l.Measured = m
	for _, words := range []*string{&l.Words, &l.Idle, &l.CPUWords, &l.IdleCPU} {
		if strings.Contains(*words, ",host=") {
			*words += "@" + m.Rate()
		}
	}
}

// Rate is the most that the memory gave to reads, alone or beside writes, as --on takes it; "" where nothing was measured.
func (m *Measured) Rate() string {
	const least, most = 1e8, 1e14
	best := max(m.Read.Best, m.Triad.Best)
	if !(best >= least && best <= most) {
		return ""
	}
	return strconv.FormatFloat(best/1e9, 'f', 1, 64) + "GB/s"
}
