package support_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/support"
	"github.com/ironflow/ironflow/hub/wire"
)

// offered is what a hub offers that installs OpenShift.
var offered = operators.Builtin()

func TestLevels(t *testing.T) {
	for name, tc := range map[string]struct {
		query   support.Query
		feature wire.FeatureSupportLevelID
		level   wire.SupportLevel
		reason  wire.IncompatibilityReason
	}{
		"single node": {support.Query{Version: "4.20.1"}, wire.FeatureSupportLevelIDSno, wire.SupportLevelSupported, ""},
		"single node on vSphere": {
			support.Query{Version: "4.20", Platform: wire.PlatformTypeVsphere},
			wire.FeatureSupportLevelIDSno, wire.SupportLevelUnavailable,
			wire.IncompatibilityReasonPlatform,
		},
		"single node on Z, long ago": {support.Query{Version: "4.12.9", Architecture: "s390x"}, wire.FeatureSupportLevelIDSno, wire.SupportLevelUnavailable, wire.IncompatibilityReasonCpuArchitecture},
		"single node on Z":           {support.Query{Version: "4.13.0", Architecture: "s390x"}, wire.FeatureSupportLevelIDSno, wire.SupportLevelSupported, ""},
		"arbiter before its time":    {support.Query{Version: "4.18.30"}, wire.FeatureSupportLevelIDTna, wire.SupportLevelUnavailable, wire.IncompatibilityReasonOpenshiftVersion},
		"arbiter when it was new":    {support.Query{Version: "4.19.7"}, wire.FeatureSupportLevelIDTna, wire.SupportLevelTechPreview, ""},
		"arbiter":                    {support.Query{Version: "4.20.0"}, wire.FeatureSupportLevelIDTna, wire.SupportLevelSupported, ""},
		"two nodes with fencing":     {support.Query{Version: "4.20"}, wire.FeatureSupportLevelIDTnf, wire.SupportLevelUnavailable, ""},
		"SDN in its last release":    {support.Query{Version: "4.14.60"}, wire.FeatureSupportLevelIDSdnNetworkType, wire.SupportLevelSupported, ""},
		"SDN afterwards":             {support.Query{Version: "4.15.0-rc.1"}, wire.FeatureSupportLevelIDSdnNetworkType, wire.SupportLevelUnavailable, wire.IncompatibilityReasonOpenshiftVersion},
		"addresses by DHCP":          {support.Query{Version: "4.14"}, wire.FeatureSupportLevelIDVIPAutoAlloc, wire.SupportLevelSupported, ""},
		"aarch64 is arm64":           {support.Query{Version: "4.11", Architecture: "aarch64"}, wire.FeatureSupportLevelIDClusterManagedNetworking, wire.SupportLevelSupported, ""},
		"full ISO on Oracle": {
			support.Query{Version: "4.20", Platform: "external", ExternalName: "oci"},
			wire.FeatureSupportLevelIDFullISO, wire.SupportLevelUnavailable,
			wire.IncompatibilityReasonPlatform,
		},
		"LVM in its first release":        {support.Query{Version: "4.12.0"}, wire.FeatureSupportLevelIDLvm, wire.SupportLevelSupported, ""},
		"LVM before":                      {support.Query{Version: "4.11.9"}, wire.FeatureSupportLevelIDLvm, wire.SupportLevelUnavailable, ""},
		"virtualization on ARM":           {support.Query{Version: "4.20", Architecture: "aarch64"}, wire.FeatureSupportLevelIDCnv, wire.SupportLevelDevPreview, ""},
		"virtualization on vSphere":       {support.Query{Version: "4.20", Platform: "vsphere"}, wire.FeatureSupportLevelIDCnv, wire.SupportLevelUnavailable, ""},
		"ODF on ARM":                      {support.Query{Version: "4.20", Architecture: "arm64"}, wire.FeatureSupportLevelIDOdf, wire.SupportLevelUnavailable, ""},
		"platform's networking, external": {support.Query{Version: "4.20", Platform: "external"}, wire.FeatureSupportLevelIDPlatformManagedNetworking, wire.SupportLevelSupported, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.query.Check()).To(Succeed())
			g.Expect(support.Features(tc.query, offered)).To(HaveKeyWithValue(string(tc.feature), tc.level))
			for _, f := range support.Detailed(tc.query, offered) {
				if f.FeatureSupportLevelID == tc.feature {
					g.Expect(f.Reason).To(Equal(tc.reason))
				}
			}
		})
	}
}

// TestEveryFeatureOfTheProtocolHasALevel walks the protocol's ids, with and without a platform.
func TestEveryFeatureOfTheProtocolHasALevel(t *testing.T) {
	g := NewWithT(t)
	models, err := protocol.Models()
	g.Expect(err).NotTo(HaveOccurred())
	levels := support.Features(support.Query{Version: "4.20"}, operators.Table{})
	on := support.Features(support.Query{Version: "4.20", Platform: wire.PlatformTypeNone}, offered)
	for _, id := range models["feature-support-level-id"].Self.Enum {
		g.Expect(levels[id]+on[id]).NotTo(BeEmpty(), id)
	}
	g.Expect(on).NotTo(HaveKey("NONE_PLATFORM"), "who has chosen a platform is not offered another")
	for _, id := range models["architecture-support-level-id"].Self.Enum {
		g.Expect(support.Architectures("4.20")).To(HaveKey(id))
	}
	g.Expect(support.Architectures("4.12.3")["PPC64LE_ARCHITECTURE"]).To(Equal(wire.SupportLevelTechPreview))
	g.Expect(support.Architectures("4.9")["ARM64_ARCHITECTURE"]).To(Equal(wire.SupportLevelUnsupported))
	for _, o := range support.Operators(support.Query{Version: "4.20"}, operators.Table{}) {
		g.Expect(levels).To(HaveKeyWithValue(string(o.FeatureSupportLevelID), wire.SupportLevelUnavailable), "what this hub does not install")
	}
}

// TestWhatExcludesIsExcluded: a feature that cannot be combined with another is not
// to be combined with by the other one either.
func TestIncompatibilitiesAreMutual(t *testing.T) {
	g := NewWithT(t)
	without := map[wire.FeatureSupportLevelID][]wire.FeatureSupportLevelID{}
	for _, q := range []support.Query{{Version: "4.20"}, {Version: "4.20", Platform: wire.PlatformTypeBaremetal}} {
		for _, f := range support.Detailed(q, offered) {
			without[f.FeatureSupportLevelID] = f.Incompatibilities
		}
		for _, o := range support.Operators(q, offered) {
			without[o.FeatureSupportLevelID] = o.Incompatibilities
		}
	}
	for id, others := range without {
		for _, other := range others {
			g.Expect(without[other]).To(ContainElement(id), "%s and %s", id, other)
		}
	}
}

func TestQueriesThatMakeNoSense(t *testing.T) {
	for name, q := range map[string]support.Query{
		"no version":         {},
		"version":            {Version: "latest"},
		"architecture":       {Version: "4.20", Architecture: "vax"},
		"platform":           {Version: "4.20", Platform: "moon"},
		"name of none":       {Version: "4.20", ExternalName: "oci"},
		"name of baremetal":  {Version: "4.20", Platform: "baremetal", ExternalName: "oci"},
		"version of letters": {Version: "4.x"},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(q.Check()).NotTo(Succeed()) })
	}
}

func TestPlatforms(t *testing.T) {
	machine := func(vendor string) *wire.Inventory {
		return &wire.Inventory{SystemVendor: &wire.SystemVendor{Manufacturer: vendor}}
	}
	for name, tc := range map[string]struct {
		singleNode bool
		machines   []*wire.Inventory
		want       []wire.PlatformType
	}{
		"no machines": {false, nil, []wire.PlatformType{"baremetal", "none", "external", "nutanix", "vsphere"}},
		"metal":       {false, []*wire.Inventory{machine("Dell Inc.")}, []wire.PlatformType{"baremetal", "none", "external"}},
		"vSphere":     {false, []*wire.Inventory{machine("VMware, Inc."), machine("VMware, Inc.")}, []wire.PlatformType{"baremetal", "none", "external", "vsphere"}},
		"mixed":       {false, []*wire.Inventory{machine("VMware, Inc."), machine("Nutanix")}, []wire.PlatformType{"baremetal", "none", "external"}},
		"unknown yet": {false, []*wire.Inventory{machine("Nutanix"), nil}, []wire.PlatformType{"baremetal", "none", "external"}},
		"single node": {true, []*wire.Inventory{machine("Dell Inc.")}, []wire.PlatformType{"none", "external"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(support.Platforms(tc.singleNode, tc.machines)).To(Equal(tc.want))
		})
	}
}

func TestOperatorsInDetail(t *testing.T) {
	g := NewWithT(t)
	named := func(list []wire.Operator, name string) wire.Operator {
		i := slices.IndexFunc(list, func(o wire.Operator) bool { return o.Name == name })
		g.Expect(i).NotTo(Equal(-1), name)
		return list[i]
	}
	all := support.Operators(support.Query{Version: "4.16.3"}, offered)
	g.Expect(all).To(HaveLen(28))
	g.Expect(named(all, "odf")).To(Equal(wire.Operator{
		FeatureSupportLevelID: wire.FeatureSupportLevelIDOdf, Name: "odf", SupportLevel: wire.SupportLevelSupported,
		Dependencies: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDLso}, Incompatibilities: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDLvm, wire.FeatureSupportLevelIDSno},
	}))
	g.Expect(named(all, "loki")).To(And(HaveField("SupportLevel", wire.SupportLevelUnavailable), HaveField("Reason", wire.IncompatibilityReasonOpenshiftVersion)))
	own, err := offered.With([]byte("operators:\n- {name: own, title: Own, namespace: own, package: own, minutes: 10}\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(support.Operators(support.Query{Version: "4.20"}, own)).To(HaveLen(28), "the protocol has no id for a site's own")
}

func TestBundlesOfWhatIsThere(t *testing.T) {
	g := NewWithT(t)
	all := support.Bundles(support.Query{}, false, offered)
	g.Expect(all).To(HaveLen(2))
	g.Expect(all[0]).To(And(HaveField("ID", "virtualization"), HaveField("Operators", ContainElements("cnv", "node-healthcheck")), HaveField("OptionalOperators", BeEmpty())))
	g.Expect(all[1]).To(And(HaveField("ID", "openshift-ai"), HaveField("OptionalOperators", ConsistOf("nvidia-gpu", "amd-gpu"))))
	g.Expect(support.Bundles(support.Query{}, true, offered)[0].Operators).To(And(ContainElement("cnv"), Not(ContainElement("node-healthcheck"))), "a single node has no others to remedy it")
	g.Expect(support.Bundles(support.Query{Version: "4.20", Architecture: "arm64"}, false, offered)).To(HaveLen(1))
	g.Expect(support.Bundles(support.Query{}, false, operators.Table{})).To(BeEmpty())
}

func TestUsage(t *testing.T) {
	g := NewWithT(t)
	g.Expect(support.Usage(&wire.Cluster{})).To(Equal("{}"))
	g.Expect(support.Usage(&wire.Cluster{
		HTTPProxy: "http://user:secret@proxy.example", NetworkType: new("OVNKubernetes"),
		DiskEncryption:     &wire.DiskEncryption{EnableOn: new("all"), Mode: new("tpmv2")},
		MonitoredOperators: []wire.MonitoredOperator{{Name: "cvo", OperatorType: wire.OperatorTypeBuiltin}, {Name: "nvidia-gpu", OperatorType: wire.OperatorTypeOlm}},
	})).To(MatchJSON(`{"Proxy":{"id":"PROXY","name":"Proxy"},"OVN network type":{"id":"OVN_NETWORK_TYPE","name":"OVN network type"},
		"Disk encryption":{"id":"DISK_ENCRYPTION","name":"Disk encryption","data":{"enable_on":{"value":"all"},"mode":{"value":"tpmv2"}}},
		"NVIDIA-GPU":{"id":"NVIDIA_GPU","name":"NVIDIA-GPU"}}`))
}
