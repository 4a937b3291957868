package llamacpp

import (
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
)

// prints are the buffer lines of llama.cpp's own log, of all devices and the host, where a load is not silent.
func (s *sizer) prints(ranks []engine.Rank, l engine.Load) []engine.Print {
	if l.Silent {
		return nil
	}
	out := make([]engine.Print, 0, 4*len(ranks)+6)
	if len(s.devices) == 0 {
		return s.bufferLines(out, &s.host, ranks[0].Items)
	}
	for i := range s.devices {
		out = s.bufferLines(out, &s.devices[i], ranks[i].Items)
	}
	return s.bufferLines(out, &s.host, ranks[0].Host)
}

// bufferWords are how the log calls an item.
var bufferWords = map[string]string{
	"weights": " model buffer size", "kv_cache": " KV buffer size", "state": " RS buffer size", "compute": " compute buffer size", "output": " output buffer size",
}

func (s *sizer) bufferLines(out []engine.Print, d *held, items []ledger.Item) []engine.Print {
	for i := range items {
		it := &items[i]
		words, ok := bufferWords[it.ID]
		if !ok || it.Unknown {
			continue
		}
		name := d.name
		switch {
		case it.Place == ledger.Pinned:
			name = s.hostBuffer()
		case it.ID == "weights" && d == &s.host && s.set.mmap && s.rules.version.AtLeast(mappedName):
			name = "CPU_Mapped"
		}
		if len(it.Items) == 0 {
			out = append(out, bufferPrint(name+words, it))
		}
		for k := range it.Items {
			out = append(out, bufferPrint(name+words, &it.Items[k]))
		}
	}
	return out
}

// mappedName: from here on the log tells mapped buffers from others (#10026).
var mappedName = build(3990)

// bufferPrint is in llama.cpp's own unit and digits.
func bufferPrint(name string, it *ledger.Item) engine.Print {
	n := it.Bytes.MiB()
	return engine.Print{Name: name, Value: n, Text: strconv.FormatFloat(n, 'f', 2, 64), Unit: "MiB", Low: it.Low.MiB(), High: it.High.MiB()}
}
