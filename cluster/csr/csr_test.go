package csr_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"net"
	"net/netip"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

func key(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func encode(t testing.TB, template x509.CertificateRequest, k crypto.Signer) []byte {
	t.Helper()
	raw, err := x509.CreateCertificateRequest(rand.Reader, &template, k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: raw})
}

func subject(name string) pkix.Name {
	return pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}
}

// client is what a kubelet with a bootstrap token asks for; serving what it asks for later.
func client(t testing.TB, k crypto.Signer) (csr.Request, x509.CertificateRequest) {
	template := x509.CertificateRequest{Subject: subject("node-1")}
	return csr.Request{
		Name: "csr-1", UID: "u", Signer: csr.Client, Username: "system:bootstrap:abcdef", Groups: []string{"system:bootstrappers", "system:authenticated"},
		Usages: []string{"digital signature", "client auth"}, PEM: encode(t, template, k),
	}, template
}

func serving(t testing.TB, k crypto.Signer) (csr.Request, x509.CertificateRequest) {
	template := x509.CertificateRequest{Subject: subject("node-1"), DNSNames: []string{"node-1"}, IPAddresses: []net.IP{net.ParseIP("192.0.2.1")}}
	return csr.Request{
		Name: "csr-2", UID: "v", Signer: csr.Serving, Username: "system:node:node-1", Groups: []string{"system:nodes", "system:authenticated"},
		Usages: []string{"digital signature", "server auth"}, PEM: encode(t, template, k),
	}, template
}

func world() csr.World {
	return csr.World{
		Hosts: []facts.Host{
			{
				ID: "h1", Name: "node-1", Status: wire.HostStatusInstallingInProgress, Stage: wire.HostStageRebooting,
				Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")},
			},
			{ID: "h2", Name: "node-2", Status: wire.HostStatusInstallingInProgress, Stage: wire.HostStageRebooting, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.2")}},
		},
		Nodes: map[string]facts.Node{},
		API: facts.API{
			Names: []string{"api.inside.example.com"}, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.100")}, Services: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")},
		},
	}
}

type change = func(r *csr.Request, t *x509.CertificateRequest, w *csr.World)

func TestClientRequests(t *testing.T) {
	k := key(t)
	for name, tc := range map[string]struct {
		change change
		want   csr.Decision
		reason csr.Reason
	}{
		"as a kubelet asks": {func(*csr.Request, *x509.CertificateRequest, *csr.World) {}, csr.Approve, csr.Approved},
		"with key encipherment": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Usages = append(r.Usages, "key encipherment")
		}, csr.Approve, csr.Approved},
		"by the account of OpenShift": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Username, r.Groups = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper", nil
		}, csr.Approve, csr.Approved},
		"of a host that joined": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Stage = wire.HostStageJoined
			w.Nodes["node-1"] = facts.Node{Name: "node-1"}
		}, csr.Approve, csr.Approved},
		"of a day-2 host": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Status = wire.HostStatusAddedToExistingCluster
			w.Hosts[0].Stage = wire.HostStageDone
		}, csr.Approve, csr.Approved},
		"renewed by the node": {func(r *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			r.Username, r.Groups = "system:node:node-1", []string{"system:nodes"}
			w.Nodes["node-1"] = facts.Node{Name: "node-1", Ready: true}
			w.Hosts[0].Status = wire.HostStatusInstalled
		}, csr.Approve, csr.Approved},
		"another signer's": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Signer = "kubernetes.io/kube-apiserver-client"
		}, csr.Ignore, ""},
		"settled": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) { r.Settled = true }, csr.Ignore, ""},
		"not restarted": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Stage = wire.HostStageWritingImageToDisk
		}, csr.Wait, csr.NotInstalled},
		"cancelled": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Status = wire.HostStatusCancelled
		}, csr.Leave, csr.NotInstalled},
		"unknown host": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.Subject = subject("node-9") }, csr.Leave, csr.UnknownHost},
		"host without a name": {func(_ *csr.Request, c *x509.CertificateRequest, w *csr.World) {
			c.Subject = subject("")
			w.Hosts[0].Name = ""
		}, csr.Leave, csr.NoNode},
		"two hosts of a name": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) { w.Hosts[1].Name = "node-1" }, csr.Leave, csr.TwoHosts},
		"administrators": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.Subject.Organization = []string{"system:masters"}
		}, csr.Leave, csr.NoNode},
		"two organisations": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.Subject.Organization = []string{"system:nodes", "system:masters"}
		}, csr.Leave, csr.NoNode},
		"no node's name": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.Subject.CommonName = "node-1" }, csr.Leave, csr.NoNode},
		"a unit in the subject": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.Subject.OrganizationalUnit = []string{"x"}
		}, csr.Leave, csr.Unreadable},
		"a second name": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.Subject.ExtraNames = []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "admin"}, {Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "system:node:node-1"}}
		}, csr.Leave, csr.NoNode},
		"server usage": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Usages = append(r.Usages, "server auth")
		}, csr.Leave, csr.WrongUsages},
		"a usage twice": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Usages = append(r.Usages, "client auth")
		}, csr.Leave, csr.WrongUsages},
		"no usage":   {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) { r.Usages = nil }, csr.Leave, csr.WrongUsages},
		"with names": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.DNSNames = []string{"node-1"} }, csr.Leave, csr.NamesInIt},
		"another extension": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Value: []byte{0x30, 3, 1, 1, 0xff}}}
		}, csr.Leave, csr.Unreadable},
		"by a user": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Username, r.Groups = "eve", []string{"system:authenticated"}
		}, csr.Leave, csr.WrongAsker},
		"by another node": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Username, r.Groups = "system:node:node-2", []string{"system:nodes"}
		}, csr.Leave, csr.WrongAsker},
		"by a user called as a node": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Username, r.Groups = "system:node:node-1", []string{"system:authenticated"}
		}, csr.Leave, csr.WrongAsker},
		"token for a node that runs": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Nodes["node-1"] = facts.Node{Name: "node-1", Ready: true}
		}, csr.Wait, csr.NodeRuns},
		"token for a node of a host that was added": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Nodes["node-1"] = facts.Node{Name: "node-1"}
			w.Hosts[0].Status = wire.HostStatusAddedToExistingCluster
		}, csr.Leave, csr.NodeRuns},
		"token for a node that is Done": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Nodes["node-1"] = facts.Node{Name: "node-1"}
			w.Hosts[0].Stage = wire.HostStageDone
		}, csr.Leave, csr.NodeRuns},
	} {
		t.Run(name, func(t *testing.T) { check(t, k, client, tc.change, tc.want, tc.reason) })
	}
}

func TestServingRequests(t *testing.T) {
	k := key(t)
	for name, tc := range map[string]struct {
		change change
		want   csr.Decision
		reason csr.Reason
	}{
		"as a kubelet asks": {func(*csr.Request, *x509.CertificateRequest, *csr.World) {}, csr.Approve, csr.Approved},
		"both addresses": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.IPAddresses = append(c.IPAddresses, net.ParseIP("2001:db8::1"))
		}, csr.Approve, csr.Approved},
		"no names": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.DNSNames = nil }, csr.Approve, csr.Approved},
		"installed long ago": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Status, w.Hosts[0].Stage = wire.HostStatusInstalled, wire.HostStageDone
		}, csr.Approve, csr.Approved},
		"before its node": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) { delete(w.Nodes, "node-1") }, csr.Wait, csr.NoSuchNode},
		"another's address": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.IPAddresses = append(c.IPAddresses, net.ParseIP("192.0.2.2"))
		}, csr.Leave, csr.WrongAddress},
		"an address of the API": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.IPAddresses = []net.IP{net.ParseIP("10.96.0.1")}
		}, csr.Leave, csr.WrongAddress},
		"no address":             {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.IPAddresses = nil }, csr.Leave, csr.WrongAddress},
		"host without addresses": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) { w.Hosts[0].Addresses = nil }, csr.Leave, csr.WrongAddress},
		"the API's name": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.DNSNames = append(c.DNSNames, "kubernetes.default.svc")
		}, csr.Leave, csr.WrongNames},
		"a wildcard": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) { c.DNSNames = []string{"*"} }, csr.Leave, csr.WrongNames},
		"an e-mail address": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.EmailAddresses = []string{"a@example.com"}
		}, csr.Leave, csr.WrongNames},
		"a URI": {func(_ *csr.Request, c *x509.CertificateRequest, _ *csr.World) {
			c.URIs = []*url.URL{{Scheme: "spiffe", Host: "x"}}
		}, csr.Leave, csr.WrongNames},
		"by a bootstrap token": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Username, r.Groups = "system:bootstrap:abcdef", []string{"system:bootstrappers"}
		}, csr.Leave, csr.WrongAsker},
		"by another node": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) { r.Username = "system:node:node-2" }, csr.Leave, csr.WrongAsker},
		"client usage": {func(r *csr.Request, _ *x509.CertificateRequest, _ *csr.World) {
			r.Usages = []string{"digital signature", "client auth"}
		}, csr.Leave, csr.WrongUsages},
		"a host that was unbound": {func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[0].Status = wire.HostStatusUnbinding
		}, csr.Leave, csr.NotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, k, serving, func(r *csr.Request, c *x509.CertificateRequest, w *csr.World) {
				w.Nodes["node-1"] = facts.Node{Name: "node-1", Ready: true}
				tc.change(r, c, w)
			}, tc.want, tc.reason)
		})
	}
}

func check(t *testing.T, k crypto.Signer, base func(testing.TB, crypto.Signer) (csr.Request, x509.CertificateRequest), change change, want csr.Decision, reason csr.Reason) {
	t.Helper()
	g := NewWithT(t)
	r, template := base(t, k)
	w := world()
	change(&r, &template, &w)
	r.PEM = encode(t, template, k)
	v := csr.Judge(r, w)
	g.Expect(v.Decision).To(Equal(want), "%s: %s", v.Reason, v.Message)
	g.Expect(v.Reason).To(Equal(reason), v.Message)
}

func TestKeysAndEncodings(t *testing.T) {
	g := NewWithT(t)
	k := key(t)
	r, template := client(t, k)
	good := r.PEM
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	g.Expect(err).NotTo(HaveOccurred())
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	g.Expect(err).NotTo(HaveOccurred())
	block, _ := pem.Decode(good)
	broken := append([]byte(nil), block.Bytes...)
	broken[len(broken)-1] ^= 1
	for name, tc := range map[string]struct {
		pem  []byte
		want csr.Decision
	}{
		"RSA 2048":            {encode(t, template, large), csr.Approve},
		"RSA 1024":            {encode(t, template, small), csr.Leave},
		"two blocks":          {append(append([]byte(nil), good...), good...), csr.Leave},
		"not signed with it":  {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: broken}), csr.Leave},
		"another type":        {pem.EncodeToMemory(&pem.Block{Type: "NEW CERTIFICATE REQUEST", Bytes: block.Bytes}), csr.Leave},
		"no PEM":              {[]byte("hello"), csr.Leave},
		"empty":               {nil, csr.Leave},
		"very long":           {append(append([]byte(nil), good...), make([]byte, 64<<10)...), csr.Leave},
		"text in front of it": {append([]byte("hello\n"), good...), csr.Approve},
	} {
		t.Run(name, func(t *testing.T) {
			r.PEM = tc.pem
			NewWithT(t).Expect(csr.Judge(r, world()).Decision).To(Equal(tc.want))
		})
	}
}

// TestWhoAsksWithTooMuchIsToldWhy: it is not parsed, whatever is in it.
func TestWhoAsksWithTooMuchIsToldWhy(t *testing.T) {
	g := NewWithT(t)
	r, _ := client(t, key(t))
	r.PEM = append(r.PEM, bytes.Repeat([]byte("\n"), 1<<20-len(r.PEM))...)
	v := csr.Judge(r, world())
	g.Expect(v).To(And(HaveField("Decision", csr.Leave), HaveField("Reason", csr.Unreadable), HaveField("Message", ContainSubstring("1048576 bytes"))))
}

// TestNobodyServesForTheAPI: what the hub has of a host's addresses, and of its name, is what the host itself has said. One
// that says that it has an address of the API, or another host's, gets no certificate for that: the authority of
// kubelets' certificates is the one by which everybody knows the API.
func TestNobodyServesForTheAPI(t *testing.T) {
	k := key(t)
	claims := func(address string) change {
		return func(_ *csr.Request, c *x509.CertificateRequest, w *csr.World) {
			c.IPAddresses = append(c.IPAddresses, net.ParseIP(address))
			w.Hosts[0].Addresses = append(w.Hosts[0].Addresses, netip.MustParseAddr(address))
		}
	}
	called := func(name string) change {
		return func(r *csr.Request, c *x509.CertificateRequest, w *csr.World) {
			c.Subject, c.DNSNames, r.Username = subject(name), []string{name}, "system:node:"+name
			w.Hosts[0].Name = name
			w.Nodes[name] = facts.Node{Name: name, Ready: true}
		}
	}
	both := func(all ...change) change {
		return func(r *csr.Request, c *x509.CertificateRequest, w *csr.World) {
			for _, one := range all {
				one(r, c, w)
			}
		}
	}
	other := func(n facts.Node) change {
		return func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) { w.Nodes["node-2"] = n }
	}
	controlPlane := func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) { w.Hosts[0].Role = wire.HostRoleMaster }
	second := netip.MustParseAddr("192.0.2.2")
	for name, tc := range map[string]struct {
		change change
		want   csr.Decision
		reason csr.Reason
	}{
		"the virtual address":                   {claims("192.0.2.100"), csr.Leave, csr.NotTheAPI},
		"the address in the service network":    {claims("10.96.0.1"), csr.Leave, csr.NotTheAPI},
		"any address of services":               {claims("10.96.0.10"), csr.Leave, csr.NotTheAPI},
		"one of its own behind them":            {claims("192.0.2.77"), csr.Approve, csr.Approved},
		"the name in DNS":                       {called("api.inside.example.com"), csr.Leave, csr.NotTheAPI},
		"the service's short name":              {called("kubernetes"), csr.Leave, csr.NotTheAPI},
		"the service's name":                    {called("kubernetes.default.svc"), csr.Leave, csr.NotTheAPI},
		"the service's whole name":              {called("kubernetes.default.svc.cluster.local"), csr.Leave, csr.NotTheAPI},
		"its own machine":                       {called("localhost"), csr.Leave, csr.NotTheAPI},
		"a name that only begins so":            {called("kubernetes-1"), csr.Approve, csr.Approved},
		"one of the control plane":              {both(controlPlane, claims("192.0.2.100")), csr.Approve, csr.Approved},
		"one of the control plane for services": {both(controlPlane, claims("10.96.0.1")), csr.Leave, csr.NotTheAPI},
		"another host's, which comes up":        {claims("192.0.2.2"), csr.Leave, csr.TwoAddresses},
		"another host's, which runs":            {both(claims("192.0.2.2"), other(facts.Node{Name: "node-2", Ready: true, Addresses: []netip.Addr{second}})), csr.Leave, csr.TwoAddresses},
		"another host's, which is called off": {both(claims("192.0.2.2"), func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[1].Status = wire.HostStatusCancelled
		}), csr.Approve, csr.Approved},
		"that of a host whose node is lost": {both(claims("192.0.2.2"), other(facts.Node{Name: "node-2", Silent: true, Addresses: []netip.Addr{second}})), csr.Approve, csr.Approved},
		"that of a host whose node was deleted": {both(claims("192.0.2.2"), func(_ *csr.Request, _ *x509.CertificateRequest, w *csr.World) {
			w.Hosts[1].Status = wire.HostStatusInstalled
		}), csr.Approve, csr.Approved},
		"one that another host had before it was installed": {both(claims("192.0.2.2"), other(facts.Node{Name: "node-2", Ready: true})), csr.Approve, csr.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, k, serving, func(r *csr.Request, c *x509.CertificateRequest, w *csr.World) {
				w.Nodes["node-1"] = facts.Node{Name: "node-1", Ready: true}
				tc.change(r, c, w)
			}, tc.want, tc.reason)
		})
	}
}

// FuzzJudge: whatever a request holds, one that is approved has the subject, the names
// and the addresses of a host, and the certificate would be the node's alone.
func FuzzJudge(f *testing.F) {
	k := key(f)
	c, _ := client(f, k)
	s, _ := serving(f, k)
	f.Add(c.PEM, c.Username, "system:bootstrappers", "client auth", true)
	f.Add(s.PEM, s.Username, "system:nodes", "server auth", false)
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n"), "", "", "", true)
	f.Fuzz(func(t *testing.T, raw []byte, user, group, usage string, forClient bool) {
		g := NewWithT(t)
		r := csr.Request{Signer: csr.Serving, Username: user, Groups: []string{group}, Usages: []string{"digital signature", usage}, PEM: raw}
		if forClient {
			r.Signer = csr.Client
		}
		w := world()
		w.Nodes["node-1"] = facts.Node{Name: "node-1"}
		v := csr.Judge(r, w)
		if v.Decision != csr.Approve {
			g.Expect(v.Reason).NotTo(BeEmpty())
			g.Expect(len(v.Message)).To(BeNumerically("<", 2000))
			return
		}
		block, _ := pem.Decode(raw)
		q, err := x509.ParseCertificateRequest(block.Bytes)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(q.CheckSignature()).To(Succeed())
		g.Expect(q.Subject.CommonName).To(BeElementOf("system:node:node-1", "system:node:node-2"))
		g.Expect(q.Subject.Organization).To(Equal([]string{"system:nodes"}))
		g.Expect(len(q.EmailAddresses) + len(q.URIs)).To(BeZero())
		if forClient {
			g.Expect(len(q.DNSNames) + len(q.IPAddresses)).To(BeZero())
			return
		}
		g.Expect(user).To(Equal(q.Subject.CommonName))
	})
}

func TestRulesAreTold(t *testing.T) {
	g := NewWithT(t)
	for _, r := range csr.Rules() {
		g.Expect(r.Says).NotTo(BeEmpty(), r.Reason)
	}
}
