//go:build e2e

package release_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// artefact is one thing of a release.
type artefact struct {
	// what it is, for people.
	what string
	// file is its name in the folder; member is where it begins in an archive, empty for the file itself.
	file, member string
}

// artefacts are all that a release has, for one processor: the one list of it.
func artefacts() []artefact {
	platform, number := "linux-"+runtime.GOARCH, strings.TrimPrefix(version, "v")
	list := []artefact{
		{"the chart", "ironflow-" + number + ".tgz", "ironflow/Chart.yaml"},
		{"the definitions of the chart", "ironflow-" + number + ".tgz", "ironflow/crds/metal3/"},
		{"the rules of the chart", "ironflow-" + number + ".tgz", "ironflow/files/admission/"},
		{"install.yaml", "install.yaml", ""},
		{"the definitions", "crds.yaml", ""},
		{"the manifest for Krew", "ironflow.yaml", ""},
		{"alerts", "prometheus_rule.yaml", ""},
		{"the dashboard of hosts", "grafana-hosts.json", ""},
		{"the dashboard of the service", "grafana-service.json", ""},
		{"the changelog", "CHANGELOG.md", ""},
		{"the notes", "NOTES.md", ""},
		{"checksums", "SHA256SUMS", ""},
		{"the signature for cosign", "SHA256SUMS.sigstore.json", ""},
		{"the signature for openssl", "SHA256SUMS.sig", ""},
	}
	for _, folder := range []string{
		"admission", "bmc-rotation", "cluster-credentials", "crd", "default", "hostclaims", "manager", "network-policy", "overlays", "prometheus", "rbac", "samples",
	} {
		list = append(list, artefact{folder + " of the manifests", "ironflow-" + version + "-manifests.tar.gz", "./" + folder + "/"})
	}
	for _, program := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-cluster", "ironflow-step", "kubectl-ironflow", "LICENSE"} {
		list = append(list, artefact{program + " of the programs", "ironflow-" + version + "-" + platform + ".tar.gz", "./" + program})
	}
	for _, of := range []string{"ironflow-" + version + "-" + platform, "kubectl-ironflow-" + version + "-" + platform, "kubectl-ironflow-" + version + "-darwin-arm64"} {
		list = append(list, artefact{"the archive " + of, of + ".tar.gz", ""}, artefact{"the bill of materials of " + of, of + ".cdx.json", ""})
	}
	for _, image := range []string{"ironflow", "ironflow-agent", "ironflow-cluster", "ironic-python-agent"} {
		name := image + "-" + version + "-image"
		list = append(list, artefact{"the image " + image, name + ".tar", "./index.json"}, artefact{"the bill of materials of the image " + image, name + "-" + platform + ".cdx.json", ""})
	}
	return list
}

// complete holds a folder to the list: all is there, and each thing that is taken away is missed; nothing is there besides.
func complete(t *testing.T, dir string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(missing(t, dir)).To(BeEmpty())
	listed := map[string]bool{}
	for _, a := range artefacts() {
		listed[a.file] = true
		if a.member != "" && !strings.HasSuffix(a.file, ".tar") {
			taken(t, dir, a, func(from io.Reader, to io.Writer) { without(g, a.member, from, to) })
		}
		taken(t, dir, a, nil)
	}
	entries, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	for _, e := range entries {
		g.Expect(listed).To(HaveKey(e.Name()), "a file that the list of a release lacks")
	}
}

// taken takes a file away for a moment, or what a filter leaves out of it, and expects that to be missed.
func taken(t *testing.T, dir string, a artefact, filter func(io.Reader, io.Writer)) {
	t.Helper()
	g := NewWithT(t)
	path, aside := filepath.Join(dir, a.file), filepath.Join(t.TempDir(), "aside")
	g.Expect(os.Rename(path, aside)).To(Succeed())
	if filter != nil {
		from, err := os.Open(aside)
		g.Expect(err).NotTo(HaveOccurred())
		to, err := os.Create(path)
		g.Expect(err).NotTo(HaveOccurred())
		filter(from, to)
		g.Expect(errors.Join(from.Close(), to.Close())).To(Succeed())
		g.Expect(missing(t, dir)).To(ConsistOf(a.what))
	} else {
		g.Expect(missing(t, dir)).To(ContainElement(a.what))
	}
	g.Expect(os.Rename(aside, path)).To(Succeed())
}

// missing are the things of the list that a folder lacks.
func missing(t *testing.T, dir string) (names []string) {
	t.Helper()
	members := map[string][]string{}
	for _, a := range artefacts() {
		info, err := os.Stat(filepath.Join(dir, a.file))
		there := err == nil && info.Size() > 0
		if there && a.member != "" {
			if members[a.file] == nil {
				members[a.file] = contents(t, filepath.Join(dir, a.file))
			}
			there = has(members[a.file], a.member)
		}
		if !there {
			names = append(names, a.what)
		}
	}
	return names
}

// has reports whether an archive has a member. A folder that is empty is none.
func has(names []string, member string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return of(name, member) && (name != member || !strings.HasSuffix(member, "/"))
	})
}

// of reports whether a file of an archive is a member, or lies in the folder that it is.
func of(name, member string) bool {
	return name == member || strings.HasSuffix(member, "/") && strings.HasPrefix(name, member)
}

// contents are the names of what is in an archive.
func contents(t *testing.T, file string) (names []string) {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.Open(file)
	g.Expect(err).NotTo(HaveOccurred())
	defer raw.Close()
	each(g, raw, strings.HasSuffix(file, ".tar"), func(h *tar.Header, _ io.Reader) { names = append(names, h.Name) })
	return names
}

// without copies an archive but for a member.
func without(g *WithT, member string, from io.Reader, to io.Writer) {
	packed := gzip.NewWriter(to)
	archive := tar.NewWriter(packed)
	each(g, from, false, func(h *tar.Header, content io.Reader) {
		if !of(h.Name, member) {
			g.Expect(archive.WriteHeader(h)).To(Succeed())
			_, err := io.Copy(archive, content)
			g.Expect(err).NotTo(HaveOccurred())
		}
	})
	g.Expect(errors.Join(archive.Close(), packed.Close())).To(Succeed())
}

// each reads an archive.
func each(g *WithT, from io.Reader, plain bool, do func(*tar.Header, io.Reader)) {
	if !plain {
		unpacked, err := gzip.NewReader(from)
		g.Expect(err).NotTo(HaveOccurred())
		from = unpacked
	}
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		g.Expect(err).NotTo(HaveOccurred())
		do(header, archive)
	}
}
