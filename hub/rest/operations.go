package rest

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Base is the path that every operation lies below.
const Base = "/api/assisted-install"

//go:embed operations.tsv
var operationsTable string

// Operation is one operation of the protocol.
type Operation struct {
	// Method and Path as the protocol names them; Path has {parameters}.
	Method, Path string
	// ID is the operation's name, used in metrics.
	ID string
	// Schemes are the kinds of authentication that open it.
	Schemes []Scheme
	// Success is the status of a good answer.
	Success int
}

// Scheme is a kind of authentication.
type Scheme string

// The schemes of the protocol. This hub accepts the first three.
const (
	UserAuth    Scheme = "userAuth"
	AgentAuth   Scheme = "agentAuth"
	WatcherAuth Scheme = "watcherAuth"
	URLAuth     Scheme = "urlAuth"
)

// Operations returns the protocol's operations in the order of their paths.
func Operations() ([]Operation, error) {
	var out []Operation
	for i, line := range strings.Split(strings.TrimSpace(operationsTable), "\n") {
		cols := strings.Split(line, "\t")
		if len(cols) != 7 {
			return nil, fmt.Errorf("operations.tsv line %d has %d columns, want 7", i+1, len(cols))
		}
		op := Operation{Method: cols[0], Path: cols[1], ID: cols[2]}
		if _, err := fmt.Sscanf(cols[4], "%d", &op.Success); err != nil {
			return nil, fmt.Errorf("operations.tsv line %d: success %q: %w", i+1, cols[4], err)
		}
		for scheme := range strings.SplitSeq(cols[6], "|") {
			name, _, _ := strings.Cut(scheme, "(")
			op.Schemes = append(op.Schemes, Scheme(name))
		}
		out = append(out, op)
	}
	return out, nil
}

// Methods that a path may be asked with, for the 405 of a known path.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func (o Operation) accepts(s Scheme) bool { return slices.Contains(o.Schemes, s) }
