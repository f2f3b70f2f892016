package store

import (
	"fmt"
	"slices"
	"strings"
)

// conditions collect the terms of a WHERE with numbered parameters.
type conditions struct {
	terms []string
	args  []any
}

// add appends a term that ends with a parameter.
func (c *conditions) add(term string, arg any) {
	c.args = append(c.args, arg)
	c.terms = append(c.terms, fmt.Sprintf("%s$%d", term, len(c.args)))
}

// in keeps rows whose column has one of the values; empty values do not count,
// and without any nothing is left out.
func (c *conditions) in(column string, values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if len(values) == 0 {
		return
	}
	var marks []string
	for _, v := range values {
		c.args = append(c.args, v)
		marks = append(marks, fmt.Sprintf("$%d", len(c.args)))
	}
	c.terms = append(c.terms, column+" IN ("+strings.Join(marks, ", ")+")")
}

// String is the WHERE, or nothing.
func (c *conditions) String() string {
	if len(c.terms) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(c.terms, " AND ")
}
