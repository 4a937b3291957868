// Command site builds the web page as a folder of static files for any web host: the core runs in the visitor's browser
// as WebAssembly, and no question leaves it.
//
//	go run ./internal/site -out site
//
// With -core it writes only the core and Go's loader, as contained in the JavaScript package.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "embed"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
)

// start is of the page, worker of the core beside it.
var (
	//go:embed start.js
	start string
	//go:embed core.js
	worker string
)

func main() {
	out := flag.String("out", "site", "folder for the files; it is made")
	base := flag.String("base", "", "address at which the world will find the folder, https://…; pages then say where they are")
	only := flag.String("cards", "", "words that a card's name must have for its page to be made; all are made without it")
	alone := flag.Bool("core", false, "write the core alone, and wasm_exec.js, which starts it")
	version := flag.String("version", memwall.Version, "what the core says that it is")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *base != "" && !strings.HasSuffix(*base, "/") {
		*base += "/"
	}
	files, err := started(*version)
	if err == nil && !*alone {
		err = pages(files, *base, *only)
	}
	if err == nil {
		err = write(*out, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// Names of the core and of what starts it.
const (
	coreName  = "memwall.wasm.gz"
	startName = "wasm_exec.js"
)

// started is the core with what starts it.
func started(version string) (map[string][]byte, error) {
	core, err := core(version)
	if err != nil {
		return nil, err
	}
	support, err := support()
	return map[string][]byte{coreName: core, startName: support}, err
}

// pages adds those of the site, whose worker has what starts the core in it.
func pages(files map[string][]byte, base, only string) error {
	picture, err := shared()
	if err != nil {
		return err
	}
	s := page.Site{Asker: &memwall.Asker{Models: memwall.Catalog{}}, OnePage: true, Base: base}
	maps.Copy(files, map[string][]byte{
		"index.html": []byte(s.Page(context.Background(), "", "", "").HTML),
		"page.css":   []byte(page.Style()),
		"og.png":     picture,
		"card.js":    []byte(page.Script()),
		"page.js":    []byte(start + "\n;\n" + page.Script()),
		"core.js":    bytes.Join([][]byte{files[startName], []byte(worker)}, []byte("\n;\n")),
	})
	delete(files, startName)
	maps.Copy(files, cards(s, only))
	return nil
}

// write puts files into a folder, which is made.
func write(out string, files map[string][]byte) error {
	for name, data := range files {
		at := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cards are the pages of the catalog, each with its badge where it has one.
func cards(s page.Site, only string) map[string][]byte {
	files := map[string][]byte{}
	s.Asker = s.Asker.Remembering()
	for _, path := range page.CardNames() {
		if !strings.Contains(path, only) {
			continue
		}
		folder, _, _ := strings.Cut(path, "/")
		s.Up = strings.Repeat("../", 1+strings.Count(folder, "/"))
		if files[folder+"/index.html"] == nil {
			files[folder+"/index.html"] = []byte(s.Page(context.Background(), "/"+folder, "", "").HTML)
		}
		s.Up = strings.Repeat("../", 1+strings.Count(path, "/"))
		html, badge := s.CardFiles(context.Background(), path)
		files[path+"/index.html"] = []byte(html)
		if badge != "" {
			files[path+".svg"] = []byte(badge)
		}
	}
	return files
}

// core is the program as WebAssembly, packed.
func core(version string) ([]byte, error) {
	work, err := os.MkdirTemp("", "memwall-site-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }() // it is of the system's own temporary folder
	name := filepath.Join(work, "memwall.wasm")
	flags := "-s -w -buildid= -X github.com/memwall/memwall.Version=" + version
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", name,
		"github.com/memwall/memwall/internal/site/inbrowser")
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close() // before the bytes are taken
	return b.Bytes(), err
}

// support is what Go brings for programs in browsers.
func support() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
}
