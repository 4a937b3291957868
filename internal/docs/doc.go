// Package docs checks what is written: the tests of this package hold every Markdown page of the
// repository, and the comments of its public packages, against the program and the files.
//
// Open page_test.go for how a page is read, links_test.go for links and anchors, console_test.go for the
// commands that pages show with their output, marks_test.go for figures inside their sentences,
// sources_test.go for pages that the code names, and comments_test.go for exported names without a comment.
// After a change of output, go test ./internal/docs -update writes the pages again.
package docs
