package launch

import (
	"path"
	"strings"

	"github.com/memwall/memwall/engine/manifest"
	"github.com/memwall/memwall/internal/question"
)

// mountModel makes a local model visible in the container: its folder is mounted, and the command names it from there.
func mountModel(q *question.Question, s *manifest.Service) {
	at := q.Resolved.Path
	if at == "" || q.Job.Checkpoint.Name != at || !q.Job.Keeps() {
		return
	}
	inside := s.Mount
	s.Folder = at
	if q.Job.Checkpoint.File != "" {
		if s.Folder, inside = path.Dir(at), path.Base(at); s.Dir == "" {
			inside = path.Join(s.Mount, inside)
		}
	}
	if !path.IsAbs(s.Folder) && !strings.Contains(s.Folder, ":") { // a bare word would name a volume
		s.Folder = "./" + path.Clean(s.Folder)
	}
	if s.Folder == "./." {
		s.Folder = "."
	}
	for i, word := range s.Args {
		if word == at {
			s.Args[i] = inside
		}
	}
	for i := range s.Files {
		s.Files[i].Text = strings.Replace(s.Files[i].Text, "FROM "+at+"\n", "FROM "+inside+"\n", 1)
	}
}
