package boot

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const console = `SeaBIOS (version 1.16)
[    0.0] Linux version 6.1
REPORT begin
REPORT cmdline console=ttyS0 a=b
REPORT ignition 0123
[   12.3] a late kernel line
REPORT keyfile eth0.nmconnection 4567
REPORT program 755 root 89ab  /usr/local/bin/ironflow-agent
REPORT runs ironflow-agent 1
REPORT address [{"ifname":"eth0","mtu":1500,"address":"52:54:00:00:00:01","addr_info":[{"local":"10.0.2.15","prefixlen":24,"scope":"global"},{"local":"fe80::1","prefixlen":64,"scope":"link"}]}]
REPORT route [{"dst":"default","gateway":"10.0.2.2","dev":"eth0","metric":100}]
REPORT rule [{"priority":5000,"src":"10.0.2.60","table":"100"}]
REPORT bond bond0 active-backup 1
REPORT dns nameserver 10.0.2.3
`

func TestReportIsReadFromTheConsole(t *testing.T) {
	g := NewWithT(t)
	r, err := parseReport(strings.ReplaceAll(console+"REPORT end\n", "\n", "\r\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Cmdline).To(Equal("console=ttyS0 a=b"))
	g.Expect(r.Ignition).To(Equal("0123"))
	g.Expect(r.Keyfiles).To(Equal(map[string]string{"eth0.nmconnection": "4567"}))
	g.Expect(r.Programs).To(Equal(map[string]Program{"/usr/local/bin/ironflow-agent": {Mode: "755", Owner: "root", SHA256: "89ab"}}))
	g.Expect(r.Addresses("eth0")).To(Equal([]string{"10.0.2.15/24"}))
	g.Expect(r.Link("eth0").MAC).To(Equal("52:54:00:00:00:01"))
	g.Expect(r.Routes).To(ContainElement(HaveField("Gateway", "10.0.2.2")))
	g.Expect(r.Rules).To(ContainElement(HaveField("Table", "100")))
	g.Expect(r.Bonds).To(Equal(map[string]string{"bond0": "active-backup"}))
}

func TestAGuestThatDiesHasNotReported(t *testing.T) {
	_, err := parseReport(console)
	NewWithT(t).Expect(err).To(MatchError(errNoReport))
}

func TestMachineArguments(t *testing.T) {
	g := NewWithT(t)
	args := strings.Join(Machine{
		UEFI: "/fw", Medium: "http://127.0.0.1:80/a,b.iso", NICs: []NIC{{MAC: "52:54:00:00:00:01"}, {MAC: "52:54:00:00:00:02"}, {MAC: "52:54:00:00:00:03", Network: 1}},
	}.arguments(), " ")
	g.Expect(args).To(ContainSubstring("file.driver=http,file.url=http://127.0.0.1:80/a,,b.iso"))
	g.Expect(strings.Count(args, "user,id=")).To(Equal(2), "one router for each network")
	args = strings.Join(Machine{Script: "http://10.0.2.2/x.ipxe", NetworkROM: "/rom", NICs: []NIC{{MAC: "52:54:00:00:00:01"}}}.arguments(), " ")
	g.Expect(args).To(And(ContainSubstring("bootfile=http://10.0.2.2/x.ipxe"), ContainSubstring("romfile=/rom"), Not(ContainSubstring("cdrom"))))
}
