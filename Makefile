# What has more than one command to it; all else is plain go build and go test.

.PHONY: site release

# site is the page as a folder of files that any web host can serve, with the docs in a folder of it.
site:
	go run ./internal/site -out site
	go run -C release ./docsite -out ../site/docs

# release makes the archives of a version: make release VERSION=1.2.3
release:
	scripts/release $(VERSION)
