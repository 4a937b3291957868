package advice

import "testing"

// TestPrinciples: each principle has a change that it refuses, and one beside it that it lets pass.
func TestPrinciples(t *testing.T) {
	whole := Cure{Speed: 1, Decode: 30, Users: 1, Context: 1, Lacks: true}
	with := func(set func(*Cure)) *Cure {
		c := whole
		set(&c)
		return &c
	}
	cases := []struct {
		about, refused string
		cure           *Cure
	}{
		{"as it is", "", &whole},
		{"6 users of 64", "load", with(func(c *Cure) { c.Users = 6. / 64 })},
		{"16 users of 64", "", with(func(c *Cure) { c.Users = 16. / 64 })},
		{"most users of a server", "waiting users", with(func(c *Cure) { c.Serves, c.Users = true, 0.9 })},
		{"two bits", "quality", with(func(c *Cure) { c.Loss = 40 })},
		{"three bits of a model that nobody measured", "", with(func(c *Cure) { c.Loss, c.Bits, c.Guessed = 38, 3.4, true })},
		{"two bits that nobody measured", "quality", with(func(c *Cure) { c.Loss, c.Bits, c.Guessed = 15, 2.6, true })},
		{"four bits", "", with(func(c *Cure) { c.Loss = 3 })},
		{"four bits where all fits", "nothing lacks", with(func(c *Cure) { c.Loss, c.Lacks = 3, false })},
		{"eight bits where all fits", "", with(func(c *Cure) { c.Loss, c.Lacks = 0.1, false })},
		{"a context of 1k for 128k", "load", with(func(c *Cure) { c.Context = 1. / 128 })},
		{"44 GiB of a server's weights on the host", "served speed", with(func(c *Cure) { c.Serves, c.Speed, c.Decode = true, 0.04, 3 })},
		{"a server that all wait for", "served speed", with(func(c *Cure) { c.Serves, c.Speed, c.Decode = true, 0.4, 1.2 })},
		{"a little of them", "", with(func(c *Cure) { c.Serves, c.Speed, c.Decode = true, 0.6, 30 })},
		{"layers on the host at a word in two seconds", "local speed", with(func(c *Cure) { c.Speed, c.Decode = 0.06, 1.2 })},
		{"layers on the host at reading speed", "", with(func(c *Cure) { c.Speed, c.Decode = 0.14, 2.7 })},
		{"experts on the host of a fast card", "", with(func(c *Cure) { c.Speed, c.Decode = 0.2, 35 })},
		{"all users at half the tokens that those get who have a place", "worth waiting", with(func(c *Cure) { c.Serves, c.Starts, c.Speed = true, true, 0.5 })},
		{"all users at nearly as many", "", with(func(c *Cure) { c.Serves, c.Starts, c.Speed = true, true, 0.9 })},
		{"llama.cpp for 64 users", "other program", with(func(c *Cure) { c.OtherEngine, c.AskedUsers = true, 64 })},
		{"llama.cpp at half the speed", "other program", with(func(c *Cure) { c.OtherEngine, c.Speed = true, 0.4 })},
		{"llama.cpp for one", "", with(func(c *Cure) { c.OtherEngine, c.Speed = true, 0.9 })},
		{"a speed that nobody knows", "", with(func(c *Cure) { c.Serves, c.Speed, c.Decode = true, 0, 0 })},
		{"what somebody asked for", "", with(func(c *Cure) { c.Given, c.Users = true, 0.01 })},
	}
	slow := map[bool]*Cure{true: with(func(c *Cure) { c.Speed, c.Decode = 0.16, 2.9 }),
		false: with(func(c *Cure) { c.Speed, c.Decode, c.Experts = 0.14, 4.2, true })}
	for want, c := range slow {
		if Slow(c) != want {
			t.Errorf("%+v: slow %v, want %v", *c, !want, want)
		}
	}
	if Slow(with(func(c *Cure) { c.Decode = 3 })) {
		t.Error("a computer without an accelerator is slow whatever is changed")
	}
	seen := map[string]bool{}
	for _, c := range cases {
		name := ""
		if p := Refused(c.cure); p != nil {
			name = p.Name
		}
		seen[name] = true
		if name != c.refused {
			t.Errorf("%s: refused for %q, want %q", c.about, name, c.refused)
		}
	}
	for _, p := range Principles {
		if !seen[p.Name] || p.Why == "" {
			t.Errorf("%s refuses nothing here, or has no reason", p.Name)
		}
	}
}
