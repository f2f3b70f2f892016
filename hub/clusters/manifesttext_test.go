package clusters

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestNamesOfManifests(t *testing.T) {
	for name, tc := range map[string]struct {
		folder, name string
		good         bool
	}{
		"YAML":           {"manifests", "99-config.yaml", true},
		"short YAML":     {"openshift", "config.yml", true},
		"JSON":           {"openshift", "config.json", true},
		"patch":          {"openshift", "config.yaml.patch_first", true},
		"other folder":   {"etc", "config.yaml", false},
		"no folder":      {"", "config.yaml", false},
		"path":           {"manifests", "../config.yaml", false},
		"folder in name": {"manifests", "a/config.yaml", false},
		"hidden":         {"manifests", ".config.yaml", false},
		"other kind":     {"manifests", "config.txt", false},
		"no name":        {"manifests", ".yaml", false},
		"line":           {"manifests", "a\nb.yaml", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkManifestName(tc.folder, tc.name)
			NewWithT(t).Expect(err == nil).To(Equal(tc.good), "%v", err)
		})
	}
}

func TestTextsOfManifests(t *testing.T) {
	for name, tc := range map[string]struct {
		file, content, wrong string
	}{
		"one document":      {"a.yaml", "kind: ConfigMap\n", ""},
		"several documents": {"a.yaml", "---\nkind: A\n---\n---\nkind: B\n", ""},
		"JSON":              {"a.json", `{"kind":"A"}`, ""},
		"JSON in YAML":      {"a.yaml", `{"kind":"A"}`, ""},
		"patch of a list":   {"a.yaml.patch", "- op: add\n  path: /a\n  value: b\n", ""},
		"empty":             {"a.yaml", "", "no document"},
		"only dashes":       {"a.yaml", "---\n---\n", "no document"},
		"text":              {"a.yaml", "hello", "no object"},
		"list":              {"a.yaml", "- a\n", "no object"},
		"broken YAML":       {"a.yaml", "a: [", "no YAML"},
		"broken JSON":       {"a.json", "{", "no JSON"},
		"JSON list":         {"a.json", "[]", "no JSON object"},
		"bytes":             {"a.yaml", "a: \xff", "no text"},
		"too large":         {"a.yaml", "a: " + strings.Repeat("x", maxManifest), "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			content, err := decodeManifest(tc.file, base64.StdEncoding.EncodeToString([]byte(tc.content)))
			if tc.wrong == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(string(content)).To(Equal(tc.content))
				return
			}
			g.Expect(err).To(And(MatchError(errBadManifest), MatchError(ContainSubstring(tc.wrong))))
		})
	}
	_, err := decodeManifest("a.yaml", "not base64!")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("base64")))
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add("a.yaml", "a: b")
	f.Add("a.json", "{}")
	f.Add("a.yaml.patch", "- a")
	f.Add("a.yaml", "a: &a [*a, *a]")
	f.Fuzz(func(t *testing.T, name, content string) {
		got, err := decodeManifest(name, base64.StdEncoding.EncodeToString([]byte(content)))
		if err == nil && string(got) != content {
			t.Fatalf("%q became %q", content, got)
		}
	})
}
