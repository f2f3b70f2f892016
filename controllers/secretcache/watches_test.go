package secretcache_test

import (
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
	files, err := filepath.Glob("../*/*.go")
	g.Expect(err).NotTo(HaveOccurred())
	watching := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "../secretcache/") {
			continue
		}
		source, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		whole := strings.Count(string(source), ".\n\t\tWatches(&corev1.Secret{}")
		names := strings.Count(string(source), "WatchesMetadata(&corev1.Secret{}")
		g.Expect(names).To(Equal(whole), file)
		g.Expect(strings.Count(string(source), "WithPredicates(secretcache.Unlabelled)")).To(Equal(names), file)
		watching += whole
	}
	g.Expect(watching).To(BeNumerically(">=", 5), "hosts, claims, subscriptions, infra-envs and images")
}
