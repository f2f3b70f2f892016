package secretcache_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestControllersFollowAllSecrets reads the controllers: one that watches the Secrets
// that are cached whole alone would miss those that nobody has marked yet.
func TestControllersFollowAllSecrets(t *testing.T) {
	g := NewWithT(t)
	watching := 0
	err := filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "../secretcache/") {
			return err
		}
		source, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		whole := strings.Count(string(source), "Watches(&corev1.Secret{}")
		names := strings.Count(string(source), "WatchesMetadata(&corev1.Secret{}")
		g.Expect(names).To(Equal(whole), file)
		g.Expect(strings.Count(string(source), "WithPredicates(secretcache.Unlabelled)")).To(Equal(names), file)
		watching += whole
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(watching).To(BeNumerically(">=", 5), "hosts, claims, subscriptions, infra-envs and images")
}
