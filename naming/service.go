package naming

import (
	"regexp"
	"strings"
)

// services are the decorations that hosting providers put around a model's name, and the part that is the name. The
// organisation is dropped too, since it need not be the hub's (developers.cloudflare.com/workers-ai/models,
// docs.aws.amazon.com/bedrock: model-ids, docs.fireworks.ai, hub.docker.com/u/ai, docs.nvidia.com/nim).
var services = []struct {
	form *regexp.Regexp
	name string
	p    bool // the provider writes decimal points as p: v3p1
}{
	{regexp.MustCompile(`(?i)^@(?:cf|hf)/(?:[\w.-]+/)*([\w.-]+)$`), "$1", false},
	{regexp.MustCompile(`(?i)^(?:[a-z]{2,6}\.)?deepseek\.(\w[\w.-]*?)(?:-v\d+)?:\d+$`), "deepseek-$1", false},
	{regexp.MustCompile(`(?i)^(?:[a-z]{2,6}\.)?(?:meta|mistral|openai|qwen|google|nvidia|minimax|moonshot|moonshotai|zai)\.([a-z][\w.-]*?)(?:-v?\d)?:\d+$`), "$1", false},
	{regexp.MustCompile(`(?i)^accounts/[\w-]+/models/(?:(llama-)v)?([\w.-]+)$`), "$1$2", true},
	{regexp.MustCompile(`(?i)^nvcr\.io/nim/[\w.-]+/([\w.-]+?)(?:-dgx-spark)?(?::[\w.-]+)?$`), "$1", false},
	{regexp.MustCompile(`(?i)^(?:docker\.io/)?ai/([\w.-]+(?::[\w.-]+)?)$`), "$1", false},
	{regexp.MustCompile(`(?i)^(.+)\.gguf2(\.[\w.-]+)$`), "$1$2", false}, // GPT4All's second file format
}

// pointed matches a number with p for its decimal point.
var pointed = regexp.MustCompile(`(?i)(\d)p(\d)`)

// plus matches a plus sign that distinguishes a model from a smaller one: Command R+.
var plus = regexp.MustCompile(`(^|[ -])(\w)\+([ -]|$)`)

// Unhosted returns a name without a hosting provider's decorations.
func Unhosted(text string) string {
	if strings.Contains(text, "+") && !strings.ContainsAny(text, `/\`) {
		text = plus.ReplaceAllString(text, "$1$2-plus$3")
	}
	if !strings.ContainsAny(text, "@:") && !strings.HasPrefix(text, "ai/") && !strings.HasPrefix(text, "accounts/") &&
		!strings.HasPrefix(text, "nvcr.io/") && !strings.Contains(text, ".gguf2.") {
		return text // the common case
	}
	text = strings.TrimPrefix(text, "bedrock/") // as LiteLLM calls that host
	for _, s := range services {
		if !s.form.MatchString(text) {
			continue
		}
		if text = s.form.ReplaceAllString(text, s.name); s.p {
			text = pointed.ReplaceAllString(text, "$1.$2")
		}
		return text
	}
	return text
}
