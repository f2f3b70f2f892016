package lookup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/hub/store"
)

const byDigest = "registry.example/release@sha256:aa"

// played is a registry that answers at once, or when it is let.
type played struct {
	asked   atomic.Int64
	err     error
	blocked chan struct{}
}

func (p *played) Release(ctx context.Context, _, _ string) (registry.Release, error) {
	p.asked.Add(1)
	if p.blocked != nil {
		select {
		case <-p.blocked:
		case <-ctx.Done():
			return registry.Release{}, context.Cause(ctx)
		}
	}
	if p.err != nil {
		return registry.Release{}, p.err
	}
	return registry.Release{Digest: "sha256:aa", Version: "4.20.1", Architectures: []string{"arm64", "x86_64"}, Images: map[string]string{
		"machine-config-operator": "quay.example/mco:1", "must-gather": "short-name", "cli": "quay.example/cli:1",
	}}, nil
}

func TestWhoKnowsTheVersion(t *testing.T) {
	listed := filepath.Join(t.TempDir(), "releases.yaml")
	NewWithT(t).Expect(os.WriteFile(listed, []byte(`[{"openshift_version":"4.19","version":"4.19.3","cpu_architecture":"x86_64","url":"registry.example/listed:1"}]`), 0o600)).To(Succeed())
	for name, tc := range map[string]struct {
		mode           lookup.Mode
		image, version string
		want, says     string
		asked          int64
	}{
		"the list":                              {lookup.Always, "registry.example/listed:1", "", "4.19.3", "", 0},
		"the list, of the stream":               {lookup.Needed, "registry.example/listed:1", "4.19", "4.19.3", "", 0},
		"the list, and the user is wrong":       {lookup.Needed, "registry.example/listed:1", "4.1", "", `is version "4.19.3", not "4.1"`, 0},
		"the user":                              {lookup.Needed, byDigest, "4.18", "4.18", "", 0},
		"the tag":                               {lookup.Needed, "registry.example/release:4.18.2-x86_64", "", "4.18.2", "", 0},
		"the registry":                          {lookup.Needed, byDigest, "", "4.20.1", "", 1},
		"the registry, of a tag that says none": {lookup.Needed, "registry.example/release:latest", "", "4.20.1", "", 1},
		"the registry always":                   {lookup.Always, "registry.example/release:4.20.1", "4.20", "4.20.1", "", 1},
		"the registry, and the user is wrong":   {lookup.Always, byDigest, "4.18", "", `is version "4.20.1", not "4.18"`, 1},
		"nobody":                                {lookup.Never, byDigest, "", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := &played{}
			finder := &lookup.Finder{List: &releases.File{Path: listed}, Reader: reader, Mode: tc.mode}
			found, err := finder.Of(t.Context(), tc.image, tc.version, "")
			if tc.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(found.Version).To(Equal(tc.want))
			g.Expect(reader.asked.Load()).To(Equal(tc.asked))
			if tc.asked > 0 && tc.says == "" {
				g.Expect(found.Release).To(Equal(&store.Release{Digest: "sha256:aa", Architectures: []string{"arm64", "x86_64"}, MachineConfig: "quay.example/mco:1"}),
					"hosts are told full references alone")
				g.Expect([]bool{found.Serves("aarch64"), found.Serves("multi"), found.Serves("s390x")}).To(Equal([]bool{true, true, false}))
			}
		})
	}
}

func TestAHubWithoutAListOrReader(t *testing.T) {
	g := NewWithT(t)
	var none *lookup.Finder
	found, err := none.Ask("registry.example/release:4.18.2", "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Version).To(Equal("4.18.2"))
	g.Expect(none.Finished()).To(BeNil())
	_, err = (&lookup.Finder{List: &releases.File{Path: "/nowhere"}}).Ask(byDigest, "", "")
	g.Expect(err).To(MatchError(lookup.ErrList))
}

// TestNobodyWaitsInLine: who cannot wait is told that it is read, and when that has ended; who waits gives up with
// its request, and the image is read on.
func TestNobodyWaitsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		reader := &played{blocked: make(chan struct{})}
		finder := &lookup.Finder{Reader: reader, Mode: lookup.Needed}
		_, err := finder.Ask(byDigest, "", "")
		g.Expect(err).To(MatchError(lookup.ErrReading))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = finder.Of(ctx, byDigest, "", "")
		g.Expect(err).To(MatchError(lookup.ErrReading))
		close(reader.blocked)
		<-finder.Finished()
		found, err := finder.Ask(byDigest, "", "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Version).To(Equal("4.20.1"))
		g.Expect(reader.asked.Load()).To(BeEquivalentTo(1), "one reading for all that ask")
	})
}

// TestARegistryIsNotAskedInALoop: a failure is kept, longer each time, and said until the next attempt has ended.
// Another pull secret asks at once.
func TestARegistryIsNotAskedInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		reader := &played{err: errors.New("registry.example: 401 Unauthorized")}
		finder := &lookup.Finder{Reader: reader, Mode: lookup.Needed}
		for range 3600 {
			_, err := finder.Ask(byDigest, "", "")
			g.Expect(err).To(Or(MatchError(lookup.ErrReading), MatchError("registry.example: 401 Unauthorized")))
			<-time.After(time.Second)
		}
		g.Expect(reader.asked.Load()).To(And(BeNumerically(">", 5), BeNumerically("<", 13)), "in one hour")
		failed, is := errors.AsType[*lookup.Failed](func() error { _, err := finder.Ask(byDigest, "", ""); return err }())
		g.Expect(is).To(BeTrue())
		g.Expect(failed.After).To(And(BeNumerically(">", 0), BeNumerically("<=", 10*time.Minute)))

		before := reader.asked.Load()
		reader.err = nil
		found, err := finder.Of(t.Context(), byDigest, "", "another secret")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Version).To(Equal("4.20.1"))
		g.Expect(reader.asked.Load()).To(Equal(before + 1))
	})
}

// TestManyImagesDoNotFillTheMemory, and are read two at a time.
func TestManyImagesDoNotFillTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		reader := &played{blocked: make(chan struct{})}
		finder := &lookup.Finder{Reader: reader, Mode: lookup.Needed, Context: t.Context()}
		for i := range 10 {
			_, err := finder.Ask(byDigest+string(rune('0'+i)), "", "")
			g.Expect(err).To(MatchError(lookup.ErrReading))
		}
		synctest.Wait()
		g.Expect(reader.asked.Load()).To(BeEquivalentTo(2))
		close(reader.blocked)
		synctest.Wait()
		g.Expect(reader.asked.Load()).To(BeEquivalentTo(10))
	})
}
