package vips

import (
	"context"
	"log/slog"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

// What real networks answer is in test/netns; here, what needs no packet.

func TestOwnAddressesAreInUse(t *testing.T) {
	g := NewWithT(t)
	env := probe.Env{Log: slog.New(slog.DiscardHandler), Interfaces: func(context.Context) ([]wire.Interface, error) {
		return []wire.Interface{{Name: "gone0", Type: "physical", HasCarrier: true, Ipv4Addresses: []string{"192.0.2.10/24"}, Ipv6Addresses: []string{"2001:db8::10/64"}}}, nil
	}}
	result := Check.Runner(env).Run(t.Context(), []string{`[{"vip":"192.0.2.10","vip_type":"api"},{"vip":"192.0.2.99","vip_type":"ingress"},{"vip":"2001:db8::10","vip_type":"ingress"}]`})
	g.Expect(result.Exit).To(BeZero(), result.Error)
	g.Expect(result.Output).To(MatchJSON(`[{"vip":"192.0.2.10","vip_type":"api","verification":"failed"},{"vip":"2001:db8::10","vip_type":"ingress","verification":"failed"}]`),
		"what cannot be asked for is left out")

	result = Check.Runner(env).Run(t.Context(), []string{`[{"vip":"192.0.2.99","vip_type":"ingress"}]`})
	g.Expect(result.Exit).To(Equal(int64(-1)))
	g.Expect(result.Error).To(HavePrefix("this host cannot ask for 192.0.2.99: "))
}

func TestACheckThatIsEndedKnowsNothing(t *testing.T) {
	g := NewWithT(t)
	env := probe.Env{Log: slog.New(slog.DiscardHandler), Interfaces: func(context.Context) ([]wire.Interface, error) { return nil, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := Check.Runner(env).Run(ctx, []string{`[{"vip":"127.0.0.2","vip_type":"api"}]`})
	g.Expect(result.Exit).To(Equal(int64(-1)), "silence of a cut-off check is no proof")
	g.Expect(result.Output).To(BeEmpty())
}

func TestAddressesThatNoHostCanHave(t *testing.T) {
	for _, vip := range []string{"0.0.0.0", "224.0.0.1", "ff02::1", "::", "fe80::1%eth0"} {
		g := NewWithT(t)
		result := Check.Runner(probe.Env{}).Run(t.Context(), []string{`[{"vip":"` + vip + `","vip_type":"api"}]`})
		g.Expect(result.Exit).To(Equal(int64(-1)))
		g.Expect(result.Error).To(ContainSubstring("is not an address"))
	}
}
