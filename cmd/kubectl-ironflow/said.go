package main

import (
	"strings"

	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// said keeps what a tree says already: several conditions repeat one text.
type said struct{ texts []string }

// node takes a tree as said.
func (s *said) node(n render.Node) {
	if _, text, has := strings.Cut(n.Title, ": "); has {
		s.text(text)
	}
	for _, c := range n.Children {
		s.node(c)
	}
}

// text takes texts as said.
func (s *said) text(texts ...string) {
	for _, text := range texts {
		if text = oneLine(text); text != "" {
			s.texts = append(s.texts, text)
		}
	}
}

// once is what is new of a message, and takes it as said. A condition's message has what is wrong and what to do.
func (s *said) once(message string) string {
	what, todo := splitNext(message)
	var fresh []string
	for _, part := range []string{what, todo} {
		if part = oneLine(part); part != "" && !s.has(part) {
			fresh = append(fresh, part)
			s.texts = append(s.texts, part)
		}
	}
	return strings.Join(fresh, ". "+nextStep)
}

// has reports whether a text was said, also as part of another.
func (s *said) has(text string) bool {
	for _, t := range s.texts {
		if strings.Contains(t, text) {
			return true
		}
	}
	return false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
