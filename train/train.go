// Package train computes the memory of training: for each class of ranks the phases of a step with what is live in
// each, their peak, and what is kept on hosts and disks.
//
// A Job is a model, a machine and a training plan. Defaults fills in unset fields as the framework would, Check rejects
// what it would reject, and Compile returns a Sizer. framework.go describes frameworks, as rows; storage.go the formats
// of parameters and states; style.go which activations are kept; phases.go the phases. Formulas of layers come from the
// model's operators only.
package train

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Job is a model to train on a machine.
type Job struct {
	Model *model.Model
	// Weights is how the base is stored; if nil, as the recipe named by Plan.Weights.
	Weights  *model.Weights
	Machine  *hardware.Machine // nil: unbounded
	Plan     *plan.Plan
	Training *plan.Training
	// Framework and Version are set by Defaults from Training.Framework.
	Framework *Framework
	Version   engine.Version
	// Longest is the longest sample of the data in tokens; 0 if unknown.
	Longest int64
	// Single reports that answers are judged singly, not in pairs.
	Single bool
	// Reference, Reward and Teacher are auxiliary models; nil if not used.
	Reference, Reward, Teacher *Frozen
	// Critic is a trained model with a scalar head; nil if not used.
	Critic *model.Model
	Notes  []engine.Note
}

// Frozen is a model that only runs forward.
type Frozen struct {
	Model   *model.Model
	Weights *model.Weights
}

// Note adds a note.
func (j *Job) Note(code, severity, field, format string, args ...any) {
	j.Notes = append(j.Notes, engine.Note{Code: code, Severity: severity, Field: field, Text: fmt.Sprintf(format, args...)})
}

// Default notes that a field was filled in.
func (j *Job) Default(field string, value any) {
	j.Note("default_used", "info", field, "%s = %v by default", field, value)
}

// Devices returns the machine's number of devices; without a machine, those of the plan's groups.
func (j *Job) Devices() int64 {
	if j.Machine == nil {
		return max(1, j.Plan.Ranks())
	}
	return int64(max(1, j.Machine.Devices()))
}

// PerNode returns the number of devices per node.
func (j *Job) PerNode() int64 {
	if j.Machine == nil {
		return j.Devices()
	}
	return int64(max(1, j.Machine.PerNode))
}

// Adapters reports whether adapters are trained on a frozen base.
func (j *Job) Adapters() bool { return j.Training.Method != "full" && j.Training.Method != "" }

// Sequence returns the tokens per sequence in a step: as given, unless samples are padded to the longest of a batch,
// which is then the longest of the data or typical of the framework's examples.
func (j *Job) Sequence() int64 {
	s := j.longest()
	if j.padded() && j.Longest == 0 && j.Framework.Typical > 0 {
		return min(s, j.Framework.Typical)
	}
	return s
}

// longest returns the maximum tokens per sequence.
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

// Phase is a phase of the step, with what is live on a rank.
type Phase struct {
	Name  string
	Items []ledger.Item
}

// Total returns the sum of the items on the device.
func (p *Phase) Total() ledger.Total { return ledger.At(p.Items, ledger.Device) }

// Rank is a class of identical ranks.
type Rank struct {
	Name             string
	Index, Count     int64
	Stage            int
	Capacity, Usable ledger.Num
	Unlimited        bool
	Phases           []Phase
	Peak             int           // index of the largest phase
	Allocated        Estimate      // as printed by torch.cuda.max_memory_allocated
	Reserved, SMI    Estimate      // reserved by torch, and as printed by nvidia-smi
	Needed           []ledger.Item // at the peak, including allocator, driver and communication
	Host, Disk       []ledger.Item // this rank's part, including checkpoints
	Drivers          Drivers
}

// Drivers are what the memory that torch reserves beyond allocations grows with: bytes of the logits, of the block
// being computed, and of gathered parameters. Pools is what FSDP2's streams cache while others are at their peak.
type Drivers struct {
	Logits, Block, Gathered float64
	Pools                   float64
	Several                 bool // more than one rank
}
