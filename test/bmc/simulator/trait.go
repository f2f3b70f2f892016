package simulator

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// trait is how a quirk shows in requests and answers, where that can be said
// without the topic's help. The server's lock is held in its functions.
type trait struct {
	// at are the requests that it concerns: verb and path pattern, in which *
	// stands for anything.
	at []string
	// when narrows them down; nil is always.
	when func(c *call) bool
	// absent answers as if the request were not known: 405, and Allow lacks it.
	absent bool
	// refuse answers instead of the handler, unless nil is returned.
	refuse func(c *call) error
	// reshape changes what an answer shows. Lists and objects below the body may
	// be shared: they are replaced, not changed.
	reshape func(c *call, body object)
}

// oddity is a quirk with its trait.
type oddity struct {
	Info
	trait
}

// oddities are the quirks with traits, by topic.
var oddities = slices.Concat(accountOddities, etagOddities, eventOddities)

// Quirks are all quirks. docs/machines.md has this table.
var Quirks = func() []Info {
	list := slices.Clone(basicQuirks)
	for _, o := range oddities {
		list = append(list, o.Info)
	}
	return list
}()

// known maps the quirks to their descriptions.
var known = func() map[Quirk]Info {
	m := make(map[Quirk]Info, len(Quirks))
	for _, info := range Quirks {
		m[info.Quirk] = info
	}
	return m
}()

// errCut drops the connection instead of an answer.
var errCut = errors.New("the connection is cut")

// concerns says whether a trait is about requests of the pattern.
func (t trait) concerns(pattern string) bool {
	return slices.ContainsFunc(t.at, func(glob string) bool { return matches(glob, pattern) })
}

// matches compares a pattern with one in which * stands for anything.
func matches(glob, pattern string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == pattern
	}
	rest, ok := strings.CutPrefix(pattern, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		rest, ok = after, ok && found
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// active yields the traits that are on for the system of a call and concern the
// pattern; the lock is held.
func (c *call) active(pattern string, yield func(o oddity) bool) {
	if c.of == nil || len(c.of.quirks) == 0 {
		return
	}
	for _, o := range oddities {
		if c.of.has(o.Quirk) && c.of.inScope(o.Quirk, c.r.URL.Path) && o.concerns(pattern) && !yield(o) {
			return
		}
	}
}

// inScope says whether a quirk is on at an address; see [Server.SetQuirkAt].
func (sys *system) inScope(q Quirk, address string) bool {
	prefix, narrowed := sys.scopes[q]
	return !narrowed || strings.HasPrefix(address, prefix)
}

// hits says whether a trait strikes now, and counts it unless it is a shape.
func (c *call) hits(o oddity) bool {
	if o.when != nil && !o.when(c) {
		return false
	}
	return o.Shape || c.of.strikes(o.Quirk)
}

// objection is what the traits have against a request; the lock is held.
func (c *call) objection() error {
	var err error
	c.active(c.pattern, func(o oddity) bool {
		switch {
		case o.absent && c.hits(o):
			err = fault(http.StatusMethodNotAllowed, notAllowed, "%s is not allowed on %s.", c.r.Method, c.r.URL.Path)
		case o.refuse != nil && c.hits(o):
			err = o.refuse(c)
		}
		return err == nil
	})
	return err
}

// reshape lets the traits change what is shown; the lock is held. A quiet look
// uses nothing up.
func (c *call) reshape(pattern string, body object, quiet bool) {
	if body == nil {
		return
	}
	c.active(pattern, func(o oddity) bool {
		if o.trait.reshape == nil || (quiet && !o.Shape) {
			return true
		}
		if c.hits(o) {
			o.trait.reshape(c, body)
		}
		return true
	})
}

// offered says whether the traits leave a request on offer; the lock is held.
func (c *call) offered(pattern string) bool {
	there := true
	c.active(pattern, func(o oddity) bool {
		there = !o.absent
		return there
	})
	return there
}
