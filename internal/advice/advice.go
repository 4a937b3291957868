// Package advice selects the changes worth suggesting to someone whose plan does not do what was asked: candidates go
// in, those a practitioner would recommend come out, and each rejection has a reason. It knows no models or engines.
package advice

// Cure is a change to a plan, described by what advice depends on.
type Cure struct {
	// Speed is the ratio of all users' tokens a second after the change to before; 0 if unknown.
	Speed float64
	// Decode is one user's tokens a second after the change; 0 if unknown.
	Decode float64
	// Loss is the quality loss of smaller weights, in percent of perplexity.
	Loss float64
	// Guessed reports that the loss is interpolated by bits rather than published.
	Guessed bool
	// Bits is the bits per weight if the change requantizes; 0 if it does not.
	Bits float64
	// Users and Context are the shares of the requested users and context that remain; 1 if unchanged.
	Users, Context float64
	// Starts reports that the original plan starts and serves some of the users while the others wait.
	Starts bool
	// Serves reports that the engine serves many users at once.
	Serves bool
	// Experts reports that the model is a mixture of experts, which people offload to a host when no smaller model is as
	// good.
	Experts bool
	// OtherEngine reports that the change switches programs.
	OtherEngine bool
	// AskedUsers is the number of users requested.
	AskedUsers int64
	// Lacks reports that the original plan does not fit, or is slow for lack of memory.
	Lacks bool
	// Given reports that the user named this change among those to try.
	Given bool
}

// Principle is a condition that a cure must meet.
type Principle struct {
	Name string
	// Why says why a practitioner would not suggest such a change.
	Why   string
	keeps func(*Cure) bool
}

// Thresholds of the principles. They are judgements, not measurements.
const (
	servedSpeed = 0.5  // of a server's tokens a second
	withWaiting = 0.75 // of the rate with some users waiting
	otherSpeed  = 0.5  // of it, with another program
	asFast      = 0.9  // practically unchanged
	localSpeed  = 0.25 // of a single user's rate
	readable    = 2    // tokens a second that one would still wait for
	readAlong   = 5    // reading speed, for each user of a server
	ofTheLoad   = 0.25 // of the users
	ofContext   = 0.5  // of the context
	// percent of perplexity: more than a model of half the size loses (models of a family differ by less, except Llama
	// 3.1 70B to 8B)
	mostLoss = 20
	// percent of perplexity that few notice: about that of q4_k_m (llama.cpp, examples/perplexity/README.md, Llama 3 8B)
	fewNotice = 2
	// a model in two bits is worse than one of half the size (llama.cpp, k-quants, #1684)
	fewestBits = 3
)

// FewUsers is the number of users that a single-stream program serves equally well.
const FewUsers = 4

// Principles lists the principles in the order in which a rejection names them.
var Principles = []Principle{
	{"load", "a change that drops most of what was asked for answers another question",
		func(c *Cure) bool { return c.Users >= ofTheLoad && c.Context >= ofContext }},
	{"waiting users", "a server lets those wait for whom there is no room: fewer users do not change that",
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
	{"local speed", "seconds for each word is too slow to use: another model or format helps",
		func(c *Cure) bool { return c.Serves || c.Speed == 0 || c.Speed >= localSpeed || c.Decode >= readable }},
	{"other program", "another program is not a cure where it serves half as much, or many users that it is not made for",
		func(c *Cure) bool {
			return !c.OtherEngine || c.AskedUsers <= FewUsers && (c.Speed == 0 || c.Speed >= otherSpeed)
		}},
}

// Slow reports whether the change makes a single user's output slower than reading speed, where the plan itself would
// not be. Such a change is listed after others.
func Slow(c *Cure) bool {
	return !c.Serves && !c.Experts && c.Decode > 0 && c.Decode < readAlong && c.Speed < asFast
}

// Refused returns the first principle that a cure violates; nil if none, or if the user asked for it.
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
