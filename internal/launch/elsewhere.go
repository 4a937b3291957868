package launch

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/internal/question"
)

// What a command leaves open may stand elsewhere in the text: the folder that a container mounts, the value that another line or a
// comment gives a variable.

var (
	// mount matches a folder of the host and its place in a container: -v, volumes of a compose file.
	mount = regexp.MustCompile(`([~\w./$-][\w./~${}:-]*[\w}]):(/[\w./-]+?)(?::r[ow])?["'\s,\]]`)
	// valued matches a variable with a value that a line, a comment or docker run -e gives it.
	valued = regexp.MustCompile(`(?m)(?:^|[\s"'])([A-Za-z_]\w*)=["']?([\w.~/][\w./:~-]*)`)
	// openVariable matches a variable in a word that is not read.
	openVariable = regexp.MustCompile(`\$\{?([A-Za-z_]\w*)`)
)

// mostGiven is the most places of a text that are looked at.
const mostGiven = 200

// elsewhere names the model by what stands elsewhere: the folder of the host that lies at the container's path, or a variable's value.
func elsewhere(l *argv.Launch, text string) {
	if strings.HasPrefix(l.Model, "/") {
		for _, m := range mount.FindAllStringSubmatch(text, mostGiven) {
			rest, within := strings.CutPrefix(strings.TrimRight(l.Model, "/"), strings.TrimRight(m[2], "/"))
			if host := path.Join(m[1], rest); within && modelOf(host) {
				l.Model = host
				return
			}
		}
	}
	if l.Model != "" {
		return
	}
	for i, unread := range l.Unknown {
		variable := openVariable.FindStringSubmatch(unread)
		if variable == nil {
			continue
		}
		for _, m := range valued.FindAllStringSubmatch(text, mostGiven) {
			if m[1] == variable[1] && modelOf(m[2]) {
				l.Model, l.Unknown = m[2], slices.Delete(slices.Clone(l.Unknown), i, i+1)
				l.Plan.EngineArgs = slices.DeleteFunc(l.Plan.EngineArgs, func(a string) bool { return a == unread })
				return
			}
		}
	}
}

// modelOf reports whether a repository or the last part of a path names a model.
func modelOf(place string) bool {
	if !question.IsHubName(place) {
		place = path.Base(place)
	}
	_, err := (question.Catalog{}).Model(place)
	return err == nil && !argv.Open(place)
}
