package password

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Class is a kind of characters.
type Class string

// The classes.
const (
	Lower  Class = "lower"
	Upper  Class = "upper"
	Digit  Class = "digit"
	Symbol Class = "symbol"
)

// classes are all classes, in the order in which a policy is written.
var classes = []Class{Lower, Upper, Digit, Symbol}

// alphabet holds the characters of each class. Every BMC that we know takes them, they
// mean nothing in JSON, XML, URLs and shells that quote, and those that are taken for
// one another at a console (0 and O, 1, l and I) are left out.
var alphabet = map[Class]string{
	Lower:  "abcdefghijkmnopqrstuvwxyz",
	Upper:  "ABCDEFGHJKLMNPQRSTUVWXYZ",
	Digit:  "23456789",
	Symbol: "!+-=?@_~",
}

const (
	// defaultLength is as long as most BMCs allow and as IPMI 2.0 can tell.
	defaultLength = 20
	// defaultLeast is short enough for every BMC that we know.
	defaultLeast = 16
	// hardLeast is what no policy goes below.
	hardLeast = 8
	// hardMost is more than any BMC takes.
	hardMost = 64
)

// Policy is what is wished for of a password. The zero value asks for 20 characters,
// 16 if the BMC takes no more, of all classes.
type Policy struct {
	// Length is how many characters it has where the BMC takes as many; 20 when zero.
	Length int
	// Least is how many it has at least: a BMC that takes fewer is not rotated. It is
	// 16 when zero, and Length when that is less.
	Least int
	// Classes are those of which it has a character each; all when empty.
	Classes []Class
}

// ParsePolicy reads a policy as flags and annotations have it:
//
//	length=20,least=16,classes=lower+upper+digit+symbol
//
// Each part may be left out. The empty text is the zero value.
func ParsePolicy(text string) (Policy, error) {
	var p Policy
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if seen[key] {
			return Policy{}, fmt.Errorf("password policy: %s stands there twice", key)
		}
		seen[key] = true
		var err error
		switch key {
		case "length":
			p.Length, err = parseLength(value)
		case "least":
			p.Least, err = parseLength(value)
		case "classes":
			p.Classes, err = parseClasses(value)
		default:
			err = fmt.Errorf("there is no such part; there are length, least and classes")
		}
		if err != nil {
			return Policy{}, fmt.Errorf("password policy: %q: %w", part, err)
		}
	}
	if length, least := p.lengths(); least > length {
		return Policy{}, fmt.Errorf("password policy: least=%d is more than length=%d", least, length)
	}
	return p, nil
}

// String is the policy in the form that [ParsePolicy] reads.
func (p Policy) String() string {
	length, least := p.lengths()
	return fmt.Sprintf("length=%d,least=%d,classes=%s", length, least, joinClasses(p.classes()))
}

// lengths are the wished and the least length, with the defaults.
func (p Policy) lengths() (length, least int) {
	length, least = p.Length, p.Least
	if length == 0 {
		length = max(defaultLength, least)
	}
	if least == 0 {
		least = min(defaultLeast, length)
	}
	return length, least
}

// classes are those of the policy, with the default.
func (p Policy) classes() []Class {
	if len(p.Classes) == 0 {
		return classes
	}
	return p.Classes
}

func parseLength(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < hardLeast || n > hardMost {
		return 0, fmt.Errorf("a length is a number from %d to %d", hardLeast, hardMost)
	}
	return n, nil
}

// parseClasses reads classes in any order, and keeps them in ours.
func parseClasses(value string) ([]Class, error) {
	named := map[Class]bool{}
	for name := range strings.SplitSeq(value, "+") {
		c := Class(strings.TrimSpace(name))
		if !slices.Contains(classes, c) {
			return nil, fmt.Errorf("there is no class %q; there are %s", string(c), joinClasses(classes))
		}
		named[c] = true
	}
	if len(named) < 2 {
		return nil, fmt.Errorf("no BMC takes a password of one class")
	}
	return slices.DeleteFunc(slices.Clone(classes), func(c Class) bool { return !named[c] }), nil
}

func joinClasses(list []Class) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = string(c)
	}
	return strings.Join(words, "+")
}
