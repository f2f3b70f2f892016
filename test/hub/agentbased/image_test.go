//go:build e2e || machine

package agentbased

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/netns"
)

// card is one of a host.
type card struct {
	name, mac, segment string
	// addresses are in CIDR form; gateway leads everywhere, if there is one.
	addresses []string
	gateway   string
}

// imaged makes an image of the input with the shipped program, and hosts with its files, each
// in a network namespace of its own. Nothing of them runs yet.
func imaged(t *testing.T, input map[string]string, hosts [][]card, flags ...string) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), T: t, dir: t.TempDir()}
	config := s.image(input, flags...)
	var topology netns.Topology
	for i, cards := range hosts {
		topology.Hosts = append(topology.Hosts, hostSpec(i, cards))
	}
	network := topology.Build(t)
	for i, cards := range hosts {
		var nics []scenario.NIC
		for _, c := range cards {
			nic := scenario.NIC{Name: c.name, MAC: c.mac, Gateway: c.gateway, SpeedMbps: 25000}
			for _, a := range c.addresses {
				if strings.Contains(a, ":") {
					nic.IPv6 = append(nic.IPv6, a)
				} else {
					nic.IPv4 = append(nic.IPv4, a)
				}
			}
			nics = append(nics, nic)
		}
		root := s.machine(i, nics)
		for _, f := range config.Files {
			s.write(root, f.Path, string(f.Data))
		}
		for _, c := range cards {
			s.write(root, "/sys/class/net/"+c.name+"/address", c.mac+"\n")
		}
		s.inside = append(s.inside, network.Host(topology.Hosts[i].Name))
	}
	s.dials()
	return s
}

func hostSpec(i int, cards []card) netns.HostSpec {
	spec := netns.HostSpec{Name: "host" + string(rune('0'+i))}
	for _, c := range cards {
		spec.NICs = append(spec.NICs, netns.NIC{Name: c.name, MAC: c.mac, Segment: c.segment, Addresses: c.addresses})
		switch {
		case c.gateway == "":
		case strings.Contains(c.gateway, ":"):
			spec.Routes = append(spec.Routes, netns.Route{To: "::/0", Via: c.gateway})
		default:
			spec.Routes = append(spec.Routes, netns.Route{To: "0.0.0.0/0", Via: c.gateway})
		}
	}
	return spec
}

// image is the live system's config of an image that the shipped program makes over a medium
// that nobody boots.
func (s *site) image(input map[string]string, flags ...string) *liveimage.Decoded {
	s.Helper()
	programs, base := filepath.Join(s.dir, "programs"), filepath.Join(s.dir, "live.iso")
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		s.write(programs, "x86_64/"+name, "runs from elsewhere in this test")
	}
	s.Expect(media.WriteFile(base, media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	return s.imageOver(base, input, append([]string{"--host-programs", programs}, flags...)...)
}

// madeISO is the image's file, below the site's folder.
const madeISO = "input/agent.x86_64.iso"

// imageOver is the same over a given medium; the programs of the image are those that are shipped.
func (s *site) imageOver(base string, input map[string]string, flags ...string) *liveimage.Decoded {
	s.Helper()
	dir := filepath.Join(s.dir, filepath.Dir(madeISO))
	s.Expect(os.MkdirAll(dir, 0o755)).To(Succeed()) // an appliance's has nothing in it
	for name, text := range input {
		s.write(dir, name, text)
	}
	p := s.start(s.dir, nil, "ironflow", append([]string{"agent-image", "create", "--dir", dir, "--base-image", base}, flags...)...)
	s.Eventually(p.ended, patience).Should(BeClosed(), p.tail)
	s.Expect(p.command.ProcessState.ExitCode()).To(Equal(0), p.tail)
	s.Log(p.tail())
	f, err := os.Open(filepath.Join(s.dir, madeISO))
	s.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	info, err := f.Stat()
	s.Expect(err).NotTo(HaveOccurred())
	raw, err := liveimage.Ignition(f, info.Size())
	s.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Decode(raw)
	s.Expect(err).NotTo(HaveOccurred())
	return config
}

// dials has the test reach the hub as somebody in the network of the first host.
func (s *site) dials() {
	s.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = s.inside[0].Do(func() (err error) {
			conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return conn, err
	}}}
}

// decides has each host pick its network and find out whether it is node zero.
func (s *site) decides() {
	s.Helper()
	var all []*process
	for _, root := range s.hosts {
		s.ends(s.start(root, nil, "ironflow-agent-based", "pre-network-manager-config"))
		all = append(all, s.start(root, nil, "ironflow-agent-based", "node-zero"))
	}
	for i, p := range all {
		s.Eventually(s.decided(i, p), patience, look).Should(BeTrue(), p.tail)
	}
	env := s.environment(s.hosts[0], places.RendezvousHost)
	s.tokens, s.url = env, env[places.ServiceBaseURL]
}

// decided tells whether node-zero has said what a host is. That of the rendezvous host has ended
// then; on others it runs on.
func (s *site) decided(i int, p *process) func() bool {
	return func() bool {
		select {
		case <-p.ended:
			s.Expect(p.command.ProcessState.ExitCode()).To(Equal(0), p.tail)
			return true
		default:
			return strings.Contains(s.holds(i, "/etc/motd.d/60_rendezvous-host"), "is not the rendezvous host")
		}
	}
}

// ends waits for the good end of a program.
func (s *site) ends(p *process) {
	s.Helper()
	s.Eventually(p.ended, patience).Should(BeClosed(), p.tail)
	s.Expect(p.command.ProcessState.ExitCode()).To(Equal(0), p.tail)
}

// holds is the text of a host's file; empty for none.
func (s *site) holds(i int, path string) string {
	s.Helper()
	raw, err := os.ReadFile(filepath.Join(s.hosts[i], path))
	if os.IsNotExist(err) {
		return ""
	}
	s.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
