package validators

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// Finding is what the protocol validator has against a service.
type Finding struct {
	// Assertion is the rule, such as PROTO_HTTP_SUPPORTED_METHODS.
	Assertion string
	// Result is FAIL or WARN.
	Result string
	// Request and Message say where, and what is wrong.
	Request, Message string
}

// ReadProtocol reads a report of the protocol validator (TSV): what is wrong, and
// how much is right.
func ReadProtocol(r io.Reader) (findings []Finding, passed int, err error) {
	const columns = 7 // assertion, method, status, URI, result, message, requirement
	table := csv.NewReader(r)
	table.Comma, table.LazyQuotes, table.FieldsPerRecord = '\t', true, -1
	for {
		row, err := table.Read()
		switch {
		case err == io.EOF:
			return findings, passed, nil
		case err != nil:
			return nil, 0, fmt.Errorf("read the report of the protocol validator: %w", err)
		case len(row) < columns:
			continue
		}
		switch row[4] {
		case "PASS":
			passed++
		case "FAIL", "WARN":
			findings = append(findings, Finding{Assertion: row[0], Result: row[4], Request: row[1] + " " + row[3], Message: row[5]})
		}
	}
}

// counts is the row below PASS, WARN, FAIL and NOT TESTED.
var counts = regexp.MustCompile(`\|\s*(\d+)\s*\|\s*(\d+)\s*\|\s*(\d+)\s*\|\s*(\d+)\s*\|`)

// ReadCounts reads the sums that the other checkers print at their end.
func ReadCounts(output string) (passed, warned, failed int, err error) {
	sums := counts.FindStringSubmatch(output)
	if sums == nil {
		return 0, 0, 0, fmt.Errorf("the checker printed no sums:\n%s", output)
	}
	for i, into := range []*int{&passed, &warned, &failed} {
		if *into, err = strconv.Atoi(sums[i+1]); err != nil {
			return 0, 0, 0, err
		}
	}
	return passed, warned, failed, nil
}
