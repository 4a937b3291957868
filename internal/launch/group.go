package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/safe"
)

// joins is the first vLLM version that joins nodes without Ray: --nnodes and related flags (docs.vllm.ai:
// deployment/frameworks/lws).
var joins = engine.V(0, 12, 0)

// Variables that a LeaderWorkerSet sets in its pods, in the form that Kubernetes expands in arguments.
const leader = "$(LWS_LEADER_ADDRESS)"

var ranked = []string{"--nnodes", "$(LWS_GROUP_SIZE)", "--node-rank", "$(LWS_WORKER_INDEX)"}

// group makes each node's pod find the others.
func group(q *question.Question, s *manifest.Service) error {
	nodes := int64(q.Job.Machine.Nodes)
	if nodes <= 1 {
		return nil
	}
	s.GPUs = (s.GPUs + nodes - 1) / nodes
	g := &manifest.Group{Nodes: nodes, Entry: s.Entry}
	switch name := q.Engine.Name(); {
	case name == "sglang":
		s.Args = append(append(s.Args, ranked...), "--dist-init-addr", leader+":20000")
		g.Args = s.Args
	case name == "vllm" && q.Request.DP > 1:
		spreadReplicas(q, s, g)
	case name == "vllm" && q.Job.Version.AtLeast(joins):
		s.Args = append(append(s.Args, ranked...), "--master-addr", leader)
		g.Args = append(slices.Clone(s.Args), "--headless")
	default:
		return &api.Error{Code: api.Unsupported, Field: "hardware", Value: q.Request.Hardware,
			Message: fmt.Sprintf("how %s %s joins %d nodes in containers is not described", name,
				engine.VersionName(q.Engine, q.Job.Version), nodes),
			Hint: "one node, or --engine vllm or sglang in a newer version"}
	}
	s.Group = g
	return nil
}

// spreadReplicas assigns each node its data-parallel ranks (docs.vllm.ai: serving/data_parallel_deployment). A worker's first rank
// is its index times the ranks per node, which requires a shell.
func spreadReplicas(q *question.Question, s *manifest.Service, g *manifest.Group) {
	local := max(1, q.Request.DP/g.Nodes)
	s.Args = append(s.Args, "--data-parallel-size-local", fmt.Sprint(local), "--data-parallel-address", leader,
		"--data-parallel-rpc-port", "13345")
	words := make([]string, 0, len(s.Entry)+len(s.Args))
	for _, w := range slices.Concat(s.Entry, s.Args) {
		words = append(words, shellWord(w))
	}
	g.Entry = []string{"sh", "-c"}
	start := fmt.Sprintf(" --headless --data-parallel-start-rank $((LWS_WORKER_INDEX * %d))", local)
	g.Args = []string{"exec " + strings.Join(words, " ") + start}
}

// shellWord quotes what a shell would interpret, except what Kubernetes expands.
func shellWord(s string) string {
	if s == leader {
		return s
	}
	return safe.Word(s)
}

// asked adds what a form calls for: device claims, a queue.
func asked(q *question.Question, s *manifest.Service, form string) {
	switch d := q.Job.Device(0); form {
	case "kubernetes-dra":
		s.Claims = &manifest.Claims{}
		if d != nil && d.Reported.Known { // as reported by the driver, less one percent: boards of a kind differ slightly
			s.Claims.Memory = d.Reported.Value / 100 * 99
		}
	case "kubernetes-kueue":
		s.Queue = &manifest.Queue{}
	}
}
