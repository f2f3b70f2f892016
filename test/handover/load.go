package handover

import (
	"context"
	"embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

//go:embed testdata/*.yaml
var files embed.FS

// Namespace is where the fleet lives.
const Namespace = "fleet"

// shared is the file of what belongs to no single host.
const shared = "fleet"

// Placeholders that only the API server knows the values of.
const (
	hostUID       = "HOST-UID"
	secretVersion = "SECRET-VERSION"
)

// Names lists the situations, sorted: the names of the files and of the hosts.
func Names() []string {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil // embedded: cannot happen
	}
	var names []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); name != shared {
			names = append(names, name)
		}
	}
	return names
}

// Load creates the objects of the situations, of all without names, and their
// nodes. The schemas must be installed. Objects are stored as they are in the
// files, but for ids, resource versions and times of creation and deletion.
func Load(ctx context.Context, c client.Client, sim *simulator.Server, names ...string) error {
	if len(names) == 0 {
		names = Names()
	}
	objects, _, err := read(shared, nil)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := create(ctx, c, o); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := loadHost(ctx, c, sim, name); err != nil {
			return fmt.Errorf("load %s: %w", name, err)
		}
	}
	return ownSchema(ctx, c)
}

// loadHost creates one host with everything that belongs to it. The host comes
// first, since the others name its id, and its status last, since that names the
// version of its Secret.
func loadHost(ctx context.Context, c client.Client, sim *simulator.Server, name string) error {
	objects, _, err := read(name, nil)
	if err != nil {
		return err
	}
	host := objects[0]
	status, leaving := host.Object["status"], host.GetDeletionTimestamp() != nil
	delete(host.Object, "status")
	host.SetDeletionTimestamp(nil)
	host.SetUID(types.UID("uid-of-" + name)) // a fake API gives none
	if err := c.Create(ctx, host); err != nil {
		return err
	}
	values := []string{hostUID, string(host.GetUID())}
	objects, node, err := read(name, values)
	if err != nil {
		return err
	}
	for _, o := range objects[1:] {
		if err := create(ctx, c, o); err != nil {
			return err
		}
		if o.GetKind() == "Secret" {
			values = append(values, secretVersion, strconv.Quote(o.GetResourceVersion()))
		}
	}
	if leaving {
		if err := c.Delete(ctx, host); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(host), host); err != nil {
			return err
		}
	}
	if status != nil {
		if objects, _, err = read(name, values); err != nil {
			return err
		}
		host.Object["status"] = objects[0].Object["status"]
		if err := c.Status().Update(ctx, host); err != nil {
			return err
		}
	}
	return put(sim, node)
}

// create stores an object with its status.
func create(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	status, has := o.Object["status"]
	encodeData(o)
	if err := c.Create(ctx, o); err != nil {
		return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	if !has {
		return nil
	}
	o.Object["status"] = status
	if err := c.Status().Update(ctx, o); err != nil {
		return fmt.Errorf("write the status of %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// encodeData turns a Secret's stringData into data, which a fake API does not.
func encodeData(o *unstructured.Unstructured) {
	plain, found, err := unstructured.NestedStringMap(o.Object, "stringData")
	if err != nil || !found {
		return
	}
	data := map[string]any{}
	for key, value := range plain {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	delete(o.Object, "stringData")
	o.Object["data"] = data
}

// ironicNode is the part of a file that is no Kubernetes object.
type ironicNode struct {
	Kind string `json:"kind"`
	simulator.Seed
}

// put gives the node to Ironic; a host without one has none.
func put(sim *simulator.Server, n *ironicNode) error {
	if n == nil {
		return nil
	}
	return sim.Put(n.Seed)
}

// read parses a file with its placeholders replaced, given as pairs.
func read(name string, values []string) (objects []*unstructured.Unstructured, node *ironicNode, err error) {
	raw, err := files.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		return nil, nil, fmt.Errorf("no situation %q: %w", name, err)
	}
	for document := range strings.SplitSeq(strings.NewReplacer(values...).Replace(string(raw)), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			return nil, nil, fmt.Errorf("testdata/%s.yaml: %w", name, err)
		}
		o.SetGeneration(1) // as the API server does; a fake one does not
		if o.GetKind() != "IronicNode" {
			objects = append(objects, o)
			continue
		}
		node = &ironicNode{}
		if err := yaml.UnmarshalStrict([]byte(document), node); err != nil {
			return nil, nil, fmt.Errorf("testdata/%s.yaml: %w", name, err)
		}
	}
	return objects, node, nil
}

// ownSchema gives the schema of BIOS settings its owners: every host that uses it.
func ownSchema(ctx context.Context, c client.Client) error {
	settings := &unstructured.UnstructuredList{}
	settings.SetAPIVersion("metal3.io/v1alpha1")
	settings.SetKind("HostFirmwareSettingsList")
	if err := c.List(ctx, settings, client.InNamespace(Namespace)); err != nil {
		return err
	}
	schema := &unstructured.Unstructured{}
	schema.SetAPIVersion("metal3.io/v1alpha1")
	schema.SetKind("FirmwareSchema")
	var owners []metav1.OwnerReference
	for _, s := range settings.Items {
		name, _, err := unstructured.NestedString(s.Object, "status", "schema", "name")
		if err != nil {
			return err
		}
		schema.SetName(name)
		owners = append(owners, s.GetOwnerReferences()...)
	}
	if len(owners) == 0 {
		return nil
	}
	if err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: schema.GetName()}, schema); err != nil {
		return err
	}
	schema.SetOwnerReferences(slices.Concat(schema.GetOwnerReferences(), owners))
	return c.Update(ctx, schema)
}
