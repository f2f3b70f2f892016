package render

import (
	"fmt"
	"io"
	"strings"
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
// lines are indented below their first.
func Tree(w io.Writer, root Node) error {
	if _, err := fmt.Fprintln(w, root.Title); err != nil {
		return err
	}
	return branches(w, root, "")
}

func branches(w io.Writer, n Node, indent string) error {
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
		title := strings.ReplaceAll(strings.TrimRight(c.Title, "\n"), "\n", "\n"+indent+below)
		if _, err := fmt.Fprintln(w, indent+knot+title); err != nil {
			return err
		}
		if err := branches(w, c, indent+below); err != nil {
			return err
		}
	}
	return nil
}
