package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is the public address of what is not of the site: source files.
const repository = "https://github.com/memwall/memwall"

// errRefused is of an address that a page may not lead to: its words stay, the link goes.
var errRefused = errors.New("not an address of the web")

// follow turns a page's links into those of the site, and lists those that lead nowhere.
func (s *site) follow(p *page) (wrong []error) {
	for _, n := range linksOf(p.doc) {
		err := s.turn(p, n)
		switch {
		case errors.Is(err, errRefused):
			unlink(p, n)
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", p.source, p.line(n), err))
		}
	}
	return wrong
}

// linksOf lists links and pictures.
func linksOf(doc ast.Node) (out []ast.Node) {
	_ = ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) { // the visitor gives no errors
		switch n.Kind() {
		case ast.KindLink, ast.KindImage, ast.KindAutoLink:
			if in {
				out = append(out, n)
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

// turn sets where a link leads, or where a picture lies.
func (s *site) turn(p *page, n ast.Node) error {
	switch n := n.(type) {
	case *ast.Link:
		to, err := s.target(p, string(n.Destination))
		n.Destination = []byte(to)
		return err
	case *ast.Image:
		to, err := s.picture(p, string(n.Destination))
		n.Destination = []byte(to)
		return err
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			_, err := s.target(p, string(n.URL(p.text)))
			return err
		}
	}
	return nil
}

// unlink leaves the words of a link.
func unlink(p *page, n ast.Node) {
	parent := n.Parent()
	if auto, ok := n.(*ast.AutoLink); ok {
		parent.ReplaceChild(parent, n, ast.NewString(auto.Label(p.text)))
		return
	}
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		parent.InsertBefore(parent, n, c)
	}
	parent.RemoveChild(parent, n)
}

// target is the address in the site, or beyond, that a link of a page means.
func (s *site) target(from *page, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("%s: not an address", link)
	}
	switch {
	case u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "mailto":
		return link, nil
	case u.Scheme != "" || u.Host != "":
		return "", errRefused
	}
	name, about, err := s.file(from, u)
	if err != nil {
		return "", err
	}
	to := s.pages[name]
	if to == nil {
		to = s.pages[path.Join(name, "README.md")]
	}
	switch {
	case to == nil && about.IsDir():
		return repository + "/tree/HEAD/" + name, nil
	case to == nil:
		return repository + "/blob/HEAD/" + name, nil
	case u.Fragment == "":
		return relative(from.out, to.out), nil
	case !to.has(u.Fragment):
		return "", fmt.Errorf("%s: %s has no such heading", link, to.source)
	}
	return relative(from.out, to.out) + "#" + u.Fragment, nil
}

// file is what a link names in the repository.
func (s *site) file(from *page, u *url.URL) (string, fs.FileInfo, error) {
	name := path.Join(path.Dir(from.source), u.Path)
	if u.Path == "" {
		name = from.source
	}
	about, err := fs.Stat(s.from, name)
	if err != nil {
		return "", nil, fmt.Errorf("%s: no such file", u)
	}
	return name, about, nil
}

// pictures are the kinds of files that a browser shows as one.
const pictures = ".jpg .png .svg .webp"

// picture takes a picture into the site.
func (s *site) picture(from *page, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", fmt.Errorf("%s: pictures are files of the repository", link)
	}
	name, _, err := s.file(from, u)
	if err != nil {
		return "", err
	}
	if !slices.Contains(strings.Fields(pictures), path.Ext(name)) {
		return "", fmt.Errorf("%s: no picture that pages show (%s)", link, pictures)
	}
	data, err := fs.ReadFile(s.from, name)
	if err != nil {
		return "", err
	}
	s.files[address(name)] = data
	return relative(from.out, address(name)), nil
}

// line of a page on which a node begins; of its block where that is all that is known.
func (p *page) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if at := n.Pos(); at >= 0 && at <= len(p.text) {
			return 1 + bytes.Count(p.text[:at], []byte("\n"))
		}
	}
	return 1
}
