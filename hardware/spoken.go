package hardware

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// joining maps words between two devices, or between a device and its host memory, to a plus sign.
var joining = strings.NewReplacer(" and ", "+", " & ", "+", " with ", "+", " plus ", "+", " w/ ", "+")

// readDescription rewrites a machine described in words into the syntax of Parse: "RTX 5090 and 2x RTX 3090", "5090 +
// 64GB RAM", "2 nodes of 8xH100", "2x8xH100", "vram 12gb". Any other text is returned unchanged.
func readDescription(text string) string {
	head, options, err := cut(text)
	if err != nil {
		return text
	}
	head, bridged := unbridged(strings.Join(unprovided(head), " "))
	if bridged {
		options = append(options, option{"link", "nvlink"})
	}
	if front, back, ok := cutLast(head); ok { // a comma separates devices, and a device from its host memory
		if rest, host := hostMemory(back); rest == "" && host != "" {
			head, options = front, append(options, option{"host", host})
		}
	}
	if n, each, rest, ok := nodesOf(head); ok {
		head = strconv.Itoa(n*each) + "x" + rest
		options = append(options, option{"per-node", strconv.Itoa(each)})
	}
	var devices []string
	for part := range strings.SplitSeq(joining.Replace(head), "+") {
		part, host := hostMemory(part)
		if part != "" || host == "" {
			devices = append(devices, part)
		}
		if host != "" {
			options = append(options, option{"host", host})
		}
	}
	head = strings.Join(devices, "+")
	if size, ok := processorAlone(head); ok {
		head, options = "", append(options, size)
	}
	if head == "" && len(options) > 0 {
		head = "cpu"
	}
	for _, o := range options {
		head += "," + o.key + "=" + o.value
	}
	return head
}

// unbridged strips "nvlink", "with NVLink" or "(NVLink)" from the end of a text.
func unbridged(text string) (rest string, ok bool) {
	words := strings.Fields(text)
	end := len(words)
	for ; end > 1; end-- {
		word := strings.ToLower(strings.Trim(words[end-1], "(),"))
		if link := strings.HasPrefix(word, "nvlink"); link {
			ok = true
		} else if !ok || !slices.Contains([]string{"with", "w/", "and", "+", "over", "via"}, word) {
			break
		}
	}
	return strings.TrimSuffix(strings.Join(words[:end], " "), ","), ok
}

// processorAlone parses "cpu only 64gb", "no gpu, 32 GB" and "64GB cpu": a machine without accelerator, and its memory.
func processorAlone(text string) (option, bool) {
	var rest []string
	says := false
	for _, w := range split(text) {
		switch w {
		case "cpu", "gpuless":
			says = true
		case "no", "without":
			says = says || strings.Contains(strings.ToLower(text), "gpu")
		case "only", "gpu", "gpus", "ram", "of", "and", "with", "inference":
		default:
			rest = append(rest, w)
		}
	}
	size := strings.Join(rest, "")
	n := strings.TrimRight(size, "gib")
	return option{"host", n + "GiB"}, says && n != size && number(n)
}

func cutLast(text string) (front, back string, ok bool) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// hostMemory strips "64GB RAM", "128 GB DDR5" or "96gb system memory" from the end of a part.
func hostMemory(part string) (rest, size string) {
	words := strings.Fields(part)
	end := len(words)
	for end > 0 && hostWord(words[end-1]) {
		end--
	}
	if end == len(words) || end == 0 {
		if len(words) == 2 && strings.EqualFold(words[0], "vram") {
			return words[1] + " " + words[0], ""
		}
		return part, ""
	}
	from := end - 1
	w, _ := merge(strings.ToLower(words[from]), "")
	if unitAlone := slices.Contains([]string{"gb", "gib", "g", "tb"}, w); unitAlone && from > 0 {
		from--
		w = strings.ToLower(words[from]) + w
	}
	if n, tera := strings.CutSuffix(w, "tb"); tera && number(n) {
		return strings.Join(words[:from], " "), n + "TiB"
	}
	if n := strings.TrimRight(w, "gib"); n != w && number(n) {
		return strings.Join(words[:from], " "), n + "GiB"
	}
	return part, ""
}

func hostWord(w string) bool {
	w = strings.ToLower(w)
	return slices.Contains([]string{"ram", "system", "host", "memory", "of", "ecc"}, w) || len(w) >= 4 && strings.HasPrefix(w, "ddr") ||
		strings.HasPrefix(w, "ddr4-") || strings.HasPrefix(w, "ddr5-")
}

// mostInNode is the most devices on one interconnect: a CloudMatrix rack.
const mostInNode = 384

// nodeWords are words for networked machines.
var nodeWords = []string{"node", "nodes", "servers", "machines", "hosts"}

// spread parses "16x H100 on 2 nodes".
func spread(text string) (n, each int, device string, ok bool) {
	words := strings.Fields(text)
	at := len(words) - 3
	if at < 1 || !slices.Contains([]string{"on", "over", "across", "in"}, strings.ToLower(words[at])) ||
		!slices.Contains(nodeWords, strings.ToLower(words[at+2])) {
		return 0, 0, "", false
	}
	n, err := strconv.Atoi(words[at+1])
	head := strings.Join(words[:at], " ")
	for _, way := range []func(string) (int, string, bool){CountOf, countBefore} {
		if all, device, ok := way(head); ok && err == nil && n > 0 && all%n == 0 && all/n > 0 && all <= MaxDevices {
			return n, all / n, device, true
		}
	}
	return 0, 0, "", false
}

// nodesOf parses "2 nodes of 8xH100", "2 nodes x 8 H100", "2x8xH100" and "16x H100 on 2 nodes".
func nodesOf(text string) (n, each int, device string, ok bool) {
	if n, each, device, ok = spread(text); ok {
		return n, each, device, ok
	}
	n, rest, ok := CountOf(text)
	if !ok {
		word, after, _ := strings.Cut(text, " ")
		kind, after, _ := strings.Cut(strings.TrimSpace(after), " ")
		var err error
		if n, err = strconv.Atoi(word); err != nil ||
			!slices.Contains(nodeWords, strings.ToLower(kind)) {
			return 0, 0, "", false
		}
		joint, behind, _ := strings.Cut(after, " ")
		if rest = after; slices.Contains([]string{"of", "x", "with"}, joint) {
			rest = behind
		}
	}
	for _, way := range []func(string) (int, string, bool){CountOf, countBefore} {
		if each, device, ok = way(rest); ok && n > 0 && n <= MaxDevices && each > 0 && each <= mostInNode {
			return n, each, device, true
		}
	}
	return 0, 0, "", false
}

// inWords parses a text that failed with err once more, as a description in words.
func inWords(text string, devices int, err error) (Machine, []Note, error) {
	var unread *Error
	again := readDescription(text)
	if again == text || !errors.As(err, &unread) || unread.Code != UnknownHardware {
		return Machine{}, nil, err
	}
	m, notes, second := parse(again, devices)
	if second != nil {
		return Machine{}, nil, err
	}
	return m, append([]Note{note("name_unread", "%s read as %s", quote(text), quote(again))}, notes...), nil
}
