package quantize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/source/regular"
)

// memory keeps what was measured of the tensors of files, as it is measured, so that a run that was stopped goes
// on. It lies in the user's folder of caches under a name made of the files' places, sizes and times; where there is no
// such folder nothing is kept.
type memory struct {
	old  quant.Recorded
	file *os.File
}

// remembered opens the memory of a model in a folder; again begins a new one.
func remembered(folder string, m *quant.Model, stats *quant.Statistics, again bool) *memory {
	if folder == "" || m.Identity == "" {
		return &memory{}
	}
	key := sha256.Sum256([]byte(memwall.Version + "\n" + m.Identity + "\n" + stats.Identity))
	name := filepath.Join(folder, hex.EncodeToString(key[:16])+".jsonl")
	if regular.Folder(filepath.Dir(name)) != nil {
		return &memory{}
	}
	mode := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if again {
		mode |= os.O_TRUNC
	}
	f, err := regular.OpenPrivate(name, mode)
	if err != nil {
		return &memory{}
	}
	return &memory{quant.ReadRecords(f), f}
}

func (k *memory) close() {
	if k.file != nil {
		_ = k.file.Close() // what is lost is measured again
	}
}

// recall gives what is known of tensors, and the tensors of which not all is.
func (k *memory) recall(tensors []*quant.Tensor, formats []*quant.Format, known quant.Asks,
) (results map[*quant.Tensor]*quant.Measured, left []*quant.Tensor) {
	results = map[*quant.Tensor]*quant.Measured{}
	for _, t := range tensors {
		if m := k.old.Of(t, formats, known); m != nil {
			results[t] = m
		} else {
			left = append(left, t)
		}
	}
	return results, left
}

// add remembers a tensor. What cannot be written is measured again.
func (k *memory) add(m *quant.Measured) {
	r := m.Record()
	if k.file == nil || r == nil {
		return
	}
	if line, err := json.Marshal(r); err == nil {
		_, _ = k.file.Write(append(append([]byte{'\n'}, line...), '\n')) // as above; the line before may have been cut off
	}
}

// MemoryFolder is where what was measured is remembered; "" where no folder of caches is known.
func MemoryFolder(env func(string) string, system string) string {
	if folder := cacheFolder(env, system); folder != "" {
		return filepath.Join(folder, "memwall", "quant")
	}
	return ""
}

// cacheFolder is where programs keep what they can do without; "" where none is known.
func cacheFolder(env func(string) string, system string) string {
	switch home := env("HOME"); {
	case env("XDG_CACHE_HOME") != "":
		return env("XDG_CACHE_HOME")
	case system == "windows":
		return env("LocalAppData")
	case home == "":
		return ""
	case system == "darwin":
		return filepath.Join(home, "Library", "Caches")
	default:
		return filepath.Join(home, ".cache")
	}
}
