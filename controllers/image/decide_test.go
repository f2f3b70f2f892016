package image

import (
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

func plain(change ...func(*Input)) Input {
	image := &metal3v1.PreprovisioningImage{}
	image.Name, image.Namespace = "node-0", "site"
	image.Spec.Architecture = "x86_64"
	image.Spec.AcceptFormats = []metal3v1.ImageFormat{metal3v1.ImageFormatISO, metal3v1.ImageFormatInitRD}
	in := Input{Image: image, Architectures: []string{"x86_64"}}
	for _, c := range change {
		c(&in)
	}
	return in
}

func labelled(status corev1.ConditionStatus, reason string) func(*Input) {
	return func(in *Input) {
		in.Image.Labels = map[string]string{names.InfraEnvLabel: "edge"}
		in.Labelled = true
		in.InfraEnv = &agentv1.InfraEnv{}
		in.InfraEnv.Name = "edge"
		in.InfraEnv.Spec.CpuArchitecture = "x86_64"
		if reason != "" {
			in.InfraEnv.Status.Conditions = []agentv1.Condition{{Type: agentv1.ConditionImageCreated, Status: status, Reason: reason, Message: "as the hub says"}}
		}
	}
}

func TestDecideBuilds(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want func(g *WithT, r *Request)
	}{
		"without a label IPA boots alone": {plain(), func(g *WithT, r *Request) {
			g.Expect(r.Agent).To(BeFalse())
			g.Expect(r.Reason).To(Equal("ImageSuccess"))
			g.Expect(r.Hostname).To(Equal("node-0"))
		}},
		"with an InfraEnv the agent rides along, and Ready says so": {plain(labelled("True", "ImageCreated")), func(g *WithT, r *Request) {
			g.Expect(r.Agent).To(BeTrue())
			g.Expect(r.Reason).To(Equal("InfraEnvAvailable"))
		}},
		"arm64 and aarch64 are one architecture": {plain(labelled("True", "ImageCreated"), func(in *Input) {
			in.Image.Spec.Architecture, in.Architectures = "aarch64", []string{"aarch64"}
			in.InfraEnv.Spec.CpuArchitecture = "arm64"
		}), func(g *WithT, r *Request) { g.Expect(r.Architecture).To(Equal("aarch64")) }},
		"a host that boots kernels gets an initrd": {
			plain(func(in *Input) { in.Image.Spec.AcceptFormats = []metal3v1.ImageFormat{metal3v1.ImageFormatInitRD} }),
			func(g *WithT, r *Request) { g.Expect(r.Format).To(Equal(metal3v1.ImageFormatInitRD)) },
		},
		"the first accepted format counts": {plain(func(in *Input) {
			in.Image.Spec.AcceptFormats = []metal3v1.ImageFormat{"floppy", metal3v1.ImageFormatInitRD, metal3v1.ImageFormatISO}
		}), func(g *WithT, r *Request) { g.Expect(r.Format).To(Equal(metal3v1.ImageFormatInitRD)) }},
		"the boot card is known for network boot": {plain(func(in *Input) {
			in.Host = &metal3v1.BareMetalHost{Spec: metal3v1.BareMetalHostSpec{BootMACAddress: "52:54:00:00:00:01"}}
		}), func(g *WithT, r *Request) { g.Expect(r.MACs).To(Equal([]string{"52:54:00:00:00:01"})) }},
		"what we cannot translate goes to the live system's nmstatectl": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName, in.Live.Nmstatectl = "net", true
			in.NetworkData = map[string][]byte{"nmstate": []byte("interfaces: [{name: a, type: vxlan}]"), "b.nmconnection": []byte("[connection]\n")}
		}), func(g *WithT, r *Request) {
			g.Expect(r.Network.Nmstate).To(Equal("interfaces: [{name: a, type: vxlan}]"))
			g.Expect(r.Network.Keyfiles).To(HaveKey("b.nmconnection"))
		}},
		"an InfraEnv's network, too": {plain(func(in *Input) {
			in.Live.Nmstatectl = true
			in.NMState = nmState("node-0", "02:00:00:00:00:01", `{"interfaces":[{"name":"uplink"},{"name":"a","type":"vxlan"}]}`)
		}), func(g *WithT, r *Request) {
			g.Expect(r.Network.Nmstate).To(And(ContainSubstring("vxlan"), ContainSubstring("02:00:00:00:00:01")))
			g.Expect(r.Network.Keyfiles).To(BeEmpty())
		}},
		"what we can translate does not": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName, in.Live.Nmstatectl = "net", true
			in.NetworkData = map[string][]byte{"nmstate": []byte("interfaces: [{name: eth0}]")}
		}), func(g *WithT, r *Request) {
			g.Expect(r.Network.Nmstate).To(BeEmpty())
			g.Expect(r.Network.Keyfiles).To(HaveLen(1))
		}},
		"deadlines come from the host's annotation": {plain(func(in *Input) {
			in.Host = &metal3v1.BareMetalHost{}
			in.Host.Annotations = map[string]string{names.StepDeadlines: "start=5m"}
		}), func(g *WithT, r *Request) { g.Expect(r.Deadlines.StartSeconds).To(Equal(300)) }},
		"keyfiles are taken from the network data": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName = "net"
			in.NetworkData = map[string][]byte{"eth0.nmconnection": []byte("[connection]\nid=eth0\ntype=ethernet\n")}
		}), func(g *WithT, r *Request) { g.Expect(r.Network.Keyfiles).To(HaveLen(1)) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := Decide(tc.in)
			g.Expect(v.Refused).To(BeNil())
			tc.want(g, v.Build)
		})
	}
}

func TestDecideRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		in     Input
		reason string
		human  bool
	}{
		"a format that nobody builds": {plain(func(in *Input) { in.Image.Spec.AcceptFormats = []metal3v1.ImageFormat{"floppy"} }), "ConfigurationError", true},
		"a labelled host that accepts nothing": {plain(labelled("True", "ImageCreated"), func(in *Input) {
			in.Image.Spec.AcceptFormats = nil
		}), "UnsupportedImageFormat", true},
		"an architecture without a base":      {plain(func(in *Input) { in.Image.Spec.Architecture = "s390x" }), "ConfigurationError", true},
		"a label without its InfraEnv":        {plain(labelled("True", ""), func(in *Input) { in.InfraEnv = nil }), "InfraEnvNotAvailable", false},
		"an InfraEnv of another architecture": {plain(labelled("True", "ImageCreated"), func(in *Input) { in.InfraEnv.Spec.CpuArchitecture = "aarch64" }), "InfraEnvArchMismatch", true},
		"an InfraEnv the hub has not seen":    {plain(labelled("True", "")), "WaitingForInfraEnvImageToBeCreated", false},
		"an InfraEnv the hub refused":         {plain(labelled("False", "ImageCreationError")), "ImageCreationError", true},
		"an installation at each boot": {plain(labelled("True", "ImageCreated"), func(in *Input) {
			in.InfraEnv.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "append", Value: "coreos.inst.install_dev=/dev/sda"}}
		}), "ConfigurationError", true},
		"a missing network Secret": {plain(func(in *Input) { in.NetworkDataMissing = true }), "MissingNetworkData", true},
		"network data nobody understands": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName = "net"
			in.NetworkData = map[string][]byte{"nmstate": []byte("interfaces: 7")}
		}), "ImageBuildInvalid", true},
		"network data that nobody can do": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName = "net"
			in.NetworkData = map[string][]byte{"nmstate": []byte("interfaces: [{name: a, type: vxlan}]")}
		}), "ImageBuildInvalid", true},
		"network data with Open vSwitch": {plain(func(in *Input) {
			in.Image.Spec.NetworkDataName, in.Live.Nmstatectl = "net", true
			in.NetworkData = map[string][]byte{"nmstate": []byte("interfaces: [{name: a, type: ovs-bridge}]")}
		}), "ImageBuildInvalid", true},
		"a map of addresses with one name twice": {plain(func(in *Input) {
			in.NMState = nmState("node-0", "02:00:00:00:00:01", `{"interfaces":[{"name":"uplink"}]}`)
			in.NMState.Spec.Interfaces = append(in.NMState.Spec.Interfaces, in.NMState.Spec.Interfaces[0])
		}), "ImageBuildInvalid", true},
		"a deadline nobody understands": {plain(func(in *Input) {
			in.Host = &metal3v1.BareMetalHost{}
			in.Host.Annotations = map[string]string{names.StepDeadlines: "soon"}
		}), "ConfigurationError", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := Decide(tc.in)
			g.Expect(v.Build).To(BeNil())
			g.Expect(v.Refused).To(And(HaveField("Reason", tc.reason), HaveField("Error", tc.human), HaveField("Message", Not(BeEmpty()))))
		})
	}
}

func TestAWaitKeepsTheImageThatHostsHave(t *testing.T) {
	g := NewWithT(t)
	image := plain().Image
	built(image, &Request{Format: metal3v1.ImageFormatISO, Reason: ReasonSuccess}, images.Built{URL: "http://images.example/1.iso"}, inputs{format: metal3v1.ImageFormatISO})
	refused(image, &Refusal{Reason: "InfraEnvNotAvailable", Message: "m"})
	g.Expect(image.Status.ImageUrl).To(Equal("http://images.example/1.iso"))
	refused(image, &Refusal{Reason: "ConfigurationError", Message: "m", Error: true})
	g.Expect(image.Status.ImageUrl).To(BeEmpty())
}
