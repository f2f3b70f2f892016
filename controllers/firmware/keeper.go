package firmware

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Gateway is the part of Ironic that is read: its cache, never a BMC.
// [ironic.Gateway] implements it.
type Gateway interface {
	BIOS(ctx context.Context, uuid string) ([]ironic.BIOSSetting, error)
	Firmware(ctx context.Context, uuid string) ([]ironic.FirmwareComponent, error)
	Lacks(uuid string) (settings, components bool)
}

// Keeper writes the firmware resources of hosts. Each method makes at most one
// request to Ironic and repeats safely. A failed request to Ironic comes back
// as *ironic.Error, one to the API server as it is.
type Keeper struct {
	client   client.Client
	gateway  Gateway
	recorder reconcile.Recorder
	unread   unread
}

// NewKeeper makes a Keeper. The zero recorder drops the events.
func NewKeeper(c client.Client, g Gateway, recorder reconcile.Recorder) *Keeper {
	return &Keeper{client: c, gateway: g, recorder: recorder}
}

// Settings returns a host's settings from the cache; nil for none.
func (k *Keeper) Settings(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareSettings, error) {
	return get(ctx, k.client, h, &metal3.HostFirmwareSettings{})
}

// Components returns a host's components from the cache; nil for none.
func (k *Keeper) Components(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareComponents, error) {
	return get(ctx, k.client, h, &metal3.HostFirmwareComponents{})
}

// Policy returns a host's update policy from the cache; nil for none.
func (k *Keeper) Policy(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostUpdatePolicy, error) {
	return get(ctx, k.client, h, &metal3.HostUpdatePolicy{})
}

func get[T client.Object](ctx context.Context, c client.Client, h *metal3.BareMetalHost, into T) (found T, err error) {
	err = c.Get(ctx, client.ObjectKeyFromObject(h), into)
	if apierrors.IsNotFound(err) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("read %T %s: %w", into, client.ObjectKeyFromObject(h), err)
	}
	return into, nil
}

// Make makes the resources that a host has not, still empty: settings for a BMC that
// tells Ironic of some, components if Ironic lists any.
func (k *Keeper) Make(ctx context.Context, h *metal3.BareMetalHost, node string) error {
	settings, components := k.describable(h, node)
	s, err := k.Settings(ctx, h)
	if err != nil {
		return err
	}
	if s == nil && settings {
		if _, err := k.makeSettings(ctx, h); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	c, err := k.Components(ctx, h)
	if err != nil || c != nil || !components {
		return err
	}
	listed, err := k.gateway.Firmware(ctx, node)
	if err != nil || len(componentStatuses(listed)) == 0 {
		return err
	}
	_, err = k.makeComponents(ctx, h)
	return client.IgnoreAlreadyExists(err)
}

// describable reports whether a host's kind of BMC tells Ironic anything about
// firmware settings, and about components. IPMI does not, and neither does a node
// without the interface.
func (k *Keeper) describable(h *metal3.BareMetalHost, node string) (settings, components bool) {
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil || a.Family != address.Redfish {
		return false, false
	}
	noSettings, noComponents := k.gateway.Lacks(node)
	return !noSettings, !noComponents
}

func (k *Keeper) makeSettings(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareSettings, error) {
	s := &metal3.HostFirmwareSettings{ObjectMeta: metaOf(h), Spec: metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{}}}
	return s, k.create(ctx, h, s)
}

func (k *Keeper) makeComponents(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareComponents, error) {
	c := &metal3.HostFirmwareComponents{ObjectMeta: metaOf(h), Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{}}}
	return c, k.create(ctx, h, c)
}

// ReadSettings takes over what Ironic knows of the machine's settings, creating
// the resource if there is none, and judges the spec by it.
func (k *Keeper) ReadSettings(ctx context.Context, h *metal3.BareMetalHost, node string) (*metal3.HostFirmwareSettings, error) {
	s, err := k.readSettings(ctx, h, node)
	if err == nil {
		k.unread.read(h, left{settings: true})
	}
	return s, err
}

func (k *Keeper) readSettings(ctx context.Context, h *metal3.BareMetalHost, node string) (*metal3.HostFirmwareSettings, error) {
	settings, err := k.gateway.BIOS(ctx, node)
	if err != nil {
		return nil, err
	}
	s, err := k.Settings(ctx, h)
	if err != nil {
		return nil, err
	}
	if s == nil {
		if s, err = k.makeSettings(ctx, h); err != nil {
			return nil, err
		}
	}
	saver := reconcile.NewSaver(k.client, s)
	saver.Whole = s.Status.Settings == nil
	s.Status.Settings = settingValues(settings)
	schema := schemaOf(settings)
	s.Status.FirmwareSchema = nil
	if len(schema) > 0 {
		if s.Status.FirmwareSchema, err = k.ensureSchema(ctx, h, schema); err != nil {
			return nil, err
		}
	}
	events := judgeSettings(s, schema)
	return s, k.saveSettings(ctx, saver, s, events)
}

// JudgeSettings judges a changed spec by what was read before.
func (k *Keeper) JudgeSettings(ctx context.Context, s *metal3.HostFirmwareSettings) error {
	schema := &metal3.FirmwareSchema{}
	if ref := s.Status.FirmwareSchema; ref != nil {
		err := k.client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, schema)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read FirmwareSchema %s: %w", ref.Name, err)
		}
	}
	saver := reconcile.NewSaver(k.client, s)
	return k.saveSettings(ctx, saver, s, judgeSettings(s, schema.Spec.Schema))
}

func (k *Keeper) saveSettings(ctx context.Context, saver *reconcile.Saver[*metal3.HostFirmwareSettings], s *metal3.HostFirmwareSettings, events []reconcile.Event) error {
	if saver.Changed(s) {
		s.Status.LastUpdated = now()
	}
	if _, err := saver.Status(ctx, s); err != nil {
		return err
	}
	k.recorder.Record(s, nil, events...)
	return nil
}

// ensureSchema makes sure that the schema exists. It belongs to no host: hosts
// of one model share it.
func (k *Keeper) ensureSchema(ctx context.Context, h *metal3.BareMetalHost, schema map[string]metal3.SettingSchema) (*metal3.SchemaReference, error) {
	object := &metal3.FirmwareSchema{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: schemaName(schema)},
		Spec:       metal3.FirmwareSchemaSpec{Schema: schema},
	}
	if details := h.Status.HardwareDetails; details != nil {
		object.Spec.HardwareVendor, object.Spec.HardwareModel = details.SystemVendor.Manufacturer, details.SystemVendor.ProductName
	}
	ref := &metal3.SchemaReference{Namespace: object.Namespace, Name: object.Name}
	err := k.client.Get(ctx, client.ObjectKeyFromObject(object), &metal3.FirmwareSchema{})
	if apierrors.IsNotFound(err) {
		err = k.client.Create(ctx, object)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("make FirmwareSchema %s: %w", object.Name, err)
	}
	return ref, nil
}

// ReadComponents takes over what Ironic knows of the machine's components and
// judges the spec. Without a resource one is made only if Ironic lists any
// component: nil then means that there is nothing to keep. done is what became of
// the updates that Ironic was asked for.
func (k *Keeper) ReadComponents(ctx context.Context, h *metal3.BareMetalHost, node string, done Outcome) (*metal3.HostFirmwareComponents, error) {
	c, err := k.readComponents(ctx, h, node, done)
	if err == nil {
		k.unread.read(h, left{components: true})
	}
	return c, err
}

func (k *Keeper) readComponents(ctx context.Context, h *metal3.BareMetalHost, node string, done Outcome) (*metal3.HostFirmwareComponents, error) {
	listed, err := k.gateway.Firmware(ctx, node)
	if err != nil {
		return nil, err
	}
	components := componentStatuses(listed)
	c, err := k.Components(ctx, h)
	if err != nil || c == nil && len(components) == 0 {
		return nil, err
	}
	if c == nil {
		if c, err = k.makeComponents(ctx, h); err != nil {
			return nil, err
		}
	}
	saver := reconcile.NewSaver(k.client, c)
	c.Status.Components = components
	switch {
	case done.Unknown:
		takeAsMade(c, done.Updates, whyEnded)
	case done.Updates != nil:
		c.Status.Updates = done.Updates
	case updatesUnknown(h, c):
		takeAsMade(c, c.Spec.Updates, whyMoved)
	}
	return c, k.saveComponents(ctx, saver, h, c)
}

// JudgeUpdates judges a changed spec.
func (k *Keeper) JudgeUpdates(ctx context.Context, h *metal3.BareMetalHost, c *metal3.HostFirmwareComponents) error {
	return k.saveComponents(ctx, reconcile.NewSaver(k.client, c), h, c)
}

func (k *Keeper) saveComponents(
	ctx context.Context, saver *reconcile.Saver[*metal3.HostFirmwareComponents], h *metal3.BareMetalHost, c *metal3.HostFirmwareComponents,
) error {
	fillIn(h, c)
	events := judgeUpdates(c)
	if saver.Changed(c) {
		c.Status.LastUpdated = now()
	}
	if _, err := saver.Status(ctx, c); err != nil {
		return err
	}
	k.recorder.Record(c, nil, events...)
	return nil
}

// create makes a resource of a host.
func (k *Keeper) create(ctx context.Context, h *metal3.BareMetalHost, object client.Object) error {
	if err := controllerutil.SetControllerReference(h, object, k.client.Scheme()); err != nil {
		return fmt.Errorf("own %T %s: %w", object, client.ObjectKeyFromObject(h), err)
	}
	if err := k.client.Create(ctx, object); err != nil {
		return fmt.Errorf("make %T %s: %w", object, client.ObjectKeyFromObject(h), err)
	}
	return nil
}

func metaOf(h *metal3.BareMetalHost) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}
}

func now() *metav1.Time { return new(metav1.NewTime(time.Now()).Rfc3339Copy()) }
