package hardware

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Limits of a description.
const (
	MaxDevices = 1_000_000 // in total
	maxText    = 2000      // bytes
	maxGroups  = 16        // kinds of devices
)

// Parse parses the description of a machine:
//
//	[N x]NAME[+[N x]NAME...][,key=value...]   devices of the catalog: "2xh100", "rtx-4090+rtx-3060"
//	[N x]NODE[,key=value...]                  nodes of the catalog: "2xp5.48xlarge"
//	[N x]name=x,memory=24GiB,...              a custom device; see custom.go for the keys
//	cpu | local                               no accelerator; this machine
//
// The keys host, cores, nvme, pool, link, fabric and per-node, which describe the machine, may follow any form but
// "local"; usable and pcie may also follow devices of the catalog. devices is the device count requested separately, 0
// if none; it must agree with any count in the text. The notes list assumptions. The error is an *Error.
func Parse(text string, devices int) (Machine, []Note, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Machine{}, nil, bad("hardware", text, "is empty", "name a device, a node, cpu or local")
	case len(text) > maxText:
		return Machine{}, nil, bad("hardware", text, "is too long", "2,000 bytes are the most")
	case devices < 0 || devices > MaxDevices:
		return Machine{}, nil, bad("devices", strconv.Itoa(devices), "is out of bounds", "1 to 1,000,000")
	}
	m, notes, err := parse(text, devices)
	if err != nil {
		return inWords(text, devices, err)
	}
	return m, notes, nil
}

func parse(text string, devices int) (Machine, []Note, error) {
	head, options, err := cut(text)
	if err != nil {
		return Machine{}, nil, err
	}
	head, options = withMemory(head, options)
	m, notes, err := parseHead(head, &options, devices)
	if err != nil {
		return Machine{}, nil, err
	}
	more, err := m.apply(options)
	if err != nil {
		return Machine{}, nil, err
	}
	notes = m.standing(append(notes, more...))
	return m, notes, nil
}

// withMemory appends a memory size given as a key to the catalog device's name, which is how its versions are told
// apart: "m3-max,memory=64GB". A custom device has a memory key of its own.
func withMemory(head string, options []option) (string, []option) {
	at := slices.IndexFunc(options, func(o option) bool { return o.key == "memory" })
	if at < 0 || head == "" || isCount(head) || slices.ContainsFunc(options, func(o option) bool { return o.key == "name" }) {
		return head, options
	}
	head += " " + options[at].value
	return head, slices.Delete(options, at, at+1)
}

// standing drops notes about links that the keys specify.
func (m *Machine) standing(notes []Note) []Note {
	return slices.DeleteFunc(notes, func(n Note) bool {
		return n.Code == "fabric_assumed" && m.Inter.EachWay.Source == given ||
			n.Code == "link_assumed" && m.Intra.EachWay.Source == given
	})
}

func parseHead(head string, options *[]option, devices int) (Machine, []Note, error) {
	switch word := strings.ToLower(head); {
	case word == "local" && len(*options) > 0:
		return Machine{}, nil, bad("hardware", head, "takes no keys", "describe a device of your own: name=x,memory=24GiB")
	case word == "local":
		return Machine{Name: "local", Local: true}, nil, nil
	case word == "cpu" && devices > 0:
		return Machine{}, nil, bad("devices", strconv.Itoa(devices), "does not go with cpu", "leave it out")
	case word == "cpu":
		return Machine{Name: "cpu", CPUOnly: true, Nodes: 1}, nil, nil
	case head == "" || isCount(head):
		return parseCustom(head, options, devices)
	}
	head = inGPUs(offered(head))
	if n, count, ok := nodeNamed(head); ok {
		return parseNodes(n, count, devices)
	}
	if size, ok := sizeAlone(head); ok {
		return parseSize(size, options, devices)
	}
	if p, count, ok := rented(head); ok {
		return parseDevices(strconv.Itoa(count*p.Devices)+"x"+p.Device, devices)
	}
	if device, count, ok := shaped(head); ok {
		return parseDevices(strconv.Itoa(count)+"x"+device, devices)
	}
	return parseDevices(head, devices)
}

// behindGPUs matches a trailing count, as in cloud flavors and data sheets of nodes: l40s-4-gpu, HGX H200 8-GPU.
var behindGPUs = regexp.MustCompile(`(?i)^(.*\w)[ _-](\d{1,3})[ _-]?gpus?$`)

// inGPUs moves such a count to the front, or drops it if the node has that many anyway. The GPU cores of Apple's chips
// are worded the same way.
func inGPUs(text string) string {
	m := behindGPUs.FindStringSubmatch(text)
	if len(m) == 0 || slices.ContainsFunc(split(m[1]), func(w string) bool { return chip([]string{w}) }) {
		return text
	}
	if n, ok := FindNode(m[1]); ok && strconv.Itoa(n.Devices) == m[2] {
		return m[1]
	}
	if _, _, err := find(m[1]); err != nil {
		return text
	}
	return m[2] + "x" + m[1]
}

// sizeAlone matches "24GB" and "16 GB of VRAM": a device described by its memory alone.
func sizeAlone(text string) (size string, ok bool) {
	words := split(text)
	if len(words) == 0 {
		return "", false
	}
	w, used := merge(words[0], strings.Join(words[1:min(2, len(words))], ""))
	for _, more := range words[1+used:] {
		if more != "vram" && more != "gpu" && more != "card" && more != "of" && more != "memory" {
			return "", false
		}
	}
	n := strings.TrimRight(w, "gib")
	return n, number(n) && (strings.HasSuffix(w, "gb") || strings.HasSuffix(w, "gib") || strings.HasSuffix(w, "g"))
}

// parseSize returns a device of a given memory size and no vendor: its capacity is known, its speed is not.
func parseSize(size string, options *[]option, devices int) (Machine, []Note, error) {
	*options = append([]option{{"name", size + "GB card"}, {"memory", size + "GiB"}, {"vendor", "nvidia"}}, *options...)
	m, notes, err := parseCustom("", options, devices)
	return m,
		append(notes, note("name_unread", "%s GB of a device of which nothing else is said, taken for one of NVIDIA's: name it for its "+
			"speed and for what its driver keeps", size)), err
}

// cut splits a description into what precedes the first key, and the keys. Commas within parentheses belong to a name.
// A count before the first key stays in head: "4xname=..." yields "4x".
func cut(text string) (head string, options []option, err error) {
	var plain []string
	for _, part := range fields(text) {
		k, v, isOption := strings.Cut(part, "=")
		if !isOption {
			if len(options) > 0 {
				return "", nil, bad("hardware", part, "is not key=value", "names come before the keys")
			}
			plain = append(plain, part)
			continue
		}
		if len(options) == 0 && len(plain) == 0 {
			if n, rest, ok := CountOf(k); ok {
				plain, k = []string{strconv.Itoa(n) + "x"}, rest
			}
		}
		options = append(options, option{strings.ToLower(strings.TrimSpace(k)), strings.TrimSpace(v)})
	}
	return strings.TrimSpace(strings.Join(plain, ",")), options, nil
}

// fields splits a text at commas outside parentheses.
func fields(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				parts, from = append(parts, text[from:i]), i+1
			}
		}
	}
	return append(parts, text[from:])
}

// CountOf splits "8xh100", "2 x H100" or "4×..." into the count and the rest. An x that begins a word is not a
// multiplication sign: "7900 XTX".
func CountOf(s string) (n int, rest string, ok bool) {
	s = strings.TrimSpace(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 || digits > 18 || named(s[:digits], s[digits:]) {
		return 0, s, false
	}
	n, err := strconv.Atoi(s[:digits])
	rest = strings.TrimLeft(s[digits:], " ")
	spaced := len(rest) < len(s)-digits
	for _, times := range []string{"x", "X", "×", "*"} {
		after, cut := strings.CutPrefix(rest, times)
		if cut && !(spaced && after != "" && after[0] != ' ') {
			return n, strings.TrimSpace(after), err == nil
		}
	}
	return 0, s, false
}

// named reports whether what follows four digits completes a GPU name: "7900xtx", "9070xt", "6800 xt". "7950x" and
// "5800x3d" are processors, whose numbers end in a single zero or in 00.
func named(figures, rest string) bool {
	if len(figures) != 4 {
		return false
	}
	low := strings.ToLower(rest)
	if after, ok := strings.CutPrefix(low, "x"); ok && (after == "" || after == "3d") {
		return figures[3] == '0' && figures[1:] != "000"
	}
	rest, ok := strings.CutPrefix(low, "xt")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "x")
	return rest == "" || !letterOrDigit(rest[0])
}

func isCount(s string) bool {
	_, rest, ok := CountOf(s)
	return ok && rest == ""
}

// nodeNamed parses "[N x]NODE". Some node names begin with a count of their own.
func nodeNamed(s string) (n *Node, count int, ok bool) {
	if n, ok = FindNode(s); ok {
		return n, 0, true
	}
	for _, way := range []func(string) (int, string, bool){CountOf, CountBehind} {
		if count, rest, ok := way(s); ok && count > 0 {
			if n, ok = FindNode(rest); ok {
				return n, count, true
			}
		}
	}
	return nil, 0, false
}

func parseNodes(n *Node, count, devices int) (Machine, []Note, error) {
	d, _, err := find(n.Device)
	if err != nil {
		return Machine{}, nil, err
	}
	total := devices
	if count > 0 || devices == 0 {
		total = max(1, count) * n.Devices
	}
	switch {
	case max(1, count) > MaxDevices/n.Devices:
		return Machine{}, nil, bad("hardware", strconv.Itoa(count)+"x"+n.ID, "is too many", "1,000,000 devices are the most")
	case devices > 0 && devices != total:
		return Machine{}, nil, disagree(devices, total, counted(count, n.ID))
	}
	m, notes := ofNodes(n, d, total)
	return m, notes, nil
}

func disagree(devices, total int, text string) *Error {
	return bad("devices", strconv.Itoa(devices), "does not agree with "+quote(text)+", which holds "+strconv.Itoa(total),
		"give the number once")
}

// parseDevices parses "[N x]NAME[+[N x]NAME...]". The whole text may also be one name that contains a plus.
func parseDevices(text string, devices int) (Machine, []Note, error) {
	groups, counts, notes, err := readGroups(text)
	if err != nil {
		return Machine{}, nil, err
	}
	total := 0
	for _, g := range groups {
		if total += g.Count; total > MaxDevices {
			return Machine{}, nil, bad("hardware", text, "is too many", "1,000,000 devices are the most")
		}
	}
	switch {
	case devices == 0 || devices == total:
	case len(groups) == 1 && !counts:
		groups[0].Count = devices
	default:
		return Machine{}, nil, disagree(devices, total, text)
	}
	m, more := ofDevices(groups)
	return m, append(notes, more...), nil
}

// readGroups parses the devices between plus signs; counts reports whether the text states any number.
func readGroups(text string) (groups []Group, counts bool, notes []Note, err error) {
	parts := strings.Split(text, "+")
	if len(parts) > maxGroups {
		return nil, false, nil, bad("hardware", text, "joins too many names", "16 are the most")
	}
	for from := 0; from < len(parts); {
		g, counted, n, to, err := longest(parts, from)
		if err != nil {
			return nil, false, nil, err
		}
		groups, notes, from = append(groups, g), append(notes, n...), to
		counts = counts || counted
	}
	return groups, counts, notes, nil
}

// longest joins as many parts as form one name, since a name may contain plus signs ("Apple M3 Pro 5P+6E+14GPU"). The
// error is that of the shortest attempt.
func longest(parts []string, from int) (g Group, counted bool, notes []Note, to int, err error) {
	for to = min(len(parts), from+4); to > from; to-- {
		name := strings.Join(parts[from:to], "+")
		g, counted, notes, err = readGroup(name)
		if err == nil {
			return g, counted, notes, to, nil
		}
	}
	if errors.Is(err, errMissing) {
		_, rest, _ := CountOf(parts[from])
		err = missing(rest, read(rest))
	}
	return Group{}, false, nil, from, err
}

func readGroup(s string) (g Group, counted bool, notes []Note, err error) {
	g, counted, notes, err = readCounted(s, CountOf)
	if errors.Is(err, errMissing) {
		for _, way := range []func(string) (int, string, bool){CountBehind, countBefore} {
			if again, counted, notes, err := readCounted(s, way); counted && !errors.Is(err, errMissing) {
				return again, counted, notes, err
			}
		}
	}
	return g, counted, notes, err
}

// CountBehind splits "h100 x2", "rtx-3090x2", "4090 * 4" or "A100-80GB:8" into the count and the rest.
func CountBehind(s string) (n int, rest string, ok bool) {
	s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ")"))
	digits := len(s) - len(strings.TrimRight(s, "0123456789"))
	head := strings.TrimRight(s[:len(s)-digits], " ")
	for _, times := range []string{"x", "X", "×", "*", ":"} {
		before, cut := strings.CutSuffix(head, times)
		if strings.EqualFold(times, "x") && ofName(head) {
			continue
		}
		if before = strings.TrimRight(before, " (-"); cut && before != "" && digits > 0 && digits <= 7 {
			n, err := strconv.Atoi(s[len(s)-digits:])
			return n, before, err == nil
		}
	}
	return 0, s, false
}

// ofName reports whether an x that ends a text is part of a name ("RX 6800", "RTX 3090") rather than a multiplication
// sign.
func ofName(head string) bool {
	if evo.MatchString(head) {
		return true
	}
	w := strings.ToLower(head[strings.LastIndexFunc(head, func(r rune) bool { return !(r|0x20 >= 'a' && r|0x20 <= 'z') })+1:])
	return slices.Contains([]string{"rx", "gtx", "rtx", "agx", "dgx", "hgx", "nx", "xtx", "mx"}, w)
}

// evo matches a computer's name up to its number: EVO-X2.
var evo = regexp.MustCompile(`(?i)\bevo[- ]x$`)

// counting maps words to numbers.
var counting = map[string]int{"one": 1, "single": 1, "two": 2, "dual": 2, "pair": 2, "couple": 2, "three": 3, "triple": 3, "four": 4,
	"quad": 4, "six": 6, "eight": 8}

// countBefore parses "8 H100", "dual 3090" and "two 4090s".
func countBefore(s string) (n int, rest string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	if slices.Contains([]string{"a", "an", "my", "the", "our"}, strings.ToLower(word)) { // "a single 5090", "a pair of 3090s"
		word, rest, _ = strings.Cut(rest, " ")
		if counting[strings.ToLower(word)] == 0 {
			word, rest = "one", word+" "+rest
		}
	}
	rest = strings.TrimPrefix(rest, "of ")
	n, ok = counting[strings.ToLower(word)]
	if number, err := strconv.Atoi(word); !ok && err == nil {
		n, ok = number, true
	}
	rest = strings.TrimSpace(rest)
	return n, strings.TrimSuffix(rest, "s"), ok && rest != "" && letterOrDigit(rest[0]|0x20)
}

func readCounted(s string, count func(string) (int, string, bool)) (g Group, counted bool, notes []Note, err error) {
	n, rest, counted := count(s)
	if !counted {
		n, rest = 1, s
	}
	if n < 1 || n > MaxDevices {
		return Group{}, counted, nil, bad("hardware", s, "states a number out of bounds", "1 to 1,000,000")
	}
	d, notes, err := seek(rest)
	if err != nil {
		if node, ok := FindNode(rest); ok {
			err = bad("hardware", s, "is a node and cannot be joined to others", "name its devices: "+node.Device)
		}
	}
	return Group{d, n}, counted, notes, err
}
