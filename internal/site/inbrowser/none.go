//go:build !js

// Command inbrowser is the core in a browser; elsewhere it says so.
package main

import "log"

func main() { log.Fatal("this is for browsers: go run ./internal/site builds it") }
