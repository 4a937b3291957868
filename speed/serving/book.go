package serving

import "github.com/memwall/memwall/speed/coef"

// book collects the coefficients that a prediction needs, each once.
type book struct {
	device
	engine, version string
	era             string // "" for an engine of today
	launcher        string // how kernels of prompts are launched
	moe             string // back end of mixtures that the plan names
	linear          string // kernels of linear layers that it names
	shared          bool   // experts are spread over the ranks of data parallelism
	whole           bool   // of a step rather than of a kernel that is timed alone
	uses            []coef.Use
	known           map[use][]coef.Level
}

// use is a class of kernels and the arithmetic that they are computed in.
type use struct {
	class, format string
	routed        bool
}

func newBook(d device, engine, version string) *book {
	return &book{device: d, engine: engine, version: version, uses: make([]coef.Use, 0, 48), known: map[use][]coef.Level{}}
}

// need gives the number of a coefficient. Two uses of one name differ in their first level only. They are few, so that
// looking through them takes less than a map does.
func (b *book) need(name string, levels []coef.Level) int {
	for i := range b.uses {
		u := &b.uses[i]
		if u.Name == name && (len(u.Levels) == 0 || u.Levels[0].Key == levels[0].Key) {
			return i
		}
	}
	b.uses = append(b.uses, coef.Use{Name: name, Levels: levels})
	return len(b.uses) - 1
}

// levels returns the levels that a kernel coefficient inherits from: its class, the device, and the engine whose kernels they are.
// Levels named step are what whole steps show beyond single kernels.
func (b *book) levels(class string) []coef.Level { return b.products(class, "") }

// products differ by the arithmetic too, which classes share.
func (b *book) products(class, format string) []coef.Level {
	key := use{class, format, false}
	l, ok := b.known[key]
	if !ok {
		l = b.list(class)
		if format != "" {
			l = append(l, coef.Level{Name: "arithmetic", Key: b.family + "/" + format})
		}
		b.known[key] = l
	}
	return l
}

// mixtures are the levels of routed experts. What surrounds the kernels of a back end is the engine's own, so that what
// they take in one engine is not carried to another, nor from one family of devices to another.
func (b *book) mixtures(class, format string) []coef.Level {
	key := use{class, format, true}
	if l, ok := b.known[key]; ok {
		return l
	}
	b.known[key] = b.aged([]coef.Level{
		{Name: "class", Key: class},
		{Name: "family", Key: b.family},
		{Name: "arithmetic", Key: b.family + "/" + format},
		{Name: "family.class", Key: b.family + "/" + class},
		{Name: "backend", Key: b.engine + "/" + Backend(b.moe, b.engine, b.family, class, b.shared) + "/" + b.family + "/" + class},
	})
	return b.known[key]
}

// levelsOfKernel are as many as one can have.
const levelsOfKernel = 14

func (b *book) list(class string) []coef.Level {
	l := append(make([]coef.Level, 0, levelsOfKernel),
		coef.Level{Name: "class", Key: class},
		coef.Level{Name: "memory", Key: b.memory()},
		coef.Level{Name: "family", Key: b.family},
		coef.Level{Name: "family.class", Key: b.family + "/" + class},
		coef.Level{Name: "device", Key: b.id},
		coef.Level{Name: "engine", Key: b.engine},
		coef.Level{Name: "engine.class", Key: b.engine + "/" + class},
		coef.Level{Name: "kernel", Key: b.engine + "/" + b.family + "/" + class})
	if !b.whole {
		return l
	}
	return b.aged(append(l,
		coef.Level{Name: "step", Key: "all"},
		coef.Level{Name: "step.family", Key: b.family},
		coef.Level{Name: "step.engine", Key: b.engine},
		coef.Level{Name: "step.engine.class", Key: b.engine + "/" + class}))
}

// aged adds the level that only engines of another era have.
func (b *book) aged(l []coef.Level) []coef.Level {
	if b.era == "" {
		return l
	}
	return append(l, coef.Level{Name: "era", Key: b.era})
}

// hostLevels are those of what the program's own code takes.
func (b *book) hostLevels() []coef.Level {
	return b.aged([]coef.Level{
		{Name: "engine", Key: b.engine},
		{Name: "version", Key: b.engine + "@" + b.version},
		{Name: "family", Key: b.family},
	})
}

func (b *book) overlapLevels() []coef.Level {
	return b.aged([]coef.Level{{Name: "engine", Key: b.engine}, {Name: "family", Key: b.family}, {Name: "engine.family", Key: b.engine + "/" + b.family}})
}
