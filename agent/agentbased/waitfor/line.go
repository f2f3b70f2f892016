package waitfor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// The kinds of lines.
const (
	// KindCluster tells of the cluster's status.
	KindCluster = "cluster"
	// KindHost tells of a host's status.
	KindHost = "host"
	// KindValidation tells of a check that fails now.
	KindValidation = "validation"
	// KindEvent tells of a warning or an error of the hub.
	KindEvent = "event"
	// KindHub tells that the hub went away or is there again.
	KindHub = "hub"
	// KindStill tells why nothing moves.
	KindStill = "still"
	// KindEnd tells how the run ended; it is the last one.
	KindEnd = "end"
)

// Line is one thing that is told; as JSON it is a line of the machine-readable output.
type Line struct {
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"`
	Cluster   string    `json:"cluster,omitempty"`
	Host      string    `json:"host,omitempty"`
	Role      string    `json:"role,omitempty"`
	Bootstrap bool      `json:"bootstrap,omitempty"`
	Status    string    `json:"status,omitempty"`
	Stage     string    `json:"stage,omitempty"`
	// Percent is how much of the host's or the cluster's installation is done.
	Percent  *int64 `json:"percent,omitempty"`
	Severity string `json:"severity,omitempty"`
	// Outcome and Code are of the end alone.
	Outcome string `json:"outcome,omitempty"`
	Code    *int   `json:"code,omitempty"`
	Text    string `json:"text"`
}

// String is the line for people.
func (l Line) String() string {
	parts := []string{l.Time.Format(time.TimeOnly)}
	switch {
	case l.Host != "":
		parts = append(parts, "host "+l.Host)
	case l.Kind == KindEnd:
		parts = append(parts, l.Outcome)
	case l.Cluster != "":
		parts = append(parts, "cluster "+l.Cluster)
	}
	parts = append(parts, l.Severity, l.Role, l.Status, l.Stage)
	if l.Percent != nil {
		parts = append(parts, fmt.Sprintf("%d%%", *l.Percent))
	}
	var b strings.Builder
	for _, part := range append(parts, l.Text) {
		if part = plain(part); part != "" {
			b.WriteString("  " + part)
		}
	}
	return b.String()[2:]
}

// plain is a text of hub or host in one line that commands no terminal.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))), " ")
}

// Text writes lines for people.
func Text(out io.Writer) func(Line) {
	return func(l Line) { fmt.Fprintln(out, l.String()) }
}

// JSON writes lines for programs.
func JSON(out io.Writer) func(Line) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return func(l Line) { _ = encoder.Encode(l) } // whoever does not read does not want it
}
