package admission_test

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// edit changes an object that keeps every rule.
type edit func(client.Object)

// ruleCases are objects that keep and that break one rule.
type ruleCases struct {
	good, bad []edit
}

// changeCase is an update: an object as it is stored, and the edit.
type changeCase struct {
	what   string
	stored edit // with the status
	edit   edit
	ok     bool
}

// on makes an edit of one kind.
func on[T client.Object](change func(T)) edit {
	return func(o client.Object) { change(o.(T)) }
}

// onHost edits a host.
func onHost(change func(*metal3.BareMetalHost)) edit { return on(change) }

func annotated(key, value string) edit {
	return func(o client.Object) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		o.SetAnnotations(annotations)
	}
}

func all(edits ...edit) edit {
	return func(o client.Object) {
		for _, e := range edits {
			e(o)
		}
	}
}

// base is an object of each kind that keeps every rule.
func base(kind, name string) client.Object {
	meta := metav1.ObjectMeta{Namespace: "default", Name: name}
	switch kind {
	case "BareMetalHost":
		return &metal3.BareMetalHost{ObjectMeta: meta, Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:00:01",
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1", CredentialsName: "bmc"},
		}}
	case "BMCEventSubscription":
		return &metal3.BMCEventSubscription{ObjectMeta: meta, Spec: metal3.BMCEventSubscriptionSpec{
			HostName: "a", Destination: "https://events.example/in",
		}}
	case "DataImage":
		return &metal3.DataImage{ObjectMeta: meta, Spec: metal3.DataImageSpec{URL: "https://images.example/data.iso"}}
	case "HostFirmwareComponents":
		return &metal3.HostFirmwareComponents{ObjectMeta: meta, Spec: metal3.HostFirmwareComponentsSpec{
			Updates: []metal3.FirmwareUpdate{{Component: "bios", URL: "https://firmware.example/bios.bin"}},
		}}
	case "HostClaim":
		return &metal3.HostClaim{ObjectMeta: meta, Spec: metal3.HostClaimSpec{
			HostSelector: metal3.HostSelector{MatchLabels: map[string]string{"example.com/rack": "r1"}},
		}}
	}
	if o := agentBase(kind, meta); o != nil {
		return o
	}
	if kind == "NMStateConfig" {
		c := &agentv1.NMStateConfig{ObjectMeta: meta}
		c.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: "52:54:00:00:00:01"}}
		c.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1","type":"ethernet"}]}`)
		return c
	}
	return nil
}

// document sets the interfaces of an NMStateConfig.
func document(interfaces string) edit {
	return on(func(c *agentv1.NMStateConfig) { c.Spec.NetConfig.Raw = []byte(`{"interfaces":[` + interfaces + `]}`) })
}

// card adds an entry to the map of addresses.
func card(name, mac string) edit {
	return on(func(c *agentv1.NMStateConfig) {
		c.Spec.Interfaces = append(c.Spec.Interfaces, agentv1.NMStateInterface{Name: name, MacAddress: mac})
	})
}

func bmc(address string) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = address })
}

func mac(address string) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.BootMACAddress = address })
}

func mode(m metal3.InspectionMode) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.InspectionMode = m })
}

func raid(hardware []metal3.HardwareRAIDVolume, software []metal3.SoftwareRAIDVolume) edit {
	return onHost(func(h *metal3.BareMetalHost) {
		h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: hardware, SoftwareRAIDVolumes: software}
	})
}

func volume(controller string, count *int, disks ...string) []metal3.HardwareRAIDVolume {
	return []metal3.HardwareRAIDVolume{{Level: "1", Controller: controller, NumberOfPhysicalDisks: count, PhysicalDisks: disks}}
}

func device(name string) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: name} })
}

func image(i metal3.Image) edit {
	return func(o client.Object) {
		switch o := o.(type) {
		case *metal3.BareMetalHost:
			o.Spec.Image = &i
		case *metal3.HostClaim:
			o.Spec.Image = &i
		}
	}
}

func power(disabled, online bool) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.DisablePowerOff, h.Spec.Online = disabled, online })
}

func secureBoot(h *metal3.BareMetalHost) { h.Spec.BootMode = metal3.UEFISecureBoot }

func userData(namespace string) edit {
	return onHost(func(h *metal3.BareMetalHost) {
		h.Spec.UserData = &corev1.SecretReference{Name: "user", Namespace: namespace}
	})
}

var (
	two      = new(int)
	software = []metal3.SoftwareRAIDVolume{{Level: "1"}}
	liveISO  = "live-iso"
)

func init() { *two = 2 }

// imageCases are those of hosts and of claims.
var imageCases = map[string]ruleCases{
	"image URL": {
		good: []edit{
			image(metal3.Image{URL: "https://images.example/a.qcow2?x=1", Checksum: "abc"}),
			image(metal3.Image{URL: "OCI://registry.example/image:1"}),
		},
		bad: []edit{
			image(metal3.Image{URL: "images/a.qcow2", Checksum: "abc"}),
			image(metal3.Image{URL: "file:///etc/passwd", Checksum: "abc"}),
			image(metal3.Image{URL: "https://images.example/a b", Checksum: "abc"}),
		},
	},
	"checksum": {
		good: []edit{image(metal3.Image{URL: "https://images.example/a.iso", DiskFormat: &liveISO})},
		bad:  []edit{image(metal3.Image{URL: "https://images.example/a.qcow2"})},
	},
	"OCI checksum": {
		good: []edit{image(metal3.Image{URL: "oci://registry.example/image:1"})},
		bad:  []edit{image(metal3.Image{URL: "oci://registry.example/image:1", Checksum: "abc"})},
	},
}

// rebootCases are those of hosts and of claims.
var rebootCases = ruleCases{
	good: []edit{
		annotated(names.Reboot, ""), annotated(names.Reboot+"/me", `{"mode":"hard"}`),
		annotated(names.Reboot, ` {"force": true, "mode" : "soft"} `), annotated(names.Reboot, `{"mode":"","other":1}`),
		annotated("reboot.metal3.io.example", "whatever"),
	},
	bad: []edit{annotated(names.Reboot, "now"), annotated(names.Reboot+"/me", `{"mode":"gentle"}`), annotated(names.Reboot, `["hard"]`)},
}

// cases has good and bad objects for each rule about objects.
var cases = map[string]map[string]ruleCases{
	"BareMetalHost": {
		"address": {
			good: []edit{bmc(""), bmc("192.0.2.1"), bmc("192.0.2.1:6230"), bmc("ipmi://[2001:db8::1]:623"), bmc("2001:db8::1"), bmc("Redfish+HTTP://bmc.example:8000/redfish/v1/Systems/1")},
			bad:  []edit{bmc("foo://192.0.2.1"), bmc("ipmi+http://192.0.2.1"), bmc("redfish://"), bmc("redfish://bad host/x"), bmc("idrac://192.0.2.1")},
		},
		"name": {
			good: []edit{func(o client.Object) { o.SetName("rack-1.node-2") }},
			bad:  []edit{func(o client.Object) { o.SetName("0e6a1f5c-9f5d-4a51-9c5b-0f8a9be4a001") }},
		},
		"boot MAC needed": {
			good: []edit{all(mac(""), bmc("redfish://192.0.2.1")), all(mode(metal3.InspectionModeDisabled)), all(mac(""), bmc(""), mode(metal3.InspectionModeDisabled))},
			bad: []edit{
				all(mac(""), bmc("libvirt://192.0.2.1:6233/")), all(mac(""), mode(metal3.InspectionModeDisabled)),
				all(mac(""), annotated(names.Inspect, "disabled")),
			},
		},
		"boot MAC valid": {good: []edit{mac("AA:bb:00:00:00:01")}, bad: []edit{mac("x52:54:00:00:00:01"), mac("52:54:00:00:00:01:02")}},
		"secure boot": {
			good: []edit{onHost(secureBoot), all(onHost(secureBoot), bmc(""))},
			bad:  []edit{all(onHost(secureBoot), bmc("ipmi://192.0.2.1"))},
		},
		"root device": {
			good: []edit{device("/dev/sda"), device("/dev/disk/by-path/pci-0000:00:1f.2-ata-1")},
			bad:  []edit{device("sda"), device("/dev/disk/by-id/wwn-1"), device("/dev/")},
		},
		"power off disabled": {good: []edit{power(true, true), power(false, false)}, bad: []edit{power(true, false)}},
		"firmware": {
			good: []edit{func(client.Object) {}},
			bad: []edit{onHost(func(h *metal3.BareMetalHost) {
				yes := true
				h.Spec.Firmware = &metal3.FirmwareConfig{VirtualizationEnabled: &yes} //nolint:staticcheck // refused because it is deprecated
			})},
		},
		"RAID driver": {
			good: []edit{raid(volume("", nil), nil), all(raid([]metal3.HardwareRAIDVolume{}, nil), bmc("ipmi://192.0.2.1")), all(raid(nil, software), bmc("ipmi://192.0.2.1"))},
			bad:  []edit{all(raid(volume("", nil), nil), bmc("ipmi://192.0.2.1")), all(raid(volume("", nil), nil), bmc("192.0.2.1"))},
		},
		"one kind of RAID": {
			good: []edit{raid([]metal3.HardwareRAIDVolume{}, software), raid(nil, nil)},
			bad:  []edit{raid(volume("", nil), software)},
		},
		"physical disks": {
			good: []edit{raid(volume("c", two, "a", "b"), nil), raid(volume("c", nil, "a"), nil), raid(volume("", two), nil)},
			bad:  []edit{raid(volume("", nil, "a"), nil), raid(volume("c", two, "a"), nil)},
		},
		"image URL":         imageCases["image URL"],
		"checksum":          imageCases["checksum"],
		"OCI checksum":      imageCases["OCI checksum"],
		"secrets":           {good: []edit{userData(""), userData("default")}, bad: []edit{userData("kube-system")}},
		"reboot annotation": rebootCases,
		"status annotation": {
			good: []edit{annotated(names.Status, `{"operationalStatus":"OK","errorType":"","provisioning":{"state":"available","ID":""}}`)},
			bad: []edit{
				annotated(names.Status, "OK"), annotated(names.Status, `{"operationalStatus":"fine"}`),
				annotated(names.Status, `{"errorType":"detach error"}`),
			},
		},
		"inspect annotation": {good: []edit{annotated(names.Inspect, ""), annotated(names.Inspect, "disabled")}, bad: []edit{annotated(names.Inspect, "true")}},
		"inspection mode": {
			good: []edit{all(annotated(names.Inspect, "disabled"), mode(metal3.InspectionModeDisabled)), all(annotated(names.Inspect, ""), mode(metal3.InspectionModeAgent))},
			bad:  []edit{all(annotated(names.Inspect, "disabled"), mode(metal3.InspectionModeAgent))},
		},
		"hardware details annotation": {
			good: []edit{all(annotated(names.HardwareDetails, `{"ramMebibytes":1}`), mode(metal3.InspectionModeDisabled))},
			bad:  []edit{annotated(names.HardwareDetails, `{"ramMebibytes":1}`), all(annotated(names.HardwareDetails, "many"), mode(metal3.InspectionModeDisabled))},
		},
	},
	"BMCEventSubscription": {
		"host name": {
			good: []edit{on(func(s *metal3.BMCEventSubscription) { s.Spec.HostName = "b" })},
			bad:  []edit{on(func(s *metal3.BMCEventSubscription) { s.Spec.HostName = "" })},
		},
		"destination": {
			good: []edit{on(func(s *metal3.BMCEventSubscription) { s.Spec.Destination = "http://192.0.2.1:8080/" })},
			bad: []edit{
				on(func(s *metal3.BMCEventSubscription) { s.Spec.Destination = "http://192.0.2.1:8080" }),
				on(func(s *metal3.BMCEventSubscription) { s.Spec.Destination = "events.example/in" }),
			},
		},
		"headers secret": {
			good: []edit{headers("default"), headers("")},
			bad:  []edit{headers("kube-system")},
		},
	},
	"DataImage": {
		"data image URL": {
			good: []edit{on(func(d *metal3.DataImage) { d.Spec.URL = "ftp://images.example/data.iso" })},
			bad:  []edit{on(func(d *metal3.DataImage) { d.Spec.URL = "file:///data.iso" }), on(func(d *metal3.DataImage) { d.Spec.URL = "" })},
		},
	},
	"HostFirmwareComponents": {
		"update URL": {
			good: []edit{on(func(c *metal3.HostFirmwareComponents) { c.Spec.Updates = []metal3.FirmwareUpdate{} })},
			bad:  []edit{on(func(c *metal3.HostFirmwareComponents) { c.Spec.Updates[0].URL = "file:///bios.bin" })},
		},
	},
	"HostClaim": {
		"selector": {
			good: []edit{selector("rack", "In", "a", "b"), selector("example.com/rack", "exists"), selector("rack", "!=", "")},
			bad: []edit{
				selector("rack", "in"), selector("rack", "near", "a"), selector("rack", "exists", "a"), selector("a rack", "in", "a"), selector("rack", "in", "a/b"),
				on(func(c *metal3.HostClaim) { c.Spec.HostSelector.MatchLabels["-"] = "a" }),
			},
		},
		"image URL":         imageCases["image URL"],
		"checksum":          imageCases["checksum"],
		"OCI checksum":      imageCases["OCI checksum"],
		"reboot annotation": rebootCases,
	},
	"NMStateConfig": {
		"one entry for a card": {
			good: []edit{card("nic2", "52:54:00:00:00:02")},
			bad:  []edit{card("nic1", "52:54:00:00:00:02"), all(card("nic2", "52:54:00:00:00:0a"), card("nic3", "52:54:00:00:00:0A"))},
		},
		"cards have addresses": {
			good: []edit{
				document(`{"name":"nic1"},{"name":"eno2","type":"ethernet"},{"name":"b","type":"bond"}`), document(`{"name":"nic2","state":"absent"}`),
				document(`{"name":"x","identifier":"mac-address","mac-address":"52:54:00:00:00:09"}`), on(func(c *agentv1.NMStateConfig) { c.Spec.NetConfig.Raw = []byte("{}") }),
			},
			bad: []edit{document(`{"name":"nic2","type":"ethernet"}`), document(`{"name":"nic1"},{"name":"nic2"}`)},
		},
		"cards are cards": {
			good: []edit{document(`{"name":"bond0","type":"bond"}`)},
			bad:  []edit{document(`{"name":"nic1","type":"bond"}`)},
		},
		"one address": {
			good: []edit{document(`{"name":"nic1","identifier":"mac-address","mac-address":"52:54:00:00:00:01"}`), document(`{"name":"nic1","mac-address":"52:54:00:00:00:09"}`)},
			bad:  []edit{document(`{"name":"nic1","identifier":"mac-address","mac-address":"52:54:00:00:00:09"}`)},
		},
	},
}

func headers(namespace string) edit {
	return on(func(s *metal3.BMCEventSubscription) {
		s.Spec.HTTPHeadersRef = &corev1.SecretReference{Name: "headers", Namespace: namespace}
	})
}

func selector(key, operator string, values ...string) edit {
	if values == nil {
		values = []string{}
	}
	return on(func(c *metal3.HostClaim) {
		c.Spec.HostSelector.MatchExpressions = []metal3.HostSelectorRequirement{{Key: key, Operator: selection.Operator(operator), Values: values}}
	})
}

func in(state metal3.ProvisioningState) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = state })
}

func detached(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusDetached }

// leftAlone is a host whose machine may be in use: it tells to set spec.externallyProvisioned to keep what is there.
var leftAlone = onHost(func(h *metal3.BareMetalHost) { h.Status.ErrorType = metal3.RegistrationError })

func external(on bool) edit {
	return onHost(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = on })
}

// changes has allowed and refused updates for each rule about changes.
var changes = map[string]map[string][]changeCase{
	"BareMetalHost": {
		"address change": {
			{"while it is registering", in(metal3.StateRegistering), bmc("redfish://192.0.2.9"), true},
			{"while it is detached", all(in(metal3.StateProvisioned), onHost(detached)), bmc("redfish://192.0.2.9"), true},
			{"of a host without one", all(in(metal3.StateUnmanaged), bmc("")), bmc("redfish://192.0.2.9"), true},
			{"while it is available", in(metal3.StateAvailable), bmc("redfish://192.0.2.9"), false},
			{"to none while it is provisioned", in(metal3.StateProvisioned), bmc(""), false},
		},
		"boot MAC change": {
			{"of a host without one", mac(""), mac("52:54:00:00:00:02"), true},
			{"in its case only", mac("52:54:00:00:00:ab"), mac("52:54:00:00:00:AB"), true},
			{"to another", in(metal3.StateRegistering), mac("52:54:00:00:00:02"), false},
			{"to none", in(metal3.StateAvailable), mac(""), false},
		},
		"externally provisioned": {
			{"set while it is available", in(metal3.StateAvailable), external(true), true},
			{"set while it is registering", in(metal3.StateRegistering), external(true), true},
			{"unset", all(in(metal3.StateExternallyProvisioned), external(true)), external(false), true},
			{"set while it is inspected", in(metal3.StateInspecting), external(true), false},
			{"set as a host says that is left alone", all(in(metal3.StateInspecting), leftAlone), external(true), true},
			{"likewise, of when it was deployed", all(in(metal3.StateProvisioning), leftAlone), external(true), true},
			{"set while it is provisioned", in(metal3.StateProvisioned), external(true), false},
		},
	},
	"BMCEventSubscription": {
		"spec change": {
			{"of a label", headers("default"), func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, true},
			{"of a finalizer, with headers", headers("default"), func(o client.Object) { o.SetFinalizers([]string{"bmceventsubscription.metal3.io"}) }, true},
			{"of the destination", headers("default"), on(func(s *metal3.BMCEventSubscription) { s.Spec.Destination = "https://other.example/" }), false},
		},
	},
}
