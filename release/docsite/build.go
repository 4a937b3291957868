package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The frame of every page, its style, and the search.
var (
	//go:embed layout.html
	layout string
	//go:embed docs.css
	style []byte
	//go:embed search.js
	search []byte

	frame = template.Must(template.New("page").Parse(layout))
)

// site is what is being built: pages by their path in the repository, files by theirs in the site.
type site struct {
	from  fs.FS
	pages map[string]*page
	order []*page // as the navigation has them
	files map[string][]byte
}

// build returns the site's files. Its error lists every link that leads nowhere, by file and line.
func build(from fs.FS) (map[string][]byte, error) {
	s := &site{from: from, pages: map[string]*page{}, files: map[string][]byte{"docs.css": style, "search.js": search}}
	if err := s.read(); err != nil {
		return nil, err
	}
	var wrong []error
	for _, p := range s.order {
		wrong = append(wrong, s.follow(p)...)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	for _, p := range s.order {
		if err := s.draw(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
	}
	var err error
	s.files["index.js"], err = index(s.order)
	return s.files, err
}

// read parses README.md and every page of docs.
func (s *site) read() error {
	names := []string{"README.md"}
	err := fs.WalkDir(s.from, "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(s.from, name)
		if err != nil {
			return err
		}
		s.pages[name] = parse(name, text)
		s.order = append(s.order, s.pages[name])
	}
	slices.SortFunc(s.order, func(a, b *page) int { return strings.Compare(a.rank(), b.rank()) })
	return nil
}

// rank sorts pages: a folder's own page is first.
func (p *page) rank() string {
	return path.Dir(p.source) + "\x00" + strings.TrimPrefix(path.Base(p.source), "README.md")
}

// address of a page or picture in the site; a folder's README is its index.
func address(source string) string {
	name := strings.TrimPrefix(source, "docs/")
	if stem, ok := strings.CutSuffix(name, ".md"); ok {
		if path.Base(stem) == "README" {
			return path.Join(path.Dir(stem), "index.html")
		}
		return stem + ".html"
	}
	return name
}

// relative is the link from one file of the site to another.
func relative(from, to string) string {
	rel, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		panic(err) // both are relative to the same folder
	}
	return filepath.ToSlash(rel)
}

// group is a part of the navigation: the pages of a folder.
type group struct {
	Name string
	Open bool
	Page []entry
}

// entry is a link of the navigation, with the parts of the page that is being read.
type entry struct {
	Title, Link string
	Here        bool
	Parts       []heading
}

// navigation of a page.
func (s *site) navigation(from *page) (out []group) {
	for _, of := range []struct{ folder, name string }{
		{"docs/guides", "Guides"}, {"docs/case-studies", "Case studies"}, {"docs", "Reference"}, {"docs/decisions", "Decisions"},
	} {
		g := group{Name: of.name}
		for _, p := range s.order {
			if path.Dir(p.source) != of.folder {
				continue
			}
			e := entry{Title: p.title, Link: relative(from.out, p.out), Here: p == from}
			if e.Here {
				g.Open, e.Parts = true, p.parts()
			}
			g.Page = append(g.Page, e)
		}
		g.Open = g.Open || from.source == "README.md" && of.folder == "docs/guides"
		out = append(out, g)
	}
	return out
}

// draw writes the HTML of a page.
func (s *site) draw(p *page) error {
	if s.files[p.out] != nil {
		return fmt.Errorf("another page is %s too: rename one", p.out)
	}
	groups := s.navigation(p)
	if p.source != "README.md" && !slices.ContainsFunc(groups, func(g group) bool { return g.Open }) {
		return fmt.Errorf("its folder is in no group of the navigation: name it in release/docsite/build.go")
	}
	body, err := p.html()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = frame.Execute(&b, map[string]any{
		"Title": p.title, "Up": strings.Repeat("../", strings.Count(p.out, "/")), "Groups": groups,
		"Body": template.HTML(body), // p.html escapes what a page says
	})
	s.files[p.out] = b.Bytes()
	return err
}
