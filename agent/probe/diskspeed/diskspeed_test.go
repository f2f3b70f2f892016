package diskspeed

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSyncTimeWritesAndMeasures(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "disk")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := syncTime(ctx, file)
	g.Expect(err).To(MatchError(context.Canceled), "a cancelled check stops writing")
	_, err = syncTime(t.Context(), file+"-missing")
	g.Expect(err).To(HaveOccurred())
}
