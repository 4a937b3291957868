package memwall

import (
	"github.com/memwall/memwall/train/config"
)

// configFormats are the configurations that go with a framework, the first that can say the plan is given. transformers
// is configured by the script that calls it, with a file of its launcher where ranks share the model.
var configFormats = map[string][]string{
	"transformers": {"deepspeed", "accelerate", "trl"}, "deepspeed": {"deepspeed"}, "fsdp": {"accelerate"}, "megatron": {"megatron"}, "torchtune": {"torchtune"},
	"torchtitan": {"torchtitan"}, "axolotl": {"axolotl"}, "llama-factory": {"llama-factory"}, "peft": {"trl"},
}

// config is the configuration of the plan for its framework, by the names of its files. A note says why there is none.
func (t *training) config() map[string]string {
	if t.q.resolved.Format == "description" || len(t.q.request.Override) > 0 {
		return nil
	}
	in := config.Input{Model: t.q.resolved.ID, Hub: t.q.resolved.Hub, Plan: t.q.request.Plan, Training: t.q.request.Training, Devices: t.job.Devices(), Layers: int64(len(t.job.Model.Decoder().Layers)), Nodes: max(1, t.job.Devices()/max(1, t.job.PerNode()))}
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
		t.q.job.Note("no_config", "info", "framework", "no configuration: %s", last)
	}
	return nil
}

// formats to write, by the framework and how the model is shared.
func (t *training) formats() []string {
	all := configFormats[t.job.Framework.Name]
	if t.job.Framework.Name != "transformers" {
		return all
	}
	switch t.q.request.Sharding {
	case "zero1", "zero2", "zero3":
		return all[:1]
	case "fsdp", "fsdp2", "hsdp":
		return all[1:2]
	}
	return all[2:]
}
