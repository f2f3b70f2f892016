package render

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Node is one line of a tree with what hangs below it.
type Node struct {
	// Title is the line itself; empty nodes are left out with all below them.
	Title string
	// Children hang below, in this order.
	Children []Node
}

// Leaf returns a node "KEY: VALUE", empty when the value is.
func Leaf(key, value string) Node {
	if value == "" {
		return Node{}
	}
	return Node{Title: key + ": " + value}
}

// Leaff returns a node with a formatted title.
func Leaff(format string, args ...any) Node { return Node{Title: fmt.Sprintf(format, args...)} }

// Tree writes the node and everything below it, one line each. Titles of several
// lines are indented below their first. What hosts have said may be in the titles:
// characters that steer a terminal are not printed.
func Tree(w io.Writer, root Node) error { return TreeWithin(w, root, 0) }

// TreeWithin is Tree with lines that are wrapped, at blanks where there are any, to that many
// characters; 0 for no limit.
func TreeWithin(w io.Writer, root Node, width int) error {
	if err := writeTitle(w, root.Title, "", "", width); err != nil {
		return err
	}
	return branches(w, root, "", width)
}

func branches(w io.Writer, n Node, indent string, width int) error {
	var children []Node
	for _, c := range n.Children {
		if c.Title != "" {
			children = append(children, c)
		}
	}
	for i, c := range children {
		knot, below := "├─ ", "│  "
		if i == len(children)-1 {
			knot, below = "└─ ", "   "
		}
		if err := writeTitle(w, c.Title, indent+knot, indent+below, width); err != nil {
			return err
		}
		if err := branches(w, c, indent+below, width); err != nil {
			return err
		}
	}
	return nil
}

// writeTitle writes the title behind first, and all but its first line behind next.
func writeTitle(w io.Writer, title, first, next string, width int) error {
	indent := first
	for line := range strings.SplitSeq(strings.TrimRight(title, "\n"), "\n") {
		for _, part := range wrap(printable(line), width-utf8.RuneCountInString(indent), width) {
			if _, err := fmt.Fprintln(w, indent+part); err != nil {
				return err
			}
			indent = next
		}
	}
	return nil
}

// printable replaces what a terminal would act on.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != ' ' {
			return '·'
		}
		return r
	}, line)
}

// narrowest is how many characters a line has at least, however deep it hangs.
const narrowest = 16

// wrap cuts a line into parts of at most room characters; width 0 is no limit.
func wrap(line string, room, width int) []string {
	room = max(room, narrowest)
	var parts []string
	for rest := []rune(line); ; {
		if width < 1 || len(rest) <= room {
			return append(parts, string(rest))
		}
		at := room
		for at > room/2 && rest[at] != ' ' {
			at--
		}
		if rest[at] != ' ' {
			at = room
		}
		parts = append(parts, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
}
