// Package protocol is the assisted-service v2 REST protocol as two tables:
// models.tsv has a line for each JSON field of each model, operations.tsv one
// for each operation. Where the protocol leaves a parameter open that selects by a
// member of a model, operations.tsv has the member's values.
//
// Everything about the protocol comes from them: the Go types of hub/wire, the
// routes of hub/rest, the OpenAPI document, and the checks of every answer in
// tests. The main types are [Model] and [Operation].
package protocol

import "strings"

// lines splits a table into its lines and their columns.
func lines(table string) [][]string {
	var out [][]string
	for line := range strings.SplitSeq(strings.TrimRight(table, "\n"), "\n") {
		out = append(out, strings.Split(line, "\t"))
	}
	return out
}
