package stream

// Sigma holds the prior standard deviations of offsets by coefficient and level, in logarithms.
var Sigma = map[string]map[string]float64{
	coefRead: {"since": 0.02, "all": 1, "power": 0.1, "backend": 0.15, "family": 0.15, "device": 0.06, "format": 0.1, "format-backend": 0.05, "engine": 0.2, "engine-family": 0.06, "era": 0.05, "era-format": 0.15, "form": 0.15,
		"rate": 0.1, "ridge": 0.15, "variant": 0.1, "library": 0.05},
	coefGather: {"since": 0.1, "all": 0.3, "backend": 0.3, "family": 0.2, "experts-format": 0.4, "era-backend": 0.2},
	coefUnpack: {"all": 1, "backend": 0.5, "family": 0.3, "format": 0.4, "format-engine": 0.6, "era-format": 0.6},
	coefLaunch: {"since": 0.1, "all": 1, "flash-library": 0.2, "width": 0.3, "backend": 0.5, "family": 0.3, "device": 0.1, "experts": 0.5, "experts-backend": 0.3, "era-experts": 0.4, "scan": 0.3, "scan-backend": 0.2, "engine": 2, "era": 0.5, "era-backend": 0.3, "form": 0.3, "rate": 0.3, "variant": 1},
	coefStep:   {"all": 1, "backend": 0.5, "engine": 0.7},
	coefCache:  {"all": 0.5, "group": 0.3, "backend": 0.2, "family": 0.2, "flash": 0.4, "flash-backend": 0.15, "engine": 0.5, "era": 0.5, "variant": 0.3},
	coefMultiply: {"since": 0.05, "all": 1, "backend": 0.7, "family": 0.35, "format-engine": 0.15, "class-backend": 0.5, "class-family": 0.3, "format": 0.2, "format-backend": 0.2, "device": 0.1, "engine": 0.4, "engine-family": 0.12, "era": 0.3, "era-backend": 0.2, "form": 0.3,
		"peak": 0.2, "power": 0.3, "width": 0.2, "width-engine": 0.2, "variant": 0.4, "library": 0.4, "library-class": 0.3, "era-class": 0.3},
	coefPrepare: {"all": 1, "rate": 0.2, "backend": 0.5, "family": 0.3, "engine": 0.5},
	coefAttend:  {"since": 0.25, "all": 1, "backend": 0.5, "device": 0.02, "family": 0.4, "engine": 0.4, "flash-backend": 0.5, "group": 0.3, "group-library": 0.2, "head": 0.3, "head-library": 0.2, "variant": 0.4, "library": 0.4, "flash-family": 0.3, "flash-library": 0.4},
	coefScatter: {"since": 0.1, "all": 0.5, "backend": 0.4, "library": 0.4, "family": 0.2, "experts-width": 0.3, "experts-format": 0.3, "era-backend": 0.2},
	coefTile:    {"all": 0.7, "backend": 0.5},
	coefHost:    {"all": 1, "format": 0.6, "era": 0.4},
}

// Together holds those of multi-device coefficients, which are fitted after the single-device ones.
var Together = map[string]map[string]float64{
	coefHop:  {"all": 1, "backend": 0.5},
	coefPipe: {"all": 0.5, "backend": 0.4, "engine": 0.3},
}
