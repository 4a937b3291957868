package serving

import "github.com/memwall/memwall/speed/coef"

// book collects the coefficients that a prediction needs, each once.
type book struct {
	device
	engine, version string
	moe             string // back end of mixtures that the plan names
	shared          bool   // experts are spread over the ranks of data parallelism
	uses            []coef.Use
	known           map[use][]coef.Level
}

// use is a class of kernels and the arithmetic that they are computed in.
type use struct{ class, format string }

func newBook(d device, engine, version string) *book {
	return &book{device: d, engine: engine, version: version, uses: make([]coef.Use, 0, 64), known: map[use][]coef.Level{}}
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

// levels that a coefficient of a kernel inherits from: the class of what it works on, the device, and the
// program whose kernels they are. The levels named step are what whole steps say beyond single kernels.
func (b *book) levels(class string) []coef.Level { return b.products(class, "") }

// products differ by the arithmetic too, which classes share.
func (b *book) products(class, format string) []coef.Level {
	key := use{class, format}
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
	return []coef.Level{
		{Name: "class", Key: class},
		{Name: "family", Key: b.family},
		{Name: "arithmetic", Key: b.family + "/" + format},
		{Name: "family.class", Key: b.family + "/" + class},
		{Name: "backend", Key: b.engine + "/" + Backend(b.moe, b.engine, b.family, class, b.shared) + "/" + b.family + "/" + class},
	}
}

func (b *book) list(class string) []coef.Level {
	return []coef.Level{
		{Name: "class", Key: class},
		{Name: "memory", Key: b.memory()},
		{Name: "family", Key: b.family},
		{Name: "family.class", Key: b.family + "/" + class},
		{Name: "device", Key: b.id},
		{Name: "engine", Key: b.engine},
		{Name: "engine.class", Key: b.engine + "/" + class},
		{Name: "step", Key: "all"},
		{Name: "step.family", Key: b.family},
		{Name: "step.engine", Key: b.engine},
		{Name: "step.engine.class", Key: b.engine + "/" + class},
	}
}

// hostLevels are those of what the program's own code takes.
func (b *book) hostLevels() []coef.Level {
	return []coef.Level{
		{Name: "engine", Key: b.engine},
		{Name: "version", Key: b.engine + "@" + b.version},
		{Name: "family", Key: b.family},
	}
}
