package pack

import (
	"strconv"
	"strings"
)

// What help says.
const (
	Use   = `pack "[N x]MODEL FLAGS"...`
	Short = "which models go on which device of a pool: shared, on MIG slices, or on several devices"
	Long  = "Each plan is a model with its flags in quotes, with an optional count. The largest are placed first, each on " +
		"the device where it leaves the least space and all ledgers still fit: weights, caches, driver contexts, " +
		"and what each engine reserves. Exit code 3: some models were not placed."
	Example = `memwall pack --on 4xh100 "llama-3.1-70b --weights fp8 --tp 2" "3x qwen3-8b --ctx 16k" "bge-m3"` + "\n" +
		`memwall pack --on 2xh100 --mig "4x llama-3.1-8b --weights fp8" "qwen3-32b --weights awq"`
)

// Plans parses plans, each with an optional count: "3x qwen3-8b --ctx 8k".
func Plans(texts []string, read func(string) (*Plan, error)) (out []Plan, err error) {
	for _, text := range texts {
		n, rest := 1, text
		if first, after, ok := strings.Cut(strings.TrimSpace(text), "x "); ok {
			if count, err := strconv.Atoi(strings.TrimSpace(first)); err == nil {
				n, rest = count, strings.TrimSpace(after)
			}
		}
		p, err := read(rest)
		switch {
		case err != nil:
			return nil, err
		case p.Request.Model == "":
			return nil, fault("plans", text, strconv.Quote(text)+" names no model", `"qwen3-8b --ctx 8k"`)
		case p.Request.Hardware != "":
			return nil, fault("plans", text, strconv.Quote(text)+" says its own hardware, and the pool is --on's",
				"without --on in the quotes")
		case n < 1 || len(out)+n > mostModels:
			return nil, fault("plans", text, "more than "+strconv.Itoa(mostModels)+" models, or none", `"3x qwen3-8b"`)
		}
		for range n {
			out = append(out, *p)
		}
	}
	return out, nil
}
