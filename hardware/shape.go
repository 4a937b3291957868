package hardware

import (
	_ "embed" // the shapes
	"strconv"
	"strings"
)

//go:embed catalog/shapes.tsv
var shapesText string

var shapes = table{"shapes", shapesText}

// providers are names of cloud providers, which may precede an instance name.
var providers = setOf(`oracle oci aws amazon ec2 sagemaker gcp google gce azure lambda lambdalabs digitalocean scaleway coreweave
	runpod vast.ai vast nebius cloud instance vm kaggle colab paperspace hetzner ovh ovhcloud modal fluidstack tensordock`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// offered strips the provider and the trailing offer type from a text: "aws g5.12xlarge", "ml.p5.48xlarge".
func offered(text string) string {
	words := unprovided(text)
	if len(words) != 1 {
		return text
	}
	return strings.TrimPrefix(strings.ToLower(words[0]), "ml.")
}

// unprovided returns the words of a text without leading and trailing ones that name the provider.
func unprovided(text string) []string {
	words := strings.Fields(text)
	for len(words) > 1 && providers[strings.ToLower(words[0])] {
		words = words[1:]
	}
	for len(words) > 1 && providers[strings.ToLower(words[len(words)-1])] {
		words = words[:len(words)-1]
	}
	return words
}

// shaped parses "[N x]SHAPE": a cloud instance name that encodes the number of devices, or for which shapes.tsv has it.
func shaped(text string) (device string, count int, ok bool) {
	count = 1
	if n, rest, counted := CountOf(text); counted && n > 0 && n <= mostInNode {
		count, text = n, rest
	}
	if len(text) > maxName || !strings.ContainsAny(text, "-._") {
		return "", 0, false
	}
	text = strings.ToLower(text)
	for shape, r := range shapes.lines() {
		if n, fits := fill(shape, text); fits {
			if n == 0 {
				n, _ = strconv.Atoi(r.text("devices"))
			}
			return r.second(), n * count, n > 0
		}
	}
	return "", 0, false
}

// fill returns the number at the placeholder of a shape in a text, 0 if there is none.
func fill(shape, text string) (n int, ok bool) {
	front, back, open := strings.Cut(shape, "#")
	if !open {
		return 0, text == shape || "standard_"+text == shape
	}
	rest, begins := strings.CutPrefix(text, front)
	number, ends := strings.CutSuffix(rest, back)
	if !begins || !ends || number == "" || len(number) > 3 {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}
