package main

// start has the values of the coefficients before any row speaks.
var start = map[string]float64{
	"product.floor": 5e-6, "product.memory": 0.85, "product.compute": 0.7, "product.heat": 0.03,
	"attention.floor": 1e-5, "attention.memory": 0.85, "attention.multiply": 0.5, "attention.prefill": 0.6, "attention.half": 500,
	"link.call": 5e-6, "link.peer": 2e-7, "link.once": 0.5, "link.ring": 0.7, "link.start": 5e-6,
	"experts.floor": 1.4e-5, "experts.memory": 0.5, "experts.compute": 0.4, "experts.half": 64, "experts.skew": 0.85,
	"scan.floor": 2.5e-5, "scan.memory": 0.5, "scan.multiply": 0.02, "pointwise.memory": 1,
	"host.layer": 1.2e-5, "host.step": 4e-4, "host.request": 8e-6, "host.prompt": 2e-3,
	"front.base": 0.02, "front.steps": 4, "loop.burst": 0.2, "loop.share": 0.5,
}

// kernelLevels are the prior deviations of the coefficients of kernels.
var kernelLevels = map[string]float64{"class": 0.3, "memory": 0.2, "family": 0.3, "family.class": 0.2, "device": 0.1, "engine": 0.2, "engine.class": 0.3,
	"step": 0.1, "step.family": 0.1, "step.class": 0.1}

var hostLevels = map[string]float64{"engine": 0.5, "version": 0.3, "family": 0.2}

func sigmas() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for name := range start {
		out[name] = kernelLevels
	}
	for _, name := range []string{"host.layer", "host.step", "host.request", "host.prompt"} {
		out[name] = hostLevels
	}
	out["product.heat"] = map[string]float64{"family": 0.5}
	out["front.base"] = map[string]float64{"engine": 0.7, "version": 0.5}
	out["front.steps"] = map[string]float64{"engine": 1, "version": 0.5}
	out["loop.burst"] = map[string]float64{"engine": 0.5, "client": 1, "version": 0.3}
	out["loop.share"] = map[string]float64{}
	out["experts.skew"] = map[string]float64{}
	return out
}
