package manifest

import "fmt"

// Group is a server of several pods, one on each node, as a LeaderWorkerSet starts them (github.com/kubernetes-sigs/lws): each is told
// LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX. The leader answers requests.
type Group struct {
	Nodes int64
	// Workers are the words of all but the leader: what replaces the image's program, and arguments.
	Entry, Args []string
}

// group writes a LeaderWorkerSet.
func (p *page) group(s *Service) {
	p.head("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", s.Name)
	p.queue(s)
	p.add(0, "spec:")
	p.add(1, fmt.Sprintf("replicas: %d", max(1, s.Replicas)))
	p.add(1, "leaderWorkerTemplate:")
	p.add(2, fmt.Sprintf("size: %d", s.Group.Nodes))
	p.add(2, "restartPolicy: RecreateGroupOnPodRestart") // who lost one of them waits for it in vain
	worker := *s
	worker.Entry, worker.Args, worker.After = s.Group.Entry, s.Group.Args, nil
	for _, t := range []struct {
		name string
		of   *Service
	}{{"leaderTemplate", s}, {"workerTemplate", &worker}} {
		p.add(2, t.name+":")
		p.add(3, "metadata:")
		p.add(4, "labels: {app: "+s.Name+"}")
		p.add(3, "spec:")
		p.deep = 1
		p.pod(t.of)
		p.deep = 0
	}
}

// answering selects the pods that take requests.
func (s *Service) answering() string {
	if s.Group != nil {
		return fmt.Sprintf(`{leaderworkerset.sigs.k8s.io/name: %s, leaderworkerset.sigs.k8s.io/worker-index: "0"}`, s.Name)
	}
	return "{app: " + s.Name + "}"
}

// all the devices of all replicas.
func (s *Service) all() int64 {
	nodes := int64(1)
	if s.Group != nil {
		nodes = s.Group.Nodes
	}
	return s.GPUs * nodes * max(1, s.Replicas)
}
