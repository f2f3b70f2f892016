package simulator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listFields are the fields of a list entry when none are asked for.
var listFields = []string{"instance_uuid", "maintenance", "power_state", "provision_state", "uuid", "name"}

// unlisted fields cannot be asked for by name, though lists can be sorted by them.
var unlisted = map[string]bool{"updated_at": true, "created_at": true}

// fieldNames are the fields that a client of an API version asks for.
func fieldNames(wanted string, minor int) ([]string, error) {
	names := strings.Split(wanted, ",")
	for _, name := range names {
		switch {
		case fields[name] == nil || unlisted[name]:
			return nil, fault(http.StatusBadRequest, "Field(s) \"%s\" are not valid", name)
		case versioned[name] > minor:
			return nil, fault(http.StatusNotAcceptable, "Request not acceptable.")
		}
	}
	return names, nil
}

// pick shows some fields of a node.
func pick(n *node, names []string) map[string]any {
	m := make(map[string]any, len(names))
	for _, name := range names {
		value := fields[name](n)
		if nested, ok := value.(map[string]any); ok {
			value = masked(clone(nested).(map[string]any))
		}
		m[name] = value
	}
	return m
}

// filters are the query parameters that select nodes.
var filters = map[string]func(*node) string{
	"provision_state": func(n *node) string { return n.provision },
	"driver":          func(n *node) string { return n.driver },
	"instance_uuid":   func(n *node) string { return n.instanceUUID },
	"fault":           func(n *node) string { return n.fault },
	"owner":           func(n *node) string { return n.owner },
	"conductor_group": func(n *node) string { return n.conductorGroup },
	"maintenance":     func(n *node) string { return strconv.FormatBool(n.maintenance) },
}

func listNodes(s *Server, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	names := listFields
	if wanted := q.Get("fields"); wanted != "" {
		var err error
		if names, err = fieldNames(wanted, minorOf(r)); err != nil {
			return 0, nil, err
		}
	}
	if q.Get("detail") == "true" || q.Get("detail") == "True" {
		names = sortedFields(minorOf(r))
	}
	limit := s.opts.MaxLimit
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return 0, nil, fault(http.StatusBadRequest, "Limit must be positive")
		}
		limit = min(n, limit)
	}
	page, more, err := s.page(q, limit)
	if err != nil {
		return 0, nil, err
	}
	list := make([]any, 0, len(page))
	for _, n := range page {
		list = append(list, pick(n, names))
	}
	body := map[string]any{"nodes": list}
	if more {
		next := url.Values{"limit": {strconv.Itoa(limit)}, "marker": {page[len(page)-1].uuid}}
		body["next"] = "http://" + r.Host + "/v1/nodes?" + next.Encode()
	}
	return http.StatusOK, body, nil
}

// page selects one page of nodes and says whether more follow.
func (s *Server) page(q url.Values, limit int) ([]*node, bool, error) {
	marker := q.Get("marker")
	if marker != "" && s.nodes[marker] == nil {
		return nil, false, notFound(marker)
	}
	all, err := s.arranged(q.Get("sort_key"), q.Get("sort_dir"), marker)
	if err != nil {
		return nil, false, err
	}
	var page []*node
	for n := range all {
		if !selected(n, q) {
			continue
		}
		if len(page) == limit {
			return page, true, nil
		}
		page = append(page, n)
	}
	return page, false, nil
}

func selected(n *node, q url.Values) bool {
	for name, get := range filters {
		if want := q.Get(name); want != "" && !strings.EqualFold(get(n), want) {
			return false
		}
	}
	return true
}

// arranged iterates over the nodes behind the marker in the asked order.
func (s *Server) arranged(key, direction, marker string) (func(func(*node) bool), error) {
	switch {
	case key == "updated_at" && direction == "desc":
		return s.newestFirst(marker), nil
	case key == "" || key == "id":
		start := 0
		if marker != "" {
			i, _ := slices.BinarySearchFunc(s.sorted, s.nodes[marker].id, func(n *node, id int) int { return n.id - id })
			start = i + 1
		}
		return slices.Values(s.sorted[start:]), nil
	}
	return nil, fault(http.StatusBadRequest, "The sort_key value %s is not supported by the simulator", key)
}

// newestFirst iterates by updated_at, descending, then over the nodes without.
func (s *Server) newestFirst(marker string) func(func(*node) bool) {
	return func(yield func(*node) bool) {
		from := s.order.newest
		rest := s.sorted
		if marker != "" {
			m := s.nodes[marker]
			from = m.next
			if !m.inOrder {
				i, _ := slices.BinarySearchFunc(s.sorted, m.id, func(n *node, id int) int { return n.id - id })
				rest, from = s.sorted[i+1:], nil
			}
		}
		for n := from; n != nil; n = n.next {
			if !yield(n) {
				return
			}
		}
		for _, n := range rest {
			if !n.inOrder && !yield(n) {
				return
			}
		}
	}
}

// sortedFields are the fields of a list with all details.
func sortedFields(minor int) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		if versioned[name] <= minor {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
