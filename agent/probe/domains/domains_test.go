package domains_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/domains"
	"github.com/ironflow/ironflow/agent/steps"
)

// answer makes the packets that a server sends back for a question.
type answer func(query dnsmessage.Message) []dnsmessage.Message

// serve answers queries until the socket is closed.
func serve(conn net.PacketConn, a answer) {
	packet := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(packet)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(packet[:n]) != nil || len(query.Questions) != 1 {
			continue
		}
		for _, m := range a(query) {
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from)
			}
		}
	}
}

// resolver asks a DNS server of this test.
func resolver(t *testing.T, a answer) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go serve(conn, a)
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

// reply answers with records, or, without any, that there is no such name.
func reply(query dnsmessage.Message, records ...dnsmessage.ResourceBody) dnsmessage.Message {
	out := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true}, Questions: query.Questions}
	if records == nil {
		out.RCode = dnsmessage.RCodeNameError
	}
	name := query.Questions[0].Name
	for _, body := range records {
		header := dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 1}
		out.Answers = append(out.Answers, dnsmessage.Resource{Header: header, Body: body})
		if alias, ok := body.(*dnsmessage.CNAMEResource); ok {
			name = alias.CNAME
		}
	}
	return out
}

func a(text string) dnsmessage.ResourceBody {
	return &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()}
}

func aaaa(text string) dnsmessage.ResourceBody {
	return &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(text).As16()}
}

func cname(text string) dnsmessage.ResourceBody {
	return &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(text)}
}

// zone is a server with good answers.
func zone(query dnsmessage.Message) []dnsmessage.Message {
	q := query.Questions[0]
	v4 := q.Type == dnsmessage.TypeA
	records := []dnsmessage.ResourceBody{}
	switch name := strings.ToLower(q.Name.String()); {
	case name == "api.c.example." && v4:
		records = append(records, a("192.0.2.9"), a("192.0.2.5"), a("192.0.2.9"))
	case name == "api.c.example.":
		records = append(records, aaaa("2001:db8::5"))
	case name == "alias.c.example." && v4:
		records = append(records, cname("real.c.example."), a("192.0.2.7"))
	case name == "alias.c.example.":
		records = append(records, cname("real.c.example."))
	case name == "mapped.c.example." && !v4:
		records = append(records, aaaa("::ffff:192.0.2.8"))
	case name == "mapped.c.example.":
	default:
		records = nil
	}
	return []dnsmessage.Message{reply(query, records...)}
}

// forged is somebody who does not see the queries and guesses: another id,
// another question. The good answer comes after.
func forged(q dnsmessage.Message) []dnsmessage.Message {
	otherID, otherName := reply(q, a("203.0.113.66")), reply(q, a("203.0.113.66"))
	otherID.ID++
	otherName.Questions = []dnsmessage.Question{{Name: dnsmessage.MustNewName("other.example."), Type: q.Questions[0].Type, Class: dnsmessage.ClassINET}}
	return append([]dnsmessage.Message{otherID, otherName}, zone(q)...)
}

// slow answers for no name that begins so.
func slow(q dnsmessage.Message) []dnsmessage.Message {
	if strings.HasPrefix(q.Questions[0].Name.String(), "slow") {
		return nil
	}
	return zone(q)
}

func TestGoodAnswers(t *testing.T) {
	g := NewWithT(t)
	request := `{"domains":[{"domain_name":"api.c.example"},{"domain_name":"alias.c.example"},{"domain_name":"mapped.c.example."},
		{"domain_name":"validateNoWildcardDNS.c.example"},{"domain_name":"validateNoWildcardDNS.c.example."}]}`
	result := run(t, resolver(t, zone), request)
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
		server answer
		want   string
	}{
		"fails": {func(q dnsmessage.Message) []dnsmessage.Message {
			out := reply(q, a("192.0.2.5"))
			out.RCode, out.Answers = dnsmessage.RCodeServerFailure, nil
			return []dnsmessage.Message{out}
		}, nothing},
		"forged answers first": {forged, `{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":["192.0.2.5","192.0.2.9"],"ipv6_addresses":["2001:db8::5"],"cnames":["api.c.example."]}]}`},
		"endless chain of aliases": {func(q dnsmessage.Message) []dnsmessage.Message {
			return []dnsmessage.Message{reply(q, cname("b.example."), cname("api.c.example."), cname("b.example."))}
		}, `{"resolutions":[{"domain_name":"api.c.example.","ipv4_addresses":[],"ipv6_addresses":[],"cnames":["b.example."]}]}`},
		"wildcard for everything": {func(q dnsmessage.Message) []dnsmessage.Message {
			if q.Questions[0].Type == dnsmessage.TypeA {
				return []dnsmessage.Message{reply(q, a("203.0.113.66"))}
			}
			return []dnsmessage.Message{reply(q, []dnsmessage.ResourceBody{}...)}
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
		answers := slow(q)
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
