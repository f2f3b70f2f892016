package upgrade_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/upgrade/promise"
)

// TestStepsOfTheTablesStay: databases have carried them out. A step that is changed later would leave those of before as they are.
func TestStepsOfTheTablesStay(t *testing.T) {
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(root, "hub", "store", "migrations", "*.sql"))
	g.Expect(err).NotTo(HaveOccurred())
	var steps []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		sum := sha256.Sum256(raw)
		steps = append(steps, filepath.Base(file)+" "+hex.EncodeToString(sum[:]))
	}
	kept(t, promise.Migrations, steps)
}
