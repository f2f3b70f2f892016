package releases_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases"
)

const sources = `
release_images:
- {openshift_version: "4.20", version: 4.20.2, cpu_architecture: x86_64, url: mirror.example/release@sha256:own}
release_sources:
- openshift_version: "4.20"
  multi_cpu_architectures: [x86_64, arm64]
  upgrade_channels:
  - {cpu_architecture: x86_64, channels: [stable, candidate]}
  - {cpu_architecture: multi, channels: [stable]}
`

// graphs are what the update service says, by channel and architecture.
var graphs = map[string]string{
	"stable-4.20 amd64": `{"nodes":[{"version":"4.19.8","payload":"quay.example/release@sha256:old"},{"version":"4.20.1","payload":"quay.example/release@sha256:a"},
		{"version":"4.20.2","payload":"quay.example/release@sha256:b"}],"edges":[[0,1]]}`,
	"candidate-4.20 amd64": `{"nodes":[{"version":"4.20.1","payload":"quay.example/release@sha256:a"},{"version":"4.20.3","payload":"quay.example/release@sha256:c"}]}`,
	"stable-4.20 multi":    `{"nodes":[{"version":"4.20.1","payload":"quay.example/release@sha256:m"}]}`,
}

// updateService answers with the graphs, and not at all while it is away.
func updateService(t *testing.T, away *atomic.Bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		answer, known := graphs[q.Get("channel")+" "+q.Get("arch")]
		if away.Load() || !known {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/graph?id=x"
}

func TestReleasesOfSources(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "releases.yaml")
	g.Expect(os.WriteFile(path, []byte(sources), 0o600)).To(Succeed())
	var away atomic.Bool
	f := &releases.File{Path: path, Service: releases.Service{URL: updateService(t, &away)}}
	before, err := f.Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before.Versions("", false)).To(HaveLen(1), "nobody was asked yet")

	g.Expect(f.Refresh(t.Context())).To(Succeed())
	c, err := f.Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	all := c.Versions("", false)
	g.Expect(slices.Sorted(maps.Keys(all))).To(Equal([]string{"4.20.1", "4.20.2", "4.20.3"}), "no release of another stream")
	g.Expect(all["4.20.1"].CPUArchitectures).To(Equal([]string{"arm64", "x86_64"}))
	g.Expect(all["4.20.1"].SupportLevel).To(Equal("production"), "it is in a stable channel, too")
	g.Expect(all["4.20.3"].SupportLevel).To(Equal("beta"))
	own, ok := c.Find("4.20.2", "x86_64")
	g.Expect(ok).To(BeTrue())
	g.Expect(own.URL).To(ContainSubstring("mirror.example"), "what the file says itself wins")

	away.Store(true)
	g.Expect(f.Refresh(t.Context())).To(MatchError(ContainSubstring("502")))
	c, err = f.Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Versions("", false)).To(HaveLen(3), "what was known stays")
}

func TestRunAsksAtOnceAndEnds(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "releases.yaml")
	g.Expect(os.WriteFile(path, []byte(sources), 0o600)).To(Succeed())
	var away atomic.Bool
	away.Store(true)
	f := &releases.File{Path: path, Service: releases.Service{URL: updateService(t, &away)}}
	ctx, cancel := context.WithCancelCause(t.Context())
	told := make(chan error, 1)
	f.Run(ctx, func(err error) {
		told <- err
		cancel(errors.New("enough"))
	})
	g.Expect(<-told).To(MatchError(ContainSubstring("the update service answered 502")))
	(*releases.File)(nil).Run(t.Context(), nil)
	(&releases.File{Path: path}).Run(t.Context(), nil)
}
