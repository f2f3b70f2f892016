package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds a file, in bytes: a Secret or ConfigMap is no larger.
const maxFile = 1 << 20

// Files are the files to read, as absolute paths below the root. An empty name is not read.
type Files struct {
	// Root is put before every name; empty is the root of the file system.
	Root string

	ClusterDeployment, AgentClusterInstall, ClusterImageSet, InfraEnv, PullSecret string
	// NMStateConfig, Operators, ExtraManifests and HostConfig need not be there. The first
	// holds any number of documents, the last two are folders.
	NMStateConfig, Operators, ExtraManifests, HostConfig string
}

// Manifest is a file that is applied to the new cluster.
type Manifest struct {
	Name    string
	Content []byte
}

// Set is what was read. A part that was not asked for, or need not be there, is nil.
type Set struct {
	ClusterDeployment   *ClusterDeployment
	AgentClusterInstall *AgentClusterInstall
	ClusterImageSet     *ClusterImageSet
	InfraEnv            *InfraEnv
	NMStateConfigs      []NMStateConfig
	// PullSecret is the JSON of the registries' credentials. It must not get into logs.
	PullSecret string
	Operators  []Operator
	// Extra are the extra manifests, by name.
	Extra []Manifest
	// Hosts are the folders of hosts, by name.
	Hosts []HostConfig
	// Fencing are the credentials that fence hosts. They must not get into logs.
	Fencing []Fencing
}

// Options say how to read.
type Options struct {
	// Lenient makes warnings of fields that nothing would be done with.
	Lenient bool
	// More checks what this package does not; nil for nothing.
	More func(*Draft)
}

// reader reads one set of files.
type reader struct {
	*report
	root string
	set  *Set
	// at are the documents of the kinds, for checks across files.
	cluster, install, images, env, secret *place
	networks                              []*place
}

// Read reads and checks the files. The error is an [*Error] with everything that is wrong;
// the warnings are those of a lenient reader.
func Read(files Files, o Options) (*Set, []Problem, error) {
	r := &reader{report: &report{lenient: o.Lenient}, root: files.Root, set: &Set{}}
	r.cluster, r.set.ClusterDeployment = one[ClusterDeployment](r, files.ClusterDeployment, "hive.openshift.io/v1")
	r.install, r.set.AgentClusterInstall = one[AgentClusterInstall](r, files.AgentClusterInstall, "extensions.hive.openshift.io/v1beta1")
	if r.needsRelease(files) {
		r.images, r.set.ClusterImageSet = one[ClusterImageSet](r, files.ClusterImageSet, "hive.openshift.io/v1")
	}
	r.env, r.set.InfraEnv = one[InfraEnv](r, files.InfraEnv, "agent-install.openshift.io/v1beta1")
	r.nmstate(files.NMStateConfig)
	r.pullSecret(files.PullSecret)
	r.operators(files.Operators)
	r.extra(files.ExtraManifests)
	r.hosts(files.HostConfig)
	r.check()
	if o.More != nil {
		o.More(r.draft())
	}
	warnings, err := r.result()
	if err != nil {
		return nil, warnings, err
	}
	return r.set, warnings, nil
}

// needsRelease is false where no release is installed: then the file need not be there.
func (r *reader) needsRelease(files Files) bool {
	if files.ClusterImageSet == "" {
		return false
	}
	own := files.AgentClusterInstall == "" && files.InfraEnv != "" ||
		r.set.AgentClusterInstall != nil && r.set.AgentClusterInstall.Spec.ImageSetRef == nil && r.set.AgentClusterInstall.source() != ""
	if !own {
		return true
	}
	_, err := os.Stat(r.path(files.ClusterImageSet))
	return !errors.Is(err, fs.ErrNotExist)
}

func (r *reader) path(name string) string { return filepath.Join("/", r.root, name) }

// read returns the content; a problem has been told where it is nil. A file that is
// optional and missing is nil without one.
func (r *reader) read(name string, optional bool) []byte {
	if name == "" {
		return nil
	}
	file, err := os.Open(r.path(name))
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		r.add(Problem{File: name, Text: "is missing: put the manifest there"})
		return nil
	case err != nil:
		r.add(Problem{File: name, Text: fmt.Sprintf("cannot be read: %v", inner(err))})
		return nil
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		r.add(Problem{File: name, Text: fmt.Sprintf("cannot be read: %v", inner(err))})
		return nil
	case len(raw) > maxFile:
		r.add(Problem{File: name, Text: fmt.Sprintf("is larger than %d bytes: write less", maxFile)})
		return nil
	case raw == nil:
		return []byte{}
	}
	return raw
}

// inner is a file's error without its path, which is named already.
func inner(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// document is one of a file.
type document struct {
	*place
	node *yaml.Node
}

// documents splits the file; empty ones are counted and left out.
func (r *reader) documents(name string, raw []byte) []document {
	var out []document
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			r.add(Problem{File: name, Document: n, Text: "is no YAML: " + syntax(err)})
			return nil
		case len(node.Content) == 1 && node.Content[0].ShortTag() == "!!null":
			continue
		}
		out = append(out, document{&place{report: r.report, file: name, number: n}, &node})
	}
}

// quoted is what the parser quotes of a document, which may be a secret.
var quoted = regexp.MustCompile("`[^`]*`|'[^']*'|\"[^\"]*\"")

// syntax is the parser's complaint without what it quotes.
func syntax(err error) string {
	return quoted.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "…")
}

// isObject tells whether the document is a mapping; otherwise that has been told.
func (d *document) isObject() bool {
	n := d.node
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	return n.Kind == yaml.MappingNode
}

// headed is a kind.
type headed interface{ head() *Head }

// single is the only document of a file; nil when a problem has been told.
func (r *reader) single(name string, optional bool) *document {
	raw := r.read(name, optional)
	if raw == nil {
		return nil
	}
	before := len(r.problems)
	documents := r.documents(name, raw)
	switch {
	case len(documents) == 0 && len(r.problems) == before:
		r.add(Problem{File: name, Text: "is empty: write the manifest into it"})
	case len(documents) > 1:
		documents[1].wrong("", "is one too many: the file holds one document; keep the right one")
	}
	if len(documents) == 0 {
		return nil
	}
	return &documents[0]
}

// one reads a file that holds one object of the kind that T is called.
func one[T any, P interface {
	*T
	headed
}](r *reader, name, version string) (*place, *T) {
	d := r.single(name, false)
	if d == nil {
		return nil, nil
	}
	out := object[T, P](d, version)
	if out == nil {
		return nil, nil
	}
	return d.place, out
}

// object decodes a document and checks what it says it is; nil for what is no mapping.
func object[T any, P interface {
	*T
	headed
}](d *document, version string) *T {
	out := new(T)
	decode(d.place, d.node, out)
	if !d.isObject() {
		return nil
	}
	kind := strings.TrimPrefix(fmt.Sprintf("%T", *out), "manifests.")
	h := P(out).head()
	for _, field := range []struct{ path, is, want string }{{"apiVersion", h.APIVersion, version}, {"kind", h.Kind, kind}} {
		switch {
		case field.is == "":
			d.missing(field.path, field.want)
		case field.is != field.want:
			d.wrong(field.path, "is %.80q: write %s", field.is, field.want)
		}
	}
	if h.Metadata.Name == "" {
		d.missing("metadata.name", "a name of lower-case letters, digits and dashes")
	}
	return out
}

// operators are a list, not a kind.
func (r *reader) operators(name string) {
	if d := r.single(name, true); d != nil {
		decode(d.place, d.node, &r.set.Operators)
		for i, o := range r.set.Operators {
			if o.Name == "" {
				d.missing(fmt.Sprintf("[%d].name", i), "the operator's name")
			}
		}
	}
}

// extra are the files *.y*ml of the folder; what is in them is checked for being YAML.
func (r *reader) extra(folder string) {
	if folder == "" {
		return
	}
	entries, err := os.ReadDir(r.path(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.add(Problem{File: folder, Text: fmt.Sprintf("cannot be read: %v", inner(err))})
	}
	for _, e := range entries {
		if match, _ := filepath.Match("*.y*ml", e.Name()); !match || e.IsDir() { // the pattern is a good one
			continue
		}
		name := filepath.Join(folder, e.Name())
		raw := r.read(name, false)
		if raw == nil {
			continue
		}
		before := len(r.problems)
		for _, d := range r.documents(name, raw) {
			d.lines, d.bad = map[string]int{}, map[string]bool{}
			if (&decoder{place: d.place, left: maxNodes}).plainObject(d.node) {
				continue
			}
			d.wrong("", "is no object: write a mapping with apiVersion, kind and metadata")
		}
		if len(r.problems) == before {
			r.set.Extra = append(r.set.Extra, Manifest{Name: e.Name(), Content: raw})
		}
	}
	slices.SortFunc(r.set.Extra, func(a, b Manifest) int { return strings.Compare(a.Name, b.Name) })
}

// plainObject tells whether a document is a mapping, and tells of names that are twice in it.
func (d *decoder) plainObject(n *yaml.Node) bool {
	if len(n.Content) != 1 || n.Content[0].Kind != yaml.MappingNode {
		return false
	}
	d.twice(n.Content[0], "")
	return true
}

// twice looks for names that are there twice, in a document that may hold aliases.
func (d *decoder) twice(n *yaml.Node, path string) {
	seen := map[string]int{}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			d.twice(c, fmt.Sprintf("%s[%d]", path, i))
			continue
		}
		if i%2 != 0 || c.Kind != yaml.ScalarNode {
			continue
		}
		inner := join(path, c.Value)
		if first, is := seen[c.Value]; is {
			d.lines[inner] = c.Line
			d.wrong(inner, "is there twice, in lines %d and %d: keep one", first, c.Line)
		}
		seen[c.Value] = c.Line
		d.twice(n.Content[i+1], inner)
	}
}
