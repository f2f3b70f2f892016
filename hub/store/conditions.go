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

// add appends a term in which %s stands for the parameter.
func (c *conditions) add(term string, arg any) {
	c.terms = append(c.terms, fmt.Sprintf(term, c.mark(arg)))
}

// mark adds a parameter and returns its place in the statement.
func (c *conditions) mark(arg any) string {
	if text, ok := arg.(string); ok {
		arg = clean(text)
	}
	c.args = append(c.args, arg)
	return fmt.Sprintf("$%d", len(c.args))
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
		marks = append(marks, c.mark(v))
	}
	c.terms = append(c.terms, column+" IN ("+strings.Join(marks, ", ")+")")
}

// or keeps rows for which one of the terms is true; without any, nothing is left out.
func (c *conditions) or(terms func(*conditions)) {
	one := conditions{args: c.args}
	terms(&one)
	c.args = one.args
	if len(one.terms) > 0 {
		c.terms = append(c.terms, "("+strings.Join(one.terms, " OR ")+")")
	}
}

// after keeps rows behind the value; empty keeps all.
func (c *conditions) after(column, value string) {
	if value != "" {
		c.add(column+" > %s", value)
	}
}

// String is the WHERE, or nothing.
func (c *conditions) String() string {
	if len(c.terms) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(c.terms, " AND ")
}

// limit is the end of a statement with at most n rows; zero is no limit.
func (c *conditions) limit(n int) string {
	if n <= 0 {
		return ""
	}
	return " LIMIT " + c.mark(n)
}
