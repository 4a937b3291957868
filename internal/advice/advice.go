// Package advice decides which changes are worth saying to somebody whose plan does not do what was asked: candidates in,
// those that a practitioner would stand behind out, each refusal with its reason. It knows no model and no engine.
package advice

// Cure is a change of a plan, as far as advice rests on it.
type Cure struct {
	// Speed is the share of the tokens a second of all users that the change keeps; 0: nobody knows.
	Speed float64
	// Decode is the tokens a second that one user then gets; 0: nobody knows.
	Decode float64
	// Loss is what smaller weights lose, in percent of perplexity.
	Loss float64
	// Guessed: nobody published that loss of such a model, and it lies between what others lose by bits.
	Guessed bool
	// Bits of most weights, where the change stores them anew; 0 where it does not.
	Bits float64
	// Users and Context are the shares of the users and of the context asked for that it keeps; 1 where it leaves them.
	Users, Context float64
	// Starts: as asked it starts and serves some of the users, while the others wait.
	Starts bool
	// Serves: the engine is one that serves many at once.
	Serves bool
	// Experts: the model is a mixture of them, which people keep on a host where nothing smaller holds as much knowledge.
	Experts bool
	// OtherEngine: it is another program.
	OtherEngine bool
	// AskedUsers is how many were asked for.
	AskedUsers int64
	// Lacks: the plan as asked does not fit, or is slow for want of room.
	Lacks bool
	// Given: somebody named this change among those to try.
	Given bool
}

// Principle is what a cure must keep.
type Principle struct {
	Name string
	// Why a practitioner would not say such a change.
	Why   string
	keeps func(*Cure) bool
}

// Bounds of the principles. They are judgements, not measurements.
const (
	servedSpeed = 0.5  // of a server's tokens a second
	withWaiting = 0.75 // of what it gives while some users wait
	otherSpeed  = 0.5  // of them, with another program
	asFast      = 0.9  // as before, near enough
	localSpeed  = 0.25 // of one user's
	readable    = 2    // tokens a second that somebody still waits for
	readAlong   = 5    // that each user of a server reads along with
	ofTheLoad   = 0.25 // of the users
	ofContext   = 0.5  // of the context
	// percent of perplexity: more than a model of half the size loses (Llama 3.1 70B to 8B apart, sizes of a line differ by less)
	mostLoss = 20
	// percent of perplexity that few notice: about what q4_k_m loses (llama.cpp, examples/perplexity/README.md, Llama 3 8B)
	fewNotice = 2
	// in two bits a model answers worse than one of half the size (llama.cpp, k-quants, #1684)
	fewestBits = 3
)

// FewUsers are as many as a program for one stream serves as well.
const FewUsers = 4

// Principles, in the order in which a refusal names them.
var Principles = []Principle{
	{"load", "a change that drops most of what was asked for answers another question",
		func(c *Cure) bool { return c.Users >= ofTheLoad && c.Context >= ofContext }},
	{"waiting users", "a server lets those wait for whom there is no room: fewer users are no change of it",
		func(c *Cure) bool { return !c.Serves || c.OtherEngine || c.Users >= 1 }},
	{"worth waiting", "users who wait for a place have their answers sooner than where all are served so slowly",
		func(c *Cure) bool {
			return !c.Serves || !c.Starts || c.OtherEngine || c.Speed == 0 || c.Speed >= withWaiting
		}},
	{"quality", "a smaller model of the same line is better than one in so few bits",
		func(c *Cure) bool { return (c.Loss <= mostLoss || c.Guessed) && (c.Bits == 0 || c.Bits >= fewestBits) }},
	{"nothing lacks", "where all fits, nobody gives away quality that can be told",
		func(c *Cure) bool { return c.Lacks || c.Loss <= fewNotice }},
	{"served speed", "weights that cross a bus in every step make all users wait: another format or another device serves them",
		func(c *Cure) bool {
			few := c.AskedUsers <= FewUsers && (c.Decode >= readable || c.Speed >= asFast)
			follows := c.Decode >= readAlong || few
			return !c.Serves || c.OtherEngine || c.Speed == 0 || c.Speed >= servedSpeed && follows
		}},
	{"local speed", "nobody waits seconds for a word: another model or another format is what helps",
		func(c *Cure) bool { return c.Serves || c.Speed == 0 || c.Speed >= localSpeed || c.Decode >= readable }},
	{"other program", "another program is no cure where it serves half as much, or many users that it is not made for",
		func(c *Cure) bool {
			return !c.OtherEngine || c.AskedUsers <= FewUsers && (c.Speed == 0 || c.Speed >= otherSpeed)
		}},
}

// Slow reports whether a change gives who asks alone words more slowly than they are read, where the plan itself would not: it is said
// behind others, and never first.
func Slow(c *Cure) bool {
	return !c.Serves && !c.Experts && c.Decode > 0 && c.Decode < readAlong && c.Speed < asFast
}

// Refused is the first principle that a cure breaks; nil where it breaks none, or somebody asked for it.
func Refused(c *Cure) *Principle {
	if c.Given {
		return nil
	}
	for i := range Principles {
		if p := &Principles[i]; !p.keeps(c) {
			return p
		}
	}
	return nil
}
