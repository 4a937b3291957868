//go:build !js

package main

import "log"

func main() { log.Fatal("this is for browsers: go run ./internal/site builds it") }
