package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// TestAListThatEndsTooEarlyIsNone: a deadline between two rows leaves a host that was not
// read, and whoever walks the list before it looks at the error ends in a panic.
func TestAListThatEndsTooEarlyIsNone(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "records"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(s.Close()).To(gomega.Succeed()) }()
	err = s.View(t.Context(), func(r *Reader) error {
		rows := 0
		hosts, err := all(r, "list hosts", "SELECT 1 UNION SELECT 2", nil, func(func(...any) error) (*Host, error) {
			if rows++; rows == 2 {
				return nil, context.DeadlineExceeded
			}
			return &Host{}, nil
		})
		g.Expect(hosts).To(gomega.BeNil())
		return err
	})
	g.Expect(err).To(gomega.MatchError(context.DeadlineExceeded))
}
