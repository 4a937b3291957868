// Package train says what training holds: for each class of ranks the phases of a step with what lives in each, the peak
// over them, and what stands beside the device's memory on hosts and disks.
//
// A Job is a model, a machine and how it is trained. Defaults fills in what is open as the framework would, Check
// refuses what it would refuse, Compile gives a Sizer that books the job. framework.go has what frameworks do, as rows;
// storage.go in what formats parameters and states are kept; style.go what activations are kept; phases.go the phases.
// Formulas of layers are those of the model's operators alone.
package train

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Job is a model to be trained on a machine.
type Job struct {
	Model *model.Model
	// Weights is how the base is stored; nil asks the recipe that Plan.Weights names.
	Weights  *model.Weights
	Machine  *hardware.Machine // nil: no bounds
	Plan     *plan.Plan
	Training *plan.Training
	// Framework and Version are read from Training.Framework by Defaults.
	Framework *Framework
	Version   engine.Version
	// Longest is the longest sample of the data in tokens; 0 when it is not known.
	Longest int64
	// Single: answers are judged one by one, and not in pairs.
	Single bool
	// Reference, Reward and Teacher are the models beside the trained one; nil for none.
	Reference, Reward, Teacher *Frozen
	// Critic ends in one number and trains beside the model; nil for none.
	Critic *model.Model
	Notes  []engine.Note
}

// Frozen is a model that only runs forward.
type Frozen struct {
	Model   *model.Model
	Weights *model.Weights
}

// Note adds a remark.
func (j *Job) Note(code, severity, field, format string, args ...any) {
	j.Notes = append(j.Notes, engine.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// Default remarks that a field was filled in.
func (j *Job) Default(field string, value any) {
	j.Note("default_used", "info", field, "%s = %v by default", field, value)
}

// Devices of the machine; without one, those that the plan's groups take.
func (j *Job) Devices() int64 {
	if j.Machine == nil {
		return max(1, j.Plan.Ranks())
	}
	return int64(max(1, j.Machine.Devices()))
}

// PerNode is how many devices share a node.
func (j *Job) PerNode() int64 {
	if j.Machine == nil {
		return j.Devices()
	}
	return int64(max(1, j.Machine.PerNode))
}

// Adapters reports whether low-rank matrices train beside a frozen base.
func (j *Job) Adapters() bool { return j.Training.Method != "full" && j.Training.Method != "" }

// Sequence is how many tokens of one sequence a step holds: what is given, unless samples are padded to the longest of
// a batch, which is then the longest of the data or what is typical of the framework's examples.
func (j *Job) Sequence() int64 {
	s := j.longest()
	if j.padded() && j.Longest == 0 && j.Framework.Typical > 0 {
		return min(s, j.Framework.Typical)
	}
	return s
}

// longest is the most that a sequence may hold.
func (j *Job) longest() int64 {
	s := int64(j.Training.SequenceLength)
	if j.padded() && j.Longest > 0 {
		return min(s, j.Longest)
	}
	return s
}

func (j *Job) padded() bool { return j.Training.Packing != nil && !*j.Training.Packing }

// Estimate is a figure with its 90 % band, in bytes.
type Estimate struct{ Mid, Low, High float64 }

// Phase is a time of the step, and what lives in it on a rank.
type Phase struct {
	Name  string
	Items []ledger.Item
}

// Total sums what lives in the phase on the device.
func (p *Phase) Total() ledger.Total { return ledger.At(p.Items, ledger.Device) }

// Rank is a class of ranks that hold the same.
type Rank struct {
	Name             string
	Index, Count     int64
	Stage            int
	Capacity, Usable ledger.Num
	Unlimited        bool
	Phases           []Phase
	Peak             int           // the phase that holds most
	Allocated        Estimate      // what torch.cuda.max_memory_allocated prints
	Reserved, SMI    Estimate      // what torch reserves, and what nvidia-smi prints
	Needed           []ledger.Item // of the peak, with what allocator, driver and communication take beside it
	Host, Disk       []ledger.Item // this rank's part, checkpoints among it
	Drivers          Drivers
}

// Drivers are what torch reserves beside allocated bytes grows with: bytes of the logits, of the block that is computed,
// and of parameters that are gathered. Pools are bytes that streams of FSDP2 keep while others are at the peak.
type Drivers struct {
	Logits, Block, Gathered float64
	Pools                   float64
	Several                 bool // more than one rank
}
