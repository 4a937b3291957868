package manifest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

var (
	dockerFirst = regexp.MustCompile(`(?i)^([ \t]*(#[^\n]*)?\n)*[ \t]*(FROM|ARG)[ \t]+\S+`)
	dockerWords = regexp.MustCompile(`(?mi)^[ \t]*(RUN|ENTRYPOINT|CMD|COPY|ENV|EXPOSE|WORKDIR)[ \t]+\S`)
	dockerRuns  = regexp.MustCompile(`(?m)^[ \t]*(ENTRYPOINT|CMD)[ \t]+\S`)
	dockerRest  = regexp.MustCompile(`(?m)^[ \t]*(ENV|EXPOSE|RUN|COPY|WORKDIR|USER|LABEL)[ \t]+\S`)
	modelWords  = regexp.MustCompile(`(?mi)^[ \t]*(PARAMETER|TEMPLATE|SYSTEM|ADAPTER|MESSAGE)[ \t]|"""`)
)

// IsDockerfile distinguishes a Dockerfile from a Modelfile, which begins with the same word. The beginning may be missing.
func IsDockerfile(text string) bool {
	whole := dockerFirst.MatchString(text) && dockerWords.MatchString(text)
	return (whole || dockerRuns.MatchString(text) && dockerRest.MatchString(text)) && !modelWords.MatchString(text)
}

// built is what an image runs (docs.docker.com: reference/dockerfile): ENTRYPOINT and CMD of its last stage, as lists or as a
// text for a shell, with its variables.
func built(text string) ([]argv.Command, error) {
	var c container
	for _, line := range instructions(text) {
		word, rest, _ := strings.Cut(line, " ")
		rest = argv.Expand(strings.TrimSpace(rest), c.Env)
		switch strings.ToUpper(word) {
		case "FROM":
			base := strings.Fields(flagless(rest))
			c = container{}
			if len(base) > 0 {
				c.Image = base[0]
			}
		case "ENV", "ARG":
			c.Env = append(c.Env, environmentOf(rest)...)
		case "ENTRYPOINT":
			c.entry, c.args = form(rest), nil
		case "CMD":
			c.args = form(rest)
		}
	}
	return c.commands()
}

// instructions are lines with those that continue them, without comments.
func instructions(text string) (out []string) {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if before, ok := strings.CutSuffix(line, `\`); ok {
			open += before + " "
			continue
		}
		out, open = append(out, open+line), ""
	}
	return append(out, open)
}

// form reads a list of words in JSON, or a text that a shell runs.
func form(text string) []string {
	var words []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &words) == nil {
		return words
	}
	return []string{"sh", "-c", text}
}

// flagless is an instruction without its own flags: FROM --platform=….
func flagless(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, " ")
	}
	return text
}

// environmentOf reads NAME=value words, and NAME value.
func environmentOf(text string) []argv.Variable {
	name, value, ok := strings.Cut(text, " ")
	if ok && !strings.Contains(name, "=") {
		return []argv.Variable{{Name: name, Value: strings.TrimSpace(value)}}
	}
	return assignments(text)
}
