// Command site builds the page as a folder of files that any web host can serve: the core runs in the visitor's browser,
// as WebAssembly, and nothing that is asked leaves it.
//
//	go run ./internal/site -out site
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
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
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *base != "" && !strings.HasSuffix(*base, "/") {
		*base += "/"
	}
	if err := build(*out, *base, *only); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build writes all files of the site.
func build(out, base, only string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	core, err := core()
	if err != nil {
		return err
	}
	support, err := support()
	if err != nil {
		return err
	}
	picture, err := shared()
	if err != nil {
		return err
	}
	s := page.Site{Asker: &memwall.Asker{Models: memwall.Catalog{}}, OnePage: true, Base: base}
	files := map[string][]byte{
		"index.html":      []byte(s.Page(context.Background(), "", "", "").HTML),
		"page.css":        []byte(page.Style()),
		"og.png":          picture,
		"card.js":         []byte(page.Script()),
		"page.js":         []byte(start + "\n;\n" + page.Script()),
		"core.js":         bytes.Join([][]byte{support, []byte(worker)}, []byte("\n;\n")),
		"memwall.wasm.gz": core,
	}
	for name, data := range cards(s, only) {
		files[name] = data
	}
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
func core() ([]byte, error) {
	work, err := os.MkdirTemp("", "memwall-site-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }() // it is of the system's own temporary folder
	name := filepath.Join(work, "memwall.wasm")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", name,
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
