// Package docs checks the documentation: its tests compare every Markdown page of the repository, and the comments of
// its public packages, with the program and the files.
//
// See page_test.go for how a page is parsed, links_test.go for links and anchors, console_test.go for commands shown
// with their output, marks_test.go for figures within sentences, sources_test.go for pages that the code names, and
// comments_test.go for exported names without a comment. After a change of output, go test ./internal/docs -update
// regenerates the pages.
package docs
