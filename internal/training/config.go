package training

import (
	"cmp"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/train/config"
)

// configFormats are the configurations that go with a framework, the first that can say the plan is given. transformers
// is configured by the script that calls it, with a file of its launcher where ranks share the model.
var configFormats = map[string][]string{
	"transformers": {"deepspeed", "accelerate", "trl"}, "deepspeed": {"deepspeed"}, "fsdp": {"accelerate"}, "megatron": {"megatron"},
	"torchtune":  {"torchtune"},
	"torchtitan": {"torchtitan"}, "axolotl": {"axolotl"}, "llama-factory": {"llama-factory"}, "llamafactory": {"llama-factory"},
	"peft": {"trl"},
}

// FromConfig reads the files and commands that a run is configured by into a train request, in the words of whatever framework they
// are. What changes memory or speed and no field holds comes back unread, with its value. Hardware is not in such files.
func FromConfig(texts [][]byte) (*api.Request, []string, error) {
	found, err := config.Find(texts)
	if err != nil {
		return nil, nil, api.AsError(err)
	}
	if strings.ContainsAny(found.Hub, " \t\n<>") { // a place for a name
		found.Unread, found.Hub = append(found.Unread, "model = "+found.Hub), ""
	}
	r := &api.Request{Ask: api.AskTrain, Model: cmp.Or(folder(found.Hub), found.Model, shaped(found.Shape)), Plan: found.Plan,
		Training: found.Training, Devices: found.Devices}
	if r.Model == "" {
		r.Model, r.Override = likeness(found.Shape)
	}
	if read, err := catalog.Read(r.Model); err == nil && read.Format != "" && r.Framework == "megatron" && r.Weights == "" {
		r.Weights = "bf16" // the checkpoint that Megatron trains is its own, in whatever format the engine beside it generates
	}
	return r, found.Unread, nil
}

// folder is the last part of a path that begins with what a script takes from elsewhere: ${HOME}/models/Qwen3-8B.
func folder(name string) string {
	if rest := name[strings.LastIndexByte(strings.TrimRight(name, "/"), '/')+1:]; strings.HasPrefix(name, "${") && !strings.Contains(rest, "${") {
		return rest
	}
	return name
}

// Config is the configuration of the plan for its framework, by the names of its files. A note says why there is none.
func (t *Training) Config() map[string]string {
	if t.Job.Model.Part(model.PartDenoiser) != nil || t.Question.Resolved.Format == "description" || len(t.Question.Request.Override) > 0 {
		return nil
	}
	named := t.Question.Request.Training
	if named.ReferenceModel == "none" && t.Job.Adapters() && named.Objective != "grpo" {
		named.ReferenceModel = "" // trainers take the base without its adapters
	}
	for _, name := range []*string{&named.ReferenceModel, &named.RewardModel, &named.TeacherModel} {
		*name = hub(t.Question.Env, *name)
	}
	in := config.Input{Model: t.Question.Resolved.ID, Hub: t.Question.Resolved.Hub, Plan: t.Question.Request.Plan, Training: named,
		Devices: t.Job.Devices(), Layers: int64(len(t.Job.Model.Decoder().Layers)), Nodes: max(1, t.Job.Devices()/max(1, t.Job.PerNode()))}
	var last error
	for _, name := range t.formats() {
		files, err := config.Write(name, in)
		if err != nil {
			last = err
			continue
		}
		out := map[string]string{}
		for _, f := range files {
			out[f.Name] = f.Text
		}
		return out
	}
	if last != nil {
		t.Question.Job.Note("no_config", "info", "framework", "no configuration: %s", last)
	}
	return nil
}

// formats to write, by the framework and how the model is shared.
func (t *Training) formats() []string {
	asked, _, _ := strings.Cut(strings.ToLower(t.Question.Request.Framework), "@")
	if own := configFormats[asked]; own != nil && asked != "transformers" {
		return own // several programs train with one library, and each has files of its own
	}
	all := configFormats[t.Job.Framework.Name]
	if t.Job.Framework.Name != "transformers" {
		return all
	}
	switch t.Question.Request.Sharding {
	case "zero1", "zero2", "zero3":
		return all[:1]
	case "fsdp", "fsdp2", "hsdp":
		return all[1:2]
	}
	return all[2:]
}

// hub is the id of a model on the Hugging Face hub, by which frameworks load it; the name itself where it has none.
func hub(a *question.Env, name string) string {
	if name == "" || name == "none" {
		return name
	}
	if r, err := a.Resolve(name); err == nil && r.Hub != "" {
		return r.Hub
	}
	return name
}
