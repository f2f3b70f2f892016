package lan

import (
	"net"
	"testing"

	. "github.com/onsi/gomega"
)

// TestAnnouncement compares a frame with the bytes that IEEE 802.1AB asks for.
func TestAnnouncement(t *testing.T) {
	frame := announcement(net.HardwareAddr{2, 0, 0, 0, 0, 9}, "p1")
	NewWithT(t).Expect(frame).To(Equal([]byte("" +
		"\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x09\x88\xcc" +
		"\x02\x07\x04\x02\x00\x00\x00\x00\x09" +
		"\x04\x03\x05p1" +
		"\x06\x02\x00\x78" +
		"\x0a\x12switch.lab.example" +
		"\x00\x00")))
}
