package protocol

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// CheckQuery returns a [BodyError] for a parameter of a query that is outside of its enumeration: it would select something
// else than was asked for, without a word. That holds for agents, too, unlike that of [Bodies]: an
// empty list would be taken for an answer. Which files there are is said by those who serve them.
func (o Operation) CheckQuery(query url.Values) error {
	for _, p := range o.Params {
		if p.In != "query" || p.Enum == nil || p.Name == "file_name" {
			continue
		}
		for _, value := range p.values(query) {
			if value != "" && !slices.Contains(p.Enum, value) {
				return &BodyError{"the query parameter " + p.Name, fmt.Sprintf("%.80q: want one of %s", value, strings.Join(p.Enum, "; "))}
			}
		}
	}
	return nil
}

// values are those that a query has for the parameter.
func (p Param) values(query url.Values) []string {
	values := query[p.Name]
	if !strings.HasPrefix(p.Type, "array:") || p.Multi {
		return values
	}
	var out []string
	for _, list := range values {
		out = append(out, strings.Split(list, ",")...)
	}
	return out
}
