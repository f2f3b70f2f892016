package nearest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/nearest"
)

func TestName(t *testing.T) {
	for name, tc := range map[string]struct {
		written string
		names   []string
		want    string
		changes int
	}{
		"another letter":      {"servex", []string{"name", "server"}, "server", 1},
		"the first of equals": {"cat", []string{"cap", "bat"}, "cap", 1},
		"another case":        {"publishUrl", []string{"publish", "publishURL"}, "publishURL", 0},
		"a letter too many":   {"hosts", []string{"ghost", "host"}, "host", 1},
		"a letter missing":    {"host", []string{"cost", "hosts"}, "cost", 1},
		"two letters turned":  {"roel", []string{"disk", "role"}, "role", 2},
		"nothing written":     {"", []string{"name", "ab"}, "ab", 2},
		"no names":            {"a", nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			best, changes := nearest.Name(tc.written, tc.names)
			g := NewWithT(t)
			g.Expect(best).To(Equal(tc.want))
			g.Expect(changes).To(Equal(tc.changes))
		})
	}
}
