// Package nameserver plays DNS servers: good, slow and lying ones. They answer
// over UDP, and know some made-up names below example.
package nameserver

import (
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// Answer makes the packets that a server sends back for a question.
type Answer func(query dnsmessage.Message) []dnsmessage.Message

// Serve answers queries until the socket is closed.
func Serve(conn net.PacketConn, a Answer) {
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

// Reply answers with records, or, without any, that there is no such name.
func Reply(query dnsmessage.Message, records ...dnsmessage.ResourceBody) dnsmessage.Message {
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

// A is an IPv4 address.
func A(text string) dnsmessage.ResourceBody {
	return &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()}
}

// AAAA is an IPv6 address.
func AAAA(text string) dnsmessage.ResourceBody {
	return &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(text).As16()}
}

// CNAME is another name.
func CNAME(text string) dnsmessage.ResourceBody {
	return &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(text)}
}

// Zone is a server with good answers.
func Zone(query dnsmessage.Message) []dnsmessage.Message {
	q := query.Questions[0]
	v4 := q.Type == dnsmessage.TypeA
	records := []dnsmessage.ResourceBody{}
	switch name := strings.ToLower(q.Name.String()); {
	case name == "api.c.example." && v4:
		records = append(records, A("192.0.2.9"), A("192.0.2.5"), A("192.0.2.9"))
	case name == "api.c.example.":
		records = append(records, AAAA("2001:db8::5"))
	case name == "alias.c.example." && v4:
		records = append(records, CNAME("real.c.example."), A("192.0.2.7"))
	case name == "alias.c.example.":
		records = append(records, CNAME("real.c.example."))
	case name == "mapped.c.example." && !v4:
		records = append(records, AAAA("::ffff:192.0.2.8"))
	case name == "mapped.c.example.":
	case q.Type == dnsmessage.TypePTR && (name == "1.2.0.192.in-addr.arpa." || name == "2.2.0.192.in-addr.arpa."):
		records = append(records, &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName("ntp" + name[:1] + ".example.")})
	case (name == "ntp1.example." || name == "ntp2.example.") && v4:
		records = append(records, A("192.0.2."+name[3:4]))
	case name == "ntp1.example." || name == "ntp2.example.":
	default:
		records = nil
	}
	return []dnsmessage.Message{Reply(query, records...)}
}

// Lying is a server whose good answer comes after those of somebody who does not
// see the queries and guesses: another id, another question.
func Lying(q dnsmessage.Message) []dnsmessage.Message {
	otherID, otherName := Reply(q, A("203.0.113.66")), Reply(q, A("203.0.113.66"))
	otherID.ID++
	otherName.Questions = []dnsmessage.Question{{Name: dnsmessage.MustNewName("other.example."), Type: q.Questions[0].Type, Class: dnsmessage.ClassINET}}
	return append([]dnsmessage.Message{otherID, otherName}, Zone(q)...)
}

// Slow is a server that never answers for a name that begins with slow.
func Slow(q dnsmessage.Message) []dnsmessage.Message {
	if strings.HasPrefix(q.Questions[0].Name.String(), "slow") {
		return nil
	}
	return Zone(q)
}
