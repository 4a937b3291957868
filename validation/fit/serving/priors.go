package main

import (
	"maps"
	"strings"
)

// start has the values of the coefficients before any row speaks.
var start = map[string]float64{
	"product.floor": 5e-6, "product.memory": 0.85, "product.compute": 0.7, "product.heat": 0.03, "product.quantise": 0.5,
	"attention.floor": 1e-5, "attention.memory": 0.85, "attention.multiply": 0.5, "attention.prefill": 0.6, "attention.half": 500,
	"link.call": 5e-6, "link.peer": 2e-7, "link.once": 0.5, "link.ring": 0.7, "link.start": 5e-6, "link.grow": 1, "link.crowd": 1,
	"experts.floor": 1.4e-5, "experts.memory": 1, "experts.compute": 0.4, "experts.half": 64, "experts.skew": 0.85,
	"scan.floor": 2.5e-5, "scan.memory": 0.5, "scan.multiply": 0.02, "pointwise.memory": 1,
	"pointwise.floor": 2e-6, "host.step": 4e-4, "host.request": 8e-6, "host.prompt": 2e-3, "host.launch": 1, "host.eager": 4e-5,
	"front.base": 0.02, "front.steps": 4, "front.stream": 0.3, "front.batch": 0.5, "front.token": 2e-6,
	"pools.base": 0.1, "pools.burst": 0.2, "step.overlap": 1,
}

// Prior deviations, in logarithms: of kernels that are timed alone, of those that only whole engines run, and of
// what the engine's own code takes.
var (
	timed = map[string]float64{"class": 0.3, "memory": 0.2, "family": 0.3, "family.class": 0.2, "device": 0.1, "engine": 0.2,
		"engine.class": 0.3, "kernel": 0.2, "era": era}
	floors = with(timed, map[string]float64{"step": 0.1, "step.family": 0.1, "step.engine": 0.3, "step.engine.class": 0.3})
	scaled = with(timed, map[string]float64{"class": 0.5, "device": 0.3})
	inside = map[string]float64{"class": 0.3, "family": 0.3, "arithmetic": 0.3, "family.class": 0.15, "engine.class": 0.15, "era": era}
	routed = map[string]float64{"class": 0.3, "family": 0.3, "arithmetic": 0.3, "family.class": 0.15, "backend": 0.3, "era": era}
	host   = map[string]float64{"engine": 0.4, "version": 0.15, "family": 0.1, "era": era}
)

// era is wide: stacks of 2024 were off by factors, and what they say of a device is to stay with them.
const era = 1

// own deviations of coefficients that are no kernel's.
var own = map[string]map[string]float64{
	"product.heat":    {"family": 0.5, "class": 0.5, "family.class": 0.5, "era": era},
	"experts.skew":    {},
	"pointwise.floor": host, "host.step": host, "host.request": host, "host.prompt": host,
	"host.launch": {"device": 0.5}, "host.eager": {"launcher": 1, "version": 0.3},
	"front.base": {"engine": 0.7, "version": 0.3}, "front.steps": {"engine": 1, "version": 0.3},
	"front.stream": {"engine": 1.5, "version": 0.7},
	"front.batch":  {"engine": 0.7, "version": 0.3},
	"pools.base":   {"engine": 0.7}, "pools.burst": {"engine": 0.7},
	"front.token":  {"engine": 0.7},
	"step.overlap": {"engine": 0.1, "family": 0.1, "engine.family": 0.05, "era": era},
	"link.grow":    scaled, "link.crowd": scaled,
	"link.peer":     with(timed, map[string]float64{"class": 1, "family": 0.5, "device": 0.3, "engine": 1, "engine.class": 0.5}),
	"product.floor": floors, "link.call": floors, "attention.floor": floors,
}

// with adds levels.
func with(levels, more map[string]float64) map[string]float64 {
	out := maps.Clone(levels)
	maps.Copy(out, more)
	return out
}

func sigmas() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for name := range start {
		room, _, _ := strings.Cut(name, ".")
		switch levels, ok := own[name]; {
		case ok:
			out[name] = levels
		case room == "experts":
			out[name] = routed
		case room == "scan" || room == "pointwise":
			out[name] = inside
		default:
			out[name] = timed
		}
	}
	return out
}
