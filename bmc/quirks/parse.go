package quirks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// longestTable bounds a table, which a ConfigMap does anyway.
const longestTable = 1 << 20

// members are the members of a row.
var members = []struct {
	name string
	of   func(*Row) *string
}{
	{"id", func(r *Row) *string { return &r.ID }},
	{"vendor", func(r *Row) *string { return &r.Vendor }},
	{"model", func(r *Row) *string { return &r.Model }},
	{"manager", func(r *Row) *string { return &r.Manager }},
	{"firmware", func(r *Row) *string { return &r.Firmware }},
	{"effect", func(r *Row) *string { return (*string)(&r.Effect) }},
	{"value", func(r *Row) *string { return &r.Value }},
	{"by", func(r *Row) *string { return (*string)(&r.By) }},
	{"advice", func(r *Row) *string { return &r.Advice }},
	{"source", func(r *Row) *string { return &r.Source }},
	{"simulator", func(r *Row) *string { return &r.Simulator }},
}

// Parse reads a site's rows: YAML or JSON, a list of rows. The error lists all
// faults, each with the row and the member that it is in.
func Parse(text []byte) ([]Row, error) {
	rows, err := parse(text)
	if err != nil {
		return nil, err
	}
	var faults []error
	for i, r := range rows {
		if r.General() {
			faults = append(faults, fmt.Errorf("%s: it says of no BMC that it is meant: set vendor, model, manager or firmware (vendor: \"*\" for all BMCs)", place(i, r.ID)))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return rows, nil
}

func parse(text []byte) ([]Row, error) {
	if len(text) > longestTable {
		return nil, fmt.Errorf("the table of quirks is longer than %d bytes", longestTable)
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("the table of quirks is no YAML: %w", err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("the table of quirks is no list: begin each row with a dash, as in \"- id: my-row\"")
	}
	rows := make([]Row, 0, len(list))
	var faults []error
	seen := map[string]int{}
	for i, item := range list {
		row, err := parseRow(item)
		if err == nil {
			err = row.complete()
		}
		first, twice := seen[row.ID]
		if twice && row.ID != "" {
			err = errors.Join(err, fmt.Errorf("id: row %d has it, too", first+1))
		} else {
			seen[row.ID] = i
		}
		if err != nil {
			faults = append(faults, eachIn(place(i, row.ID), err)...)
		}
		rows = append(rows, row)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return rows, nil
}

// parseRow reads the members of a row; all of them are texts.
func parseRow(raw json.RawMessage) (Row, error) {
	var row Row
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return row, errors.New("it is no list of members: write it as \"id: my-row\"")
	}
	var faults []error
	var known []string
	for _, m := range members {
		known = append(known, m.name)
		value, there := given[m.name]
		delete(given, m.name)
		if !there || bytes.Equal(value, []byte("null")) {
			continue
		}
		if err := json.Unmarshal(value, m.of(&row)); err != nil {
			faults = append(faults, fmt.Errorf("%s: it is no text: put it between quotes", m.name))
		}
	}
	for name := range given {
		faults = append(faults, fmt.Errorf("%s: there is no such member: use one of %s", name, strings.Join(known, ", ")))
	}
	return row, errors.Join(faults...)
}

// place names a row in an error.
func place(i int, id string) string {
	if id == "" {
		return fmt.Sprintf("row %d", i+1)
	}
	return fmt.Sprintf("row %d (%s)", i+1, id)
}

// eachIn puts the place before each of the errors that were joined.
func eachIn(place string, err error) []error {
	var list []error
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, part := range joined.Unwrap() {
			list = append(list, eachIn(place, part)...)
		}
		return list
	}
	return []error{fmt.Errorf("%s: %w", place, err)}
}
