package chrony

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// decodeFloat is candm.h's definition of the number, the other way round.
func decodeFloat(x uint32) float64 {
	return math.Ldexp(float64(int32(x<<7)>>7), int(int32(x)>>25)-25)
}

func TestFloats(t *testing.T) {
	g := NewWithT(t)
	for _, x := range []float64{0, 1, 3, 10, 0.5, 0.125, 1e-3, 123456} {
		g.Expect(decodeFloat(encodeFloat(x))).To(BeNumerically("~", x, x*1e-6))
	}
	g.Expect(encodeFloat(1)).To(BeEquivalentTo(2<<25 | 1<<23))
}

func TestAddServerOnTheWire(t *testing.T) {
	g := NewWithT(t)
	data, err := addServer("ntp1.example")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(data).To(HaveLen(352), "the size of REQ_NTP_Source")
	g.Expect(hex.EncodeToString(data[:17])).To(Equal("00000001" + hex.EncodeToString([]byte("ntp1.example")) + "00"))
	g.Expect(hex.EncodeToString(data[260:272])).To(Equal("0000007b" + "00000006" + "0000000a"))
	g.Expect(hex.EncodeToString(data[332:336])).To(Equal("00000005"), "online, iburst")

	for _, name := range []string{"", strings.Repeat("a", 256), "a\x00b"} {
		_, err := addServer(name)
		g.Expect(err).To(HaveOccurred())
	}
	g.Expect(request(commandAddSource, 7, data)).To(HaveLen(504))
	g.Expect(hex.EncodeToString(request(commandSources, 0x01020304, nil)[:20])).To(Equal("06010000" + "000e0000" + "01020304" + "00000000" + "00000000"))
}

func TestReplies(t *testing.T) {
	head := func(version, kind, status string) string {
		return version + "020000" + "000e" + kind + status + "000000000000" + "00000007" + "0000000000000000"
	}
	for name, tc := range map[string]struct {
		packet string
		want   string
		is     error
	}{
		"good":          {head("06", "0002", "0000") + "0000000300000000", "", nil},
		"status":        {head("06", "0001", "0002"), "chronyd: not authorised", StatusError(2)},
		"odd status":    {head("06", "0001", "ffff"), "chronyd: status 65535", nil},
		"other version": {head("05", "0002", "0000") + "00000003", "version 5", nil},
		"other kind":    {head("06", "0003", "0000") + "00000003", "of kind 3", nil},
		"short":         {"0602", "no reply", nil},
		"other request": {strings.Replace(head("06", "0002", "0000"), "00000007", "00000008", 1), "", errForeign},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			packet, err := hex.DecodeString(tc.packet)
			g.Expect(err).NotTo(HaveOccurred())
			data, err := reply(packet, commandSources, replySources, 7)
			switch {
			case tc.is != nil:
				g.Expect(errors.Is(err, tc.is)).To(BeTrue(), "%v", err)
			case tc.want != "":
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			default:
				g.Expect(err).NotTo(HaveOccurred())
				count, err := parseCount(data)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(count).To(Equal(3))
			}
		})
	}
}

// FuzzReply: no reply makes the client crash or believe in more than it was told.
func FuzzReply(f *testing.F) {
	f.Add(request(commandSources, 7, nil))
	f.Add(append(make([]byte, replyHead), "ntp1.example"...))
	f.Add([]byte{6, 2, 0, 0, 0, 15, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1})
	f.Fuzz(func(t *testing.T, packet []byte) {
		for command, kind := range map[uint16]uint16{commandSources: replySources, commandSourceData: replySourceData, commandSourceName: replySourceName, commandAddSource: replyNull} {
			data, err := reply(packet, command, kind, 7)
			if err != nil {
				continue
			}
			if count, err := parseCount(data); err == nil && count < 0 {
				t.Errorf("%d sources", count)
			}
			if name, err := parseName(data); err == nil && (len(name) >= nameSize || strings.Contains(name, "\x00")) {
				t.Errorf("name %q", name)
			}
			_, _ = parseSource(data)
		}
	})
}
