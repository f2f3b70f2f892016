package hubimages

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestStaticNetworksReachEveryKindOfImage: those of an infra-env are in the archive for a
// minimal image and for network boot, and in the Ignition of a full one that another
// server makes.
func TestStaticNetworksReachEveryKindOfImage(t *testing.T) {
	g := NewWithT(t)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	g.Expect(os.WriteFile(ca, nil, 0o600)).To(Succeed())
	core := testhub.Start(t, testhub.Options{}).Hub
	const id = "0ad6d3b0-1111-4222-8333-000000000001"
	spec := service.InfraEnvSpec{ID: id, Name: "pool", Proxy: &wire.Proxy{HTTPProxy: new("http://proxy.example:3128")}, StaticNetworks: []wire.HostStaticNetworkConfig{{
		NetworkYaml:     "interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.7, prefix-length: 24}]}}]",
		MACInterfaceMap: wire.MACInterfaceMap{{MACAddress: "52:54:00:00:00:01", LogicalNICName: "nic1"}},
	}}}
	_, err := core.EnsureInfraEnv(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	live := Images{
		Hub: func() *service.Hub { return core }, URL: "https://hub.example:8090", Cert: pki.Files{CA: ca},
		Live: func(context.Context, string, string) network.Live { return configured.Live("", nil) },
	}

	const keyfile = "etc/assisted/network/host0/nic1.nmconnection"
	archive, err := live.Initrd(t.Context(), id)
	g.Expect(err).NotTo(HaveOccurred())
	members := map[string]string{}
	for e, err := range embedarea.Members(bytes.NewReader(archive)) {
		g.Expect(err).NotTo(HaveOccurred())
		members[e.Name] = string(e.Data)
	}
	g.Expect(members).To(And(HaveKeyWithValue(keyfile, ContainSubstring("192.0.2.7/24")), HaveKey(HaveSuffix("/pre-network-manager-config.service")), HaveKey(HaveSuffix("/10-proxy.conf"))))

	full, err := live.Ignition(t.Context(), id, false)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(full)).To(And(ContainSubstring(`"/`+keyfile+`"`), ContainSubstring(`"pre-network-manager-config.service"`)))
	minimal, err := live.Ignition(t.Context(), id, true)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(minimal)).NotTo(ContainSubstring(keyfile))

	booted, err := live.spec(t.Context(), id, ownMedium)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(booted.InitrdFiles).To(ContainElement(HaveField("Name", keyfile)), "what the iPXE script names")

	spec.StaticNetworks, spec.Proxy = nil, nil
	_, err = core.EnsureInfraEnv(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(live.Initrd(t.Context(), id)).To(BeEmpty())
}
