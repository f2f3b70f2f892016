package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/wishes"
)

// readHostsFile reads the hosts of a file. What a document has beyond its kind goes
// to warn: a wish that is spelled wrongly is none. Problems are of objects that cannot be
// checked: they end nothing.
func readHostsFile(name string, in io.Reader, warn io.Writer) (hosts []wishes.Objects, problems []error, err error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		in = file
	}
	d, err := decodeObjects(in)
	for _, w := range d.warnings {
		fmt.Fprintln(warn, "warning:", w)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	hosts, lost := wishes.ByHost(d.objects...)
	if joined, is := lost.(interface{ Unwrap() []error }); is {
		d.problems = append(d.problems, joined.Unwrap()...)
	}
	if len(hosts)+len(d.problems) == 0 {
		return nil, nil, fmt.Errorf("%s: %w", name, errNoHost)
	}
	return hosts, d.problems, nil
}

// decoded is what documents hold.
type decoded struct {
	objects  []runtime.Object
	warnings []string
	// problems are of objects that are not of their kind's form.
	problems []error
}

// decodeObjects reads documents of YAML or JSON, lists among them, and keeps what
// holds wishes.
func decodeObjects(in io.Reader) (decoded, error) {
	var d decoded
	parts := yamlutil.NewYAMLReader(bufio.NewReader(in))
	for n := 1; ; {
		part, err := parts.Read()
		switch {
		case errors.Is(err, io.EOF):
			return d, nil
		case err != nil: // where the next one begins is not known
			return d, fmt.Errorf("document %d: %w", n, err)
		}
		n = d.part(n, part)
	}
}

// part adds what stands between two separators: one document of YAML, or any number of JSON.
// One that cannot be read ends its own part alone. It returns the number of the next one.
func (d *decoded) part(n int, raw []byte) (next int) {
	for documents := yamlutil.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096); ; n++ {
		var document runtime.RawExtension
		switch err := documents.Decode(&document); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			d.problems = append(d.problems, fmt.Errorf("document %d: %w", n, err))
			return n + 1
		}
		d.document(fmt.Sprintf("document %d", n), document.Raw)
	}
}

// wishKinds are the kinds that hold wishes.
var wishKinds = map[string]func() client.Object{
	"BareMetalHost":          func() client.Object { return &metal3v1.BareMetalHost{} },
	"HostFirmwareSettings":   func() client.Object { return &metal3v1.HostFirmwareSettings{} },
	"HostFirmwareComponents": func() client.Object { return &metal3v1.HostFirmwareComponents{} },
}

// document adds what one document holds; of a list, each of its items.
func (d *decoded) document(where string, raw []byte) {
	var document struct {
		metav1.TypeMeta `json:",inline"`

		Items []json.RawMessage `json:"items"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: %w", where, err))
		return
	}
	for _, item := range document.Items {
		d.document(where, item)
	}
	empty, holds := wishKinds[document.Kind]
	if !holds || document.GroupVersionKind().Group != metal3v1.GroupVersion.Group {
		return
	}
	o := empty()
	if odd := yaml.UnmarshalStrict(raw, o); odd != nil {
		o = empty()
		if err := yaml.Unmarshal(raw, o); err != nil {
			d.problems = append(d.problems, fmt.Errorf("%s: %s %q: %w", where, document.Kind, o.GetName(), err))
			return
		}
		d.warnings = append(d.warnings, fmt.Sprintf("%s %q: %v", document.Kind, o.GetName(), odd))
	}
	d.objects = append(d.objects, o)
}

// readReport reads a report of `ironflow bmc probe`.
func readReport(name string) (*ironflowv1.BMCReport, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var report struct {
		ironflowv1.BMCReport `json:",inline"`

		Reports []json.RawMessage `json:"reports"`
	}
	switch err := yaml.Unmarshal(raw, &report); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case report.Reports != nil:
		return nil, fmt.Errorf("%s holds several reports: probe one address", name)
	case len(report.Capabilities) == 0:
		return nil, fmt.Errorf("%s is no report of ironflow bmc probe --output json", name)
	}
	return &report.BMCReport, nil
}

// fromCluster reads what is known of a host's hardware: the report of its BMC, and the
// BIOS settings as Ironic has read them.
func fromCluster(ctx context.Context, cl client.Client, host types.NamespacedName) (knowledge, error) {
	b, s := &ironflowv1.BMC{}, &metal3v1.HostFirmwareSettings{}
	for _, o := range []client.Object{b, s} {
		if err := cl.Get(ctx, host, o); err != nil && !apierrors.IsNotFound(err) {
			return knowledge{}, fmt.Errorf("read what is known of host %s: %w", host.Name, err)
		}
	}
	k := knowledge{report: b.Status.Report}
	ref := s.Status.FirmwareSchema
	if ref == nil || len(s.Status.Settings) == 0 {
		return k, nil
	}
	schema := &metal3v1.FirmwareSchema{}
	switch err := cl.Get(ctx, types.NamespacedName{Namespace: host.Namespace, Name: ref.Name}, schema); {
	case apierrors.IsNotFound(err):
		return k, nil
	case err != nil:
		return knowledge{}, fmt.Errorf("read the BIOS settings that host %s can have: %w", host.Name, err)
	}
	var err error
	k.registry, k.settings, err = readSchema(schema, s.Status.Settings)
	return k, err
}

// readSchema makes a registry of a FirmwareSchema, and gives the settings its types.
func readSchema(schema *metal3v1.FirmwareSchema, values metal3v1.SettingsMap) (*bios.Registry, *bios.Settings, error) {
	type choice struct {
		ValueName string
	}
	type attribute struct {
		AttributeName, Type    string
		Value                  []choice `json:",omitempty"`
		LowerBound, UpperBound *int     `json:",omitempty"`
		MinLength, MaxLength   *int     `json:",omitempty"`
		ReadOnly               bool     `json:",omitempty"`
	}
	var list []attribute
	for name, s := range schema.Spec.Schema {
		a := attribute{AttributeName: name, Type: s.AttributeType, LowerBound: s.LowerBound, UpperBound: s.UpperBound, MinLength: s.MinLength, MaxLength: s.MaxLength}
		a.ReadOnly = s.ReadOnly != nil && *s.ReadOnly
		for _, value := range s.AllowableValues {
			a.Value = append(a.Value, choice{value})
		}
		list = append(list, a)
	}
	raw, err := json.Marshal(map[string]any{"RegistryEntries": map[string]any{"Attributes": list}})
	if err != nil {
		return nil, nil, err
	}
	registry, err := bios.ParseRegistry(raw)
	if errors.Is(err, bios.ErrNoRegistry) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("FirmwareSchema %s: %w", schema.Name, err)
	}
	settings := &bios.Settings{Current: map[string]any{}}
	for name := range schema.Spec.Schema {
		settings.Current[name] = nil // it is there, and its value is not known
	}
	for name, value := range values {
		settings.Current[name] = nil
		if a := registry.Attribute(name); a != nil {
			settings.Current[name] = a.Typed(value)
		}
	}
	return registry, settings, nil
}
