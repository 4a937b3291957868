package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the server answers into its guides")

// TestGuides: what the guides of the server show after "$ curl" is what it answers. A command may end in jq with a path,
// cut -c -N, head -N or grep WORD.
func TestGuides(t *testing.T) {
	port := portIn(t, serving(t, 1, "--listen", "127.0.0.1:0")[0])
	for _, name := range []string{"../../docs/guides/serve.md", "../../docs/guides/mcp.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, n := shown(t, port, string(text))
		if n == 0 {
			t.Errorf("%s asks nothing", name)
		}
		switch {
		case got == string(text):
		case *update:
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is stale: go test ./internal/cli -run Guides -update", name)
		}
	}
}

// shown is a page whose commands were run again, and how many there are.
func shown(t *testing.T, port, page string) (string, int) {
	var out []string
	n := 0
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if !strings.HasPrefix(lines[i], "$ curl ") {
			continue
		}
		command := lines[i]
		for strings.HasSuffix(command, `\`) {
			i++
			out = append(out, lines[i])
			command = strings.TrimSuffix(command, `\`) + lines[i]
		}
		out = append(out, curl(t, port, command)...)
		n++
		for i+1 < len(lines) && lines[i+1] != "```" && !strings.HasPrefix(lines[i+1], "$ ") {
			i++
		}
	}
	return strings.Join(out, "\n"), n
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// curl runs a command against the server of a port.
func curl(t *testing.T, port, command string) []string {
	t.Helper()
	words := word.FindAllString(strings.TrimPrefix(command, "$ curl "), -1)
	for i, w := range words {
		words[i] = strings.Trim(w, "'")
	}
	var body, url string
	header := http.Header{}
	for len(words) > 0 && words[0] != "|" {
		switch w := words[0]; w {
		case "-s", "-N", "-sN":
		case "-H", "-d", "--json":
			if w == "-H" {
				k, v, _ := strings.Cut(words[1], ": ")
				header.Set(k, v)
			} else {
				body = words[1]
			}
			if w == "--json" {
				header.Set("Content-Type", "application/json")
			}
			words = words[1:]
		default:
			url = "http://" + strings.Replace(w, ":8421", ":"+port, 1)
		}
		words = words[1:]
	}
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for len(words) > 1 && words[0] == "|" {
		end := 1
		for end < len(words) && words[end] != "|" {
			end++
		}
		if text, err = filtered(text, words[1:end]); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		words = words[end:]
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// filtered is a text behind one stage of a pipe.
func filtered(text []byte, stage []string) ([]byte, error) {
	last := stage[len(stage)-1]
	if stage[0] == "jq" {
		path := ""
		if strings.HasPrefix(last, ".") {
			path = last
		}
		return picked(text, path, len(stage) > 1 && stage[1] == "-r")
	}
	var out []string
	for i, l := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		n, err := strconv.Atoi(strings.TrimPrefix(last, "-"))
		switch {
		case stage[0] == "grep" && strings.Contains(l, last):
			out = append(out, l)
		case stage[0] == "head" && err == nil && i < n:
			out = append(out, l)
		case stage[0] == "cut" && err == nil:
			out = append(out, l[:min(n, len(l))])
		case stage[0] != "grep" && stage[0] != "head":
			return nil, fmt.Errorf("no stage %v", stage)
		}
	}
	return []byte(strings.Join(out, "\n")), nil
}

// picked is what jq prints of a path such as .devices[0].needed_bytes.
func picked(text []byte, path string, raw bool) ([]byte, error) {
	at := json.RawMessage(text)
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		var err error
		if n, bad := strconv.Atoi(part); bad == nil {
			var list []json.RawMessage
			if err = json.Unmarshal(at, &list); err == nil && n < len(list) {
				at = list[n]
			}
		} else {
			var object map[string]json.RawMessage
			if err = json.Unmarshal(at, &object); err == nil {
				at = object[part]
			}
		}
		if err != nil || at == nil {
			return nil, fmt.Errorf("%s is not in %.200s", part, text)
		}
	}
	var word string
	if raw && json.Unmarshal(at, &word) == nil {
		return []byte(word), nil
	}
	var b bytes.Buffer
	err := json.Indent(&b, bytes.TrimSpace(at), "", "  ")
	return b.Bytes(), err
}
