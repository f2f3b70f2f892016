package password

import "fmt"

// Recipe is what a password is made of: a policy that a BMC can take.
type Recipe struct {
	// Length is how many characters it has.
	Length int
	// Classes are those of which it has a character each.
	Classes []Class
}

// Plan is the longest password that the policy wishes for and the BMC takes. The
// error says what to change when there is none.
func Plan(p Policy, l Limits) (Recipe, error) {
	length, least := p.lengths()
	switch {
	case l.Max < least:
		return Recipe{}, fmt.Errorf("the BMC takes passwords of at most %d characters and the policy asks for at least %d: lower the policy's least to %d",
			l.Max, least, l.Max)
	case l.Min > l.Max:
		return Recipe{}, fmt.Errorf("the BMC asks for at least %d characters, more than the %d that it takes: correct its account policy", l.Min, l.Max)
	}
	return Recipe{Length: min(max(length, l.Min), l.Max), Classes: p.classes()}, nil
}
