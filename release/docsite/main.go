// Command docsite turns README.md and docs/ into static pages with a search that runs in the browser. They need no server, and make
// no request beyond their own folder:
//
//	go run -C release ./docsite -out ../site/docs
//
// Start with build.go: from Markdown to files. markdown.go reads a page, links.go follows its links, index.go is what is searched.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "..", "the repository's folder")
	out := flag.String("out", "../site/docs", "folder for the files; it is made")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	files, err := build(os.DirFS(*from))
	if err == nil {
		err = write(*out, files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
