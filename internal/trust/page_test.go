package trust

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall/unit"
)

var update = flag.Bool("update", false, "write docs/trust.md")

const pagePath = "../../docs/trust.md"

// page compares docs/trust.md with what was tried, or writes it.
func page(t *testing.T, all []tally) {
	text := written(all)
	if *update {
		if err := os.WriteFile(pagePath, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, err := os.ReadFile(pagePath)
	if err != nil || !bytes.Equal(bytes.ReplaceAll(is, []byte("\r\n"), []byte("\n")), text) {
		t.Errorf("docs/trust.md is stale: go test ./internal/trust -update (%v)", err)
	}
}

func written(all []tally) []byte {
	var rows strings.Builder
	sum := 0
	for _, n := range all {
		answered, refused := unit.Count(int64(n.answered)), unit.Count(int64(n.refused))
		if n.untold {
			answered, refused = "—", "—"
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s |\n", n.name, n.what, unit.Count(int64(n.inputs)), answered, refused)
		sum += n.inputs
	}
	fmt.Fprintf(&rows, "| all | | %s | | |\n", unit.Count(int64(sum)))
	return []byte(fmt.Sprintf(text, rows.String(), mostBytes>>20, mostWords>>10))
}

const text = `# What memwall withstands

Written by ` + "`go test ./internal/trust -update`" + `: the figures are of the run that wrote them, and every run compares.

## Inputs that nobody should send

Every input is made by the test from a right one with something wrong, and from what has broken other readers of these formats. Each ends in
an answer or in an error that says what is wrong; none ends memwall.

| what is read | what is wrong with it | inputs | answered | refused |
|---|---|---:|---:|---:|
%s
- No input allocates more than %d MiB, beside a multiple of its own length, whatever numbers stand in it.
- No error is longer than %d KiB. Names out of files are written so that neither a terminal nor a page obeys them, and so that none hides.
- Readers of files open regular files only: a pipe in a cache or a folder of settings is not waited for.

## Files that contradict themselves

A GGUF header or a config.json whose numbers its own tensors contradict is refused with the number and the tensor. ` + "`go test ./source -run" + `
'Lying|Missing' -v` + "`" + ` changes each number of right headers, and leaves out each number and each tensor: the file is refused, its size is unknown, or it
is answered as before.

## Answers that agree with themselves

` + "`go test ./internal/schema -run Random -v`" + ` asks 10,000 random requests of every kind of question: ledgers add up, no band is turned round, the verdict
follows from the bytes, and the JSON is what the schema says. Of one in twenty of fit and train the terminal and the page are drawn: the
address of the page asks the same, and each number of the terminal's first words stands on the page.
` + "`MEMWALL_REQUESTS=1000000`" + ` asks a million.

## Secrets

What is secret in a pasted command line, a manifest, a Modelfile, a call in Python or a log is redacted before any of it is shown, kept or
sent: by the names of flags, variables and fields, by what keys of services look like, and in addresses. ` + "`go test . -run Secrets`" + ` puts one into every
place. Recordings, results, settings and caches are files of their owner alone (0600, in folders of 0700).

## Clients of the server

` + "`go test ./internal/serve -run 'Abuse|Connections|IdleAndSlow|Guards' -v`" + ` opens connections as no client does: requests that hide behind a wrong length
or behind chunks, headers and paths of a megabyte, names and pages of other sites, half a header or half a body a thousand times, and 10,000
connections at once. Each is refused or left, nothing that hides behind it is answered, and who asks beside them has an answer.

For an hour, 6 requests a second of every kind, valid and invalid, on two processors with a load average of 14 from other work. The heap after
the last garbage collection, as the median of each ten minutes: 33, 44, 43, 42, 40 and 41 MiB. Resident memory: 201, 255, 256, 259, 257 and
253 MiB. Afterwards 11 files were open and 6 goroutines ran, as before the first request. Of 21,600 requests none was refused for lack of
room; half were answered within 3.3 ms, 99 %% within 133 ms and the slowest in 2.7 s. In an earlier hour at 20 requests a second, another
program at real-time priority held the processors for twenty minutes: 8,551 of 72,000 requests ran out of their client's time, 4,316 got 429,
and nothing of them stayed behind. To run it:
` + "`memwall serve & go run ./internal/loadtest -mix every -rate 20 -for 1h -of $!`" + `

## Faults

` + "`go test ./source/regular -run Faults`" + ` fails or ends the writing of a file at each of its steps, leaves half of a write, fills the disk, and takes
what was not yet on it away: settings, calibrations and files of answers are then as they were or as they shall be. Recordings are killed in the
middle (` + "`go test ./internal/record -run 'Killed|Damaged'`" + `), caches damaged (` + "`go test ./source/cache`" + `), and farms parted, filled and lied to (` + "`go -C farm test ./...`" + `).
Where the machine's clock is set back, a watch goes on from its last moment (` + "`go test ./internal/watch -run Clock`" + `), a cache keeps what is used
now, and traces and recordings whose clocks jump are refused with the place.

## More of it

- Every parser has a fuzz target: ` + "`git grep 'func Fuzz'`" + ` lists them, and ` + "`go test ./format/gguf -fuzz FuzzRead`" + ` runs one.
- The hub, registries and addresses that misbehave: ` + "`go test ./source/remote`" + `. The server's guards and neighbours: ` + "`go test ./internal/serve`" + `.
`
