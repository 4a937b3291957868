package llamacpp

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/score"
	"github.com/memwall/memwall/unit"
)

// Command returns the command line that runs the plan: llama-server with what differs from its defaults, or Ollama with
// the equivalent variables.
func (e Engine) Command(j *engine.Job) string {
	r := e.rules(j)
	s := e.settings(j, &r)
	if e.Program == Ollama {
		return e.ollamaCommand(j)
	}
	sh := s.shape(&r, j.Load())
	args := []string{"llama-server", fileArgs(j), "-c", fmt.Sprint(sh.asked)}
	if !j.Model.Remembers() || score.Special(j.Model.ID) == score.Embedding {
		args = append(args, "--embeddings")
	}
	args = append(args, slotArgs(j, &r, &s)...)
	args = append(args, placeArgs(j, &r)...)
	args = append(args, cacheArgs(j, &r, &s)...)
	args = append(args, hostArgs(j)...)
	args = append(args, rpcArgs(j)...)
	args = append(args, draftArgs(j, &r)...)
	args = append(args, forkArgs(j, &r)...)
	return strings.Join(append(args, batchArgs(j, &r)...), " ")
}

// fileArgs returns the arguments for the file: on this machine, on the hub, or at a URL that the server downloads.
func fileArgs(j *engine.Job) string {
	c := &j.Checkpoint
	if strings.Contains(c.HubFile, ":") { // a repository and the format of a file in it
		return "-hf " + argv.Quote(c.HubFile)
	}
	owner, rest, _ := strings.Cut(c.HubFile, "/")
	name, file, onHub := strings.Cut(rest, "/")
	switch {
	case onHub:
		return "-hf " + argv.Quote(owner+"/"+name) + " -hff " + argv.Quote(file)
	case c.File == "" && c.Address != "" && j.Keeps():
		return "-mu " + argv.Quote(c.Address) // --model-url (common/arg.cpp)
	}
	return "-m " + argv.Quote(modelFile(j))
}

// modelFile returns the file, or the name it would have.
func modelFile(j *engine.Job) string {
	c := &j.Checkpoint
	switch {
	case c.File != "" && j.Keeps():
		return c.File
	case isGGUF(j.Model.ID):
		return j.Model.ID
	case c.HubFile != "" && !strings.Contains(c.HubFile, ":"):
		return path.Base(c.HubFile)
	}
	return j.Model.ID + "-" + strings.TrimPrefix(j.Weights.Name, "gguf-") + ".gguf"
}

func isGGUF(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gguf") }

// autoSlots is the build from which llama-server defaults to 4 slots in one cache (#16736).
var autoSlots = build(6925)

func slotArgs(j *engine.Job, r *rules, s *settings) (args []string) {
	slots, auto := int64(j.Plan.Sequences), r.version.AtLeast(autoSlots)
	switch {
	case auto && slots == 4 && s.unified:
		return nil
	case auto || slots > 1:
		args = append(args, fmt.Sprintf("-np %d", slots))
	}
	if s.unified && r.streams && slots > 1 {
		args = append(args, "-kvu")
	}
	return args
}

func placeArgs(j *engine.Job, r *rules) (args []string) {
	p := j.Plan
	if n := p.GPULayers; n != nil && !takesAll(j, r) {
		args = append(args, "-ngl "+layersArg(int64(*n), len(j.Model.Decoder().Layers)))
	}
	if p.SplitMode != "" && p.SplitMode != "layer" {
		args = append(args, "-sm "+p.SplitMode)
	}
	if p.MainGPU != nil {
		args = append(args, fmt.Sprintf("-mg %d", *p.MainGPU))
	}
	if p.TensorSplit != "" {
		args = append(args, "-ts "+p.TensorSplit)
	}
	if p.OverrideTensor != "" {
		args = append(args, "-ot "+argv.Quote(p.OverrideTensor))
	}
	if n := p.CPUMoE; n != nil && *n < 0 {
		args = append(args, "--cpu-moe")
	} else if n != nil && *n > 0 {
		args = append(args, fmt.Sprintf("--n-cpu-moe %d", *n))
	}
	if !on(p.Mmap) {
		args = append(args, "--no-mmap")
	}
	if p.MMProj != "" {
		args = append(args, "--mmproj "+argv.Quote(p.MMProj))
	}
	if !on(p.MMProjOffload) {
		args = append(args, "--no-mmproj-offload")
	}
	return args
}

// takesAll reports whether llama.cpp puts all layers on the devices by default: -ngl is auto, and --fit, on by default,
// moves nothing if its margin stays free (tools/server/README.md, common/fit.cpp). If less is free it would, and an
// explicit number pins the plan.
func takesAll(j *engine.Job, r *rules) bool {
	return *j.Plan.GPULayers < 0 && r.fits && j.Plan.FitTarget == "" && j.Room >= fitMargin*unit.MiB && used(j) > 0
}

// hostArgs returns the arguments for what the host keeps.
func hostArgs(j *engine.Job) (args []string) {
	p := j.Plan
	if isOn(p.MLock) {
		args = append(args, "--mlock")
	}
	if !on(p.OpOffload) {
		args = append(args, "--no-op-offload")
	}
	if isOn(p.ControlVector) {
		args = append(args, "--control-vector control-vector.gguf")
	}
	if n := p.CacheRAM; n != nil {
		args = append(args, fmt.Sprintf("--cache-ram %d", *n))
	}
	if n := p.Checkpoints; n != nil {
		args = append(args, fmt.Sprintf("--ctx-checkpoints %d", *n))
	}
	return args
}

// draftArgs returns the arguments for drafting.
func draftArgs(j *engine.Job, r *rules) (args []string) {
	p := j.Plan
	if p.DraftModel == "" && !isOn(p.MTP) {
		return nil
	}
	if isOn(p.MTP) {
		args = append(args, "--spec-type draft-mtp")
	}
	if p.DraftModel != "" {
		args = append(args, "-md "+argv.Quote(p.DraftModel))
	}
	if int64(p.DraftTokens) != r.drafts {
		args = append(args, fmt.Sprintf("--draft-max %d", p.DraftTokens))
	}
	if n := p.DraftLayers; n != nil {
		args = append(args, "-ngld "+layersArg(int64(*n), 1))
	}
	if p.DraftKV != "" {
		args = append(args, "-ctkd "+p.DraftKV)
	}
	if v := cmp.Or(p.DraftKVV, p.DraftKV); v != "" {
		args = append(args, "-ctvd "+v)
	}
	return args
}

// layersArg formats a number of layers; one above the model's means all.
func layersArg(n int64, layers int) string {
	switch {
	case n >= 0:
		return fmt.Sprint(n)
	case layers < 99:
		return "99"
	}
	return "999"
}

func cacheArgs(j *engine.Job, r *rules, s *settings) (args []string) {
	p := j.Plan
	switch {
	case r.flash == flashAuto && (r.forked || j.Draft != nil) && (p.Attention == "" || p.Attention == "auto"):
		// left to the program: it may choose another kernel for the draft than for the model
	case r.flash == flashAuto && (s.flash || p.Attention == "flash"): // one that the model cannot run is still the draft's
		args = append(args, "-fa on")
	case r.flash == flashAuto:
		args = append(args, "-fa off")
	case s.flash:
		args = append(args, "-fa")
	}
	if p.KV != "f16" {
		args = append(args, "-ctk "+p.KV)
	}
	if p.KVV != "f16" {
		args = append(args, "-ctv "+p.KVV)
	}
	if s.fullSWA {
		args = append(args, "--swa-full")
	}
	if !s.offloadKV {
		args = append(args, "-nkvo")
	}
	return args
}

func batchArgs(j *engine.Job, r *rules) (args []string) {
	p := j.Plan
	if int64(p.BatchTokens) != r.batch.batch {
		args = append(args, fmt.Sprintf("-b %d", p.BatchTokens))
	}
	if int64(p.UBatch) != r.batch.ubatch {
		args = append(args, fmt.Sprintf("-ub %d", p.UBatch))
	}
	return args
}
