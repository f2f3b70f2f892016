package upgrade_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/test/upgrade/promise"
)

// definitionsFile has the CustomResourceDefinitions of a release, one YAML document each.
const definitionsFile = "crds.yaml.gz"

// TestFieldsOfServedVersionsStay: an object that a release has stored is read by the next, as a whole.
func TestFieldsOfServedVersionsStay(t *testing.T) {
	g := NewWithT(t)
	present, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	have := schemasOf(present)
	for _, release := range releases(t) {
		file := filepath.Join(release, definitionsFile)
		if _, err := os.Stat(file); *update && os.IsNotExist(err) {
			continue
		}
		was := schemasOf(definitions(t, file))
		g.Expect(len(was.names)).To(BeNumerically(">", 1000))
		g.Expect(promise.Broken(was.names, have.names)).To(BeEmpty(), "what release %s served, and is gone or of another type: objects and clients have it", filepath.Base(release))
		for path, fields := range have.required {
			if before, known := was.required[path]; known {
				g.Expect(promise.Broken(fields, before)).To(BeEmpty(), "%s: objects that release %s took lack these, which are required now", path, filepath.Base(release))
			}
		}
	}
	if *update && !t.Failed() {
		newest := releases(t)
		record(t, filepath.Join(newest[len(newest)-1], definitionsFile), documents(t, present))
	}
}

// TestAFieldThatGoesIsSeen, and so are others that would harm: each change of a definition breaks a promise.
func TestAFieldThatGoesIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*apiextensionsv1.CustomResourceDefinition)
		want   string
	}{
		"a field is gone": {func(crd *apiextensionsv1.CustomResourceDefinition) {
			delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "online")
		}, "baremetalhosts.metal3.io v1alpha1 spec.online boolean"},
		"a field has another type": {func(crd *apiextensionsv1.CustomResourceDefinition) {
			spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
			online := spec["online"]
			online.Type = "string"
			spec["online"] = online
		}, "baremetalhosts.metal3.io v1alpha1 spec.online boolean"},
		"a value is gone": {func(crd *apiextensionsv1.CustomResourceDefinition) {
			spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
			mode := spec["bootMode"]
			mode.Enum = slices.DeleteFunc(mode.Enum, func(v apiextensionsv1.JSON) bool { return string(v.Raw) == `"legacy"` })
			spec["bootMode"] = mode
		}, `baremetalhosts.metal3.io v1alpha1 spec.bootMode = "legacy"`},
		"a version is no longer served": {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false }, "baremetalhosts.metal3.io v1alpha1 served"},
		"the scope is another":          {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped }, "baremetalhosts.metal3.io BareMetalHost Namespaced"},
		"a short name is gone":          {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.ShortNames = nil }, "baremetalhosts.metal3.io name bmh"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			present, err := config.CRDs()
			g.Expect(err).NotTo(HaveOccurred())
			was := schemasOf(present).names
			at := slices.IndexFunc(present, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
				return crd.Name == "baremetalhosts.metal3.io"
			})
			tc.change(present[at])
			g.Expect(promise.Broken(was, schemasOf(present).names)).To(ContainElement(tc.want))
		})
	}
}

// schemas are the names of served versions, and the required fields by the path of their object.
type schemas struct {
	names    []string
	required map[string][]string
}

func schemasOf(crds []*apiextensionsv1.CustomResourceDefinition) *schemas {
	s := &schemas{required: map[string][]string{}}
	for _, crd := range crds {
		s.names = append(s.names, fmt.Sprintf("%s %s %s", crd.Name, crd.Spec.Names.Kind, crd.Spec.Scope))
		for _, name := range append(slices.Clone(crd.Spec.Names.ShortNames), crd.Spec.Names.Singular) {
			s.names = append(s.names, crd.Name+" name "+name)
		}
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			s.names = append(s.names, crd.Name+" "+version.Name+" served")
			if version.Subresources != nil && version.Subresources.Status != nil {
				s.names = append(s.names, crd.Name+" "+version.Name+" has a status of its own")
			}
			if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
				s.walk(crd.Name+" "+version.Name, "", *version.Schema.OpenAPIV3Schema)
			}
		}
	}
	return s
}

// walk lists a schema and what is below it: lists by [], maps by {}.
func (s *schemas) walk(of, path string, schema apiextensionsv1.JSONSchemaProps) {
	kind := schema.Type
	if schema.XIntOrString {
		kind = "integer or string"
	}
	if path != "" {
		s.names = append(s.names, of+" "+path+" "+kind)
	}
	if schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields {
		s.names = append(s.names, of+" "+path+" keeps what it does not know")
	}
	for _, value := range schema.Enum {
		s.names = append(s.names, of+" "+path+" = "+string(value.Raw))
	}
	s.required[of+" "+path] = schema.Required
	for name, below := range schema.Properties {
		s.walk(of, strings.TrimPrefix(path+"."+name, "."), below)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		s.walk(of, path+"[]", *schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		s.walk(of, path+"{}", *schema.AdditionalProperties.Schema)
	}
}

// releases are the folders of the supported releases, the oldest first.
func releases(t *testing.T) []string {
	t.Helper()
	found, err := promise.Releases(root)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return found
}

// definitions reads those of a release.
func definitions(t *testing.T, file string) (crds []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	g := NewWithT(t)
	for document := range strings.SplitSeq(string(unpacked(t, file)), "\n---\n") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(yaml.Unmarshal([]byte(document), crd)).To(Succeed())
		crds = append(crds, crd)
	}
	return crds
}

// documents are definitions as YAML, in the order of their names.
func documents(t *testing.T, crds []*apiextensionsv1.CustomResourceDefinition) []byte {
	t.Helper()
	g := NewWithT(t)
	slices.SortFunc(crds, func(a, b *apiextensionsv1.CustomResourceDefinition) int { return strings.Compare(a.Name, b.Name) })
	var all [][]byte
	for _, crd := range crds {
		raw, err := json.Marshal(crd)
		g.Expect(err).NotTo(HaveOccurred())
		document, err := yaml.JSONToYAML(raw)
		g.Expect(err).NotTo(HaveOccurred())
		all = append(all, bytes.TrimSpace(document))
	}
	return append(bytes.Join(all, []byte("\n---\n")), '\n')
}

// unpacked reads a file that is packed by gzip.
func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.Open(file)
	g.Expect(err).NotTo(HaveOccurred(), "run this with -update to record the release")
	defer raw.Close()
	packed, err := gzip.NewReader(raw)
	g.Expect(err).NotTo(HaveOccurred(), file)
	content, err := io.ReadAll(packed)
	g.Expect(err).NotTo(HaveOccurred(), file)
	return content
}

// record writes a file that is packed by gzip, unless it has that content already.
func record(t *testing.T, file string, content []byte) {
	t.Helper()
	g := NewWithT(t)
	if _, err := os.Stat(file); err == nil && bytes.Equal(unpacked(t, file), content) {
		return
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = w.Write(content)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Close()).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(file, packed.Bytes(), 0o644)).To(Succeed())
}
