package ipmi

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// kernel answers IPMI requests from a table of hex texts: "network function
// command data" to "completion code data".
type kernel struct {
	source.Kernel
	replies map[string]string
	err     error
	asked   int
}

func (k *kernel) IPMI(_ context.Context, r source.IPMIRequest) ([]byte, error) {
	k.asked++
	if k.err != nil {
		return nil, k.err
	}
	reply, ok := k.replies[fmt.Sprintf("% x", append([]byte{r.NetFn, r.Command}, r.Data...))]
	if !ok {
		return []byte{0xcc}, nil // invalid data field
	}
	return hex.DecodeString(strings.ReplaceAll(reply, " ", ""))
}

func TestAddresses(t *testing.T) {
	const (
		lan1, serial2, lan8 = "00 01 04 01 80 f2 1b 00 00 00", "00 02 05 04 00 f2 1b 00 00 00", "00 08 04 01 80 f2 1b 00 00 00"
		slaac               = "00 11 00 01 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 42 40 00"
		static              = "00 11 00 80 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 43 40 00"
	)
	for name, tc := range map[string]struct {
		replies  map[string]string
		ip4, ip6 string
	}{
		"one channel": {map[string]string{"06 42 01": lan1, "0c 02 01 03 00 00": "00 11 c0 00 02 07"}, "192.0.2.7", "::/0"},
		"the first is zero": {map[string]string{
			"06 42 01": lan1, "0c 02 01 03 00 00": "00 11 00 00 00 00", "06 42 08": lan8, "0c 02 08 03 00 00": "00 11 c0 00 02 08",
		}, "192.0.2.8", "::/0"},
		"a serial channel is no LAN": {map[string]string{"06 42 02": serial2, "0c 02 02 03 00 00": "00 11 c0 00 02 07"}, "0.0.0.0", "::/0"},
		"dynamic before static": {map[string]string{
			"06 42 01": lan1, "0c 02 01 33 00 00": "00 11 02", "0c 02 01 37 00 00": "00 11 01 01 00", "0c 02 01 3b 00 00": slaac, "0c 02 01 38 00 00": static,
		}, "0.0.0.0", "2001:db8::42"},
		"static": {map[string]string{
			"06 42 01": lan1, "0c 02 01 33 00 00": "00 11 01", "0c 02 01 37 00 00": "00 11 01 00 00", "0c 02 01 38 00 00": static,
		}, "0.0.0.0", "2001:db8::43"},
		"the second static one is active": {map[string]string{
			"06 42 01": lan1, "0c 02 01 33 00 00": "00 11 01", "0c 02 01 37 00 00": "00 11 02 00 00",
			"0c 02 01 38 00 00": static[:len(static)-2] + "01", "0c 02 01 38 01 00": strings.Replace(static, "43", "44", 1),
		}, "0.0.0.0", "2001:db8::44"},
		"static but switched off": {map[string]string{
			"06 42 01": lan1, "0c 02 01 33 00 00": "00 11 01", "0c 02 01 37 00 00": "00 11 01 00 00", "0c 02 01 38 00 00": strings.Replace(static, "00 80", "00 00", 1),
		}, "0.0.0.0", "::/0"},
		"IPv6 is off": {map[string]string{
			"06 42 01": lan1, "0c 02 01 33 00 00": "00 11 00", "0c 02 01 37 00 00": "00 11 01 01 00", "0c 02 01 3b 00 00": slaac,
		}, "0.0.0.0", "::/0"},
		"cut replies":     {map[string]string{"06 42 01": lan1, "0c 02 01 03 00 00": "00 11 c0", "0c 02 01 33 00 00": "00"}, "0.0.0.0", "::/0"},
		"knows no LAN":    {map[string]string{"06 42 01": lan1}, "0.0.0.0", "::/0"},
		"refuses the lot": {nil, "0.0.0.0", "::/0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Read(t.Context(), source.Machine{Kernel: &kernel{replies: tc.replies}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(Addresses{IPv4: tc.ip4, IPv6: tc.ip6, Answered: true}))
		})
	}
}

func TestNoBMCCostsOneQuestion(t *testing.T) {
	g := NewWithT(t)
	k := &kernel{err: errors.Join(source.ErrNoAnswer, errors.New("no such device"))}
	got, err := Read(t.Context(), source.Machine{Kernel: k})
	g.Expect(err).To(MatchError(source.ErrNoAnswer))
	g.Expect(got).To(Equal(Addresses{IPv4: NoAddress, IPv6: NoAddressV6}))
	g.Expect(k.asked).To(Equal(1))
}

// noise answers everything with the same bytes.
type noise struct {
	source.Kernel
	reply []byte
}

func (n noise) IPMI(context.Context, source.IPMIRequest) ([]byte, error) { return n.reply, nil }

func FuzzReplies(f *testing.F) {
	f.Add([]byte{0, 0x11, 4, 0x80, 1, 2, 3, 4})
	f.Add(append([]byte{0, 0x04, 0x04, 0x81}, make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, reply []byte) {
		got, err := Read(t.Context(), source.Machine{Kernel: noise{reply: reply}})
		if err != nil || got.IPv4 == "" || got.IPv6 == "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
