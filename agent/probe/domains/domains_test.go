package domains_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/domains"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/test/netns/nameserver"
)

// resolver asks a DNS server of this test.
func resolver(t *testing.T, a nameserver.Answer) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go nameserver.Serve(conn, a)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if !strings.HasPrefix(network, "udp") {
			return nil, errors.New("this server has no TCP")
		}
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func run(t *testing.T, r *net.Resolver, request string) steps.Result {
	t.Helper()
	return domains.Check.Runner(probe.Env{Resolver: r, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}).Run(t.Context(), []string{request})
}

func TestGoodAnswers(t *testing.T) {
	g := NewWithT(t)
	request := `{"domains":[{"domain_name":"api.c.example"},{"domain_name":"alias.c.example"},{"domain_name":"mapped.c.example."},
		{"domain_name":"validateNoWildcardDNS.c.example"},{"domain_name":"validateNoWildcardDNS.c.example."}]}`
	result := run(t, resolver(t, nameserver.Zone), request)
	g.Expect(result.Exit).To(BeZero())
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Output).To(MatchJSON(`{"resolutions":[
		{"domain_name":"api.c.example","ipv4_addresses":["192.0.2.5","192.0.2.9"],"ipv6_addresses":["2001:db8::5"],"cnames":["api.c.example."]},
		{"domain_name":"alias.c.example","ipv4_addresses":["192.0.2.7"],"ipv6_addresses":[],"cnames":["real.c.example."]},
		{"domain_name":"mapped.c.example.","ipv4_addresses":["192.0.2.8"],"ipv6_addresses":[],"cnames":["mapped.c.example."]},
		{"domain_name":"validateNoWildcardDNS.c.example","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null},
		{"domain_name":"validateNoWildcardDNS.c.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null}]}`))
}

func TestBadServers(t *testing.T) {
	const nothing = `{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null}]}`
	for name, tc := range map[string]struct {
		server nameserver.Answer
		want   string
	}{
		"fails": {func(q dnsmessage.Message) []dnsmessage.Message {
			out := nameserver.Reply(q, nameserver.A("192.0.2.5"))
			out.RCode, out.Answers = dnsmessage.RCodeServerFailure, nil
			return []dnsmessage.Message{out}
		}, nothing},
		"forged answers first": {
			nameserver.Lying,
			`{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":["192.0.2.5","192.0.2.9"],"ipv6_addresses":["2001:db8::5"],"cnames":["api.c.example."]}]}`,
		},
		"endless chain of aliases": {func(q dnsmessage.Message) []dnsmessage.Message {
			return []dnsmessage.Message{nameserver.Reply(q, nameserver.CNAME("b.example."), nameserver.CNAME("api.c.example."), nameserver.CNAME("b.example."))}
		}, `{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":["b.example."]}]}`},
		"wildcard for everything": {func(q dnsmessage.Message) []dnsmessage.Message {
			if q.Questions[0].Type == dnsmessage.TypeA {
				return []dnsmessage.Message{nameserver.Reply(q, nameserver.A("203.0.113.66"))}
			}
			return []dnsmessage.Message{nameserver.Reply(q, []dnsmessage.ResourceBody{}...)}
		}, `{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":["203.0.113.66"],"ipv6_addresses":[],"cnames":["api.c.example."]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, resolver(t, tc.server), `{"domains":[{"domain_name":"api.c.example."}]}`)
			g.Expect(result.Exit).To(BeZero())
			g.Expect(result.Output).To(MatchJSON(tc.want))
		})
	}
}

// A server that answers for some names only holds those up that it does not
// answer for, and all of them for as long as one.
func TestASlowServerHoldsNobodyElseUp(t *testing.T) {
	g := NewWithT(t)
	var waiting, most atomic.Int32
	server := func(q dnsmessage.Message) []dnsmessage.Message {
		answers := nameserver.Slow(q)
		if answers == nil {
			most.Store(max(most.Load(), waiting.Add(1)))
		}
		return answers
	}
	result := run(t, resolver(t, server), `{"domains":[{"domain_name":"slow1.example."},{"domain_name":"slow2.example."},{"domain_name":"alias.c.example."}]}`)
	g.Expect(result.Exit).To(BeZero())
	g.Expect(result.Output).To(MatchJSON(`{"resolutions":[
		{"domain_name":"slow1.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null},
		{"domain_name":"slow2.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null},
		{"domain_name":"alias.c.example.","ipv4_addresses":["192.0.2.7"],"ipv6_addresses":[],"cnames":["real.c.example."]}]}`))
	g.Expect(most.Load()).To(BeNumerically(">=", 4), "both slow names, for both families")
}
