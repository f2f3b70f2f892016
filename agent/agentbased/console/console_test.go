package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// terminal is a real one of 80x24, with a person before it.
type terminal struct {
	master, slave *os.File
	mu            sync.Mutex
	seen          bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}))
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{master: master, slave: slave}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			term.mu.Lock()
			term.seen.Write(buffer[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = slave.Close(); _ = master.Close() })
	return term
}

// screens are what has been on the screen, each from one clearing to the next.
func (t *terminal) screens() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(t.seen.String(), fresh)[1:]
}

func (t *terminal) now() string {
	screens := t.screens()
	if len(screens) == 0 {
		return ""
	}
	return screens[len(screens)-1]
}

func (t *terminal) types(text string) { _, _ = t.master.WriteString(text) }

// systemctl notes what is asked of it.
type systemctl struct{ calls []string }

func (s *systemctl) Run(_ context.Context, c command.Command) error {
	s.calls = append(s.calls, c.Name+" "+strings.Join(c.Args, " "))
	return nil
}

func release(t *testing.T, image string) hostfile.Dir {
	dir := hostfile.Dir{Root: t.TempDir()}
	if err := places.Write(dir, places.ClusterImageSet, []byte("spec:\n  releaseImage: "+image+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// told shows messages of the host, on no terminal.
func told(dir hostfile.Dir) *messages.Console {
	return &messages.Console{Dir: dir, Commands: &systemctl{}, Log: slog.New(slog.DiscardHandler)}
}

// says is what those read who do not stand before the host; empty for nothing.
func says(dir hostfile.Dir) string {
	raw, _ := os.ReadFile(dir.Path("/etc/motd.d/65_registry"))
	return string(raw)
}

// TestAPersonFixesTheNetwork on a terminal of 80x24.
func TestAPersonFixesTheNetwork(t *testing.T) {
	g := NewWithT(t)
	term, commands := newTerminal(t), &systemctl{}
	dir := release(t, "quay.example.com:5000/release/images@sha256:"+strings.Repeat("a", 64))
	keyfile := dir.Path(places.Keyfiles + "/console-eth0.nmconnection")
	p := Program{
		Dir: dir, In: term.slave, Out: term.slave, Commands: commands, Log: slog.New(slog.DiscardHandler), Messages: told(dir),
		Check: func(_ context.Context, image string, sources []Source) Result {
			r := Result{Release: image, Sources: sources, Steps: []Step{{"look up quay.example.com", nil}}}
			if _, err := os.Stat(keyfile); err != nil {
				r.Steps[0].Err = errors.New("\x1b[2Jlookup quay.example.com on 192.0.2.53:53: " + strings.Repeat("no route to host ", 50))
			}
			return r
		},
		Interfaces: func() ([]Interface, error) {
			all := []Interface{
				{Name: "eth0", Ethernet: true}, {Name: "bond0", Addresses: []string{"192.0.2.9/24"}}, {Name: "eth1", Addresses: []string{strings.Repeat("2001:db8::1/64, ", 20)}, Ethernet: true},
			}
			for n := range 30 {
				all = append(all, Interface{Name: fmt.Sprintf("ens%d", n), Ethernet: true})
			}
			return all, nil
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	sees := func(text string) {
		t.Helper()
		g.Eventually(term.now).WithTimeout(time.Minute).Should(ContainSubstring(text))
	}
	sees("FAILED  look up quay.example.com")
	sees("eth0            no address")
	g.Expect(says(dir)).To(HavePrefix("This host reaches no registry of the release quay.example.com:5000/release/images@sha256:aa"))
	g.Expect(says(dir)).To(ContainSubstring("sets up its network or goes on without: look up quay.example.com:  [2Jlookup quay.example.com on 192.0.2.53:53: no route to host"))
	sees("continue without   > ")
	term.types("n\n")
	sees("bond0           192.0.2.9/24")
	sees("Ethernet interface (eth0, eth1, ens0, ")
	sees("empty to go back: ")
	term.types("bond0\n")
	sees(`there is no Ethernet interface "bond0"`)
	term.types("eth0\n")
	sees("or dhcp: ")
	term.types("192.0.2.0/24\n")
	sees("192.0.2.0/24 is not the address of a host")
	term.types("192.0.2.10/24\n")
	sees("Gateway, empty for none: ")
	term.types("198.51.100.1\n")
	sees("198.51.100.1 is not in the network 192.0.2.0/24")
	term.types("192.0.2.1\n")
	sees("Name servers")
	term.types("192.0.2.53\n")
	g.Eventually(ended).WithTimeout(time.Minute).Should(Receive(BeNil()))
	sees("This host reaches a registry of the release.")
	g.Expect(says(dir)).To(BeEmpty())
	raw, err := os.ReadFile(keyfile)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal(`[connection]
id=console-eth0
type=ethernet
interface-name=eth0
autoconnect-priority=999

[ipv4]
method=manual
address1=192.0.2.10/24,192.0.2.1
dns=192.0.2.53;

[ipv6]
method=disabled
`))
	g.Expect(commands.calls).To(Equal([]string{
		"nmcli connection load /etc/NetworkManager/system-connections/console-eth0.nmconnection", "nmcli --wait 30 connection up id console-eth0 ifname eth0",
	}))
	for _, text := range term.screens() {
		first, _, _ := strings.Cut(text, "> ")
		lines := strings.Split(first, "\r\n")
		g.Expect(len(lines)).To(BeNumerically("<=", room+1), "room for the questions is left")
		for _, line := range lines {
			g.Expect(len([]rune(line))).To(BeNumerically("<", width), line)
		}
		g.Expect(text).NotTo(ContainSubstring("\x1b"))
	}
}

func TestAPersonGoesOn(t *testing.T) {
	g := NewWithT(t)
	term := newTerminal(t)
	checks := 0
	dir := release(t, "quay.example.com/r:1")
	p := Program{
		Dir: dir, In: term.slave, Out: term.slave, Log: slog.New(slog.DiscardHandler), Messages: told(dir),
		Check: func(context.Context, string, []Source) Result {
			checks++
			return Result{Steps: []Step{{"connect", errors.New("no")}}}
		},
		Interfaces: func() ([]Interface, error) { return nil, errors.New("no netlink") },
	}
	term.types("\nc\n")
	g.Expect(p.Run(t.Context())).To(Succeed())
	g.Expect(checks).To(Equal(2), "Enter checks again")
	g.Expect(says(dir)).To(Equal("A person has this host go on, though it reaches no registry of the release quay.example.com/r:1: connect: no.\n"))

	p.Dir = hostfile.Dir{Root: t.TempDir()}
	g.Expect(p.Run(t.Context())).To(Succeed(), "nothing to check")
	p.Dir = release(t, "images")
	g.Expect(p.Run(t.Context())).To(MatchError(ContainSubstring(`"images" does not name a registry`)))
}

func TestSettingsOfAPerson(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.10": "want an address with its prefix", "x": "want an address with its prefix", "127.0.0.1/8": "not the address of a host",
		"::/64": "not the address of a host", "2001:db8::/64": "not the address of a host", "224.0.0.1/4": "not the address of a host",
	} {
		NewWithT(t).Expect((&settings{}).parseAddress(text)).To(MatchError(ContainSubstring(want)), text)
	}
	g := NewWithT(t)
	s := &settings{nic: "eth0"}
	g.Expect(s.parseAddress("2001:db8::10/64")).To(Succeed())
	g.Expect(s.parseGateway("192.0.2.1")).To(MatchError(ContainSubstring("same family")))
	g.Expect(s.parseGateway("2001:db8::10")).To(MatchError(ContainSubstring("this host itself")))
	g.Expect(s.parseGateway("fe80::1")).To(Succeed())
	g.Expect(s.parseDNS("192.0.2.53")).To(MatchError(ContainSubstring("another family")))
	g.Expect(s.parseDNS("2001:db8::53, 2001:db8::54")).To(Succeed())
	g.Expect(s.keyfile()).To(HaveSuffix("[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=manual\naddress1=2001:db8::10/64,fe80::1\ndns=2001:db8::53;2001:db8::54;\n"))
	g.Expect(s.parseAddress("DHCP")).To(Succeed())
	g.Expect(s.parseDNS("192.0.2.53")).To(Succeed())
	g.Expect(s.keyfile()).To(HaveSuffix("[ipv4]\nmethod=auto\ndns=192.0.2.53;\n\n[ipv6]\nmethod=auto\n"))
}

func TestTheWayToARegistry(t *testing.T) {
	status := http.StatusUnauthorized
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	resolve := func(_ context.Context, host string) ([]string, error) {
		if host == "missing.example.com" {
			return nil, errors.New("no such host")
		}
		return []string{"127.0.0.1"}, nil
	}
	r := Registry{HTTP: server.Client(), Insecure: http.DefaultClient, Resolve: resolve, Dial: (&net.Dialer{}).DialContext}
	for _, tc := range []struct {
		name, registry string
		insecure       bool
		status         int
		want           string
	}{
		{"it wants a password", "127.0.0.1:" + port, false, 401, "connect to 127.0.0.1:" + port + ": ok; ask https://127.0.0.1:" + port + "/v2/: ok"},
		{"something else", "127.0.0.1:" + port, false, 404, `ask .*: it answers 404 Not Found: this is no registry of images$`},
		{"no name", "missing.example.com", false, 200, `^look up missing.example.com: no such host$`},
		{"nobody there", "127.0.0.1:1", false, 200, `^connect to 127.0.0.1:1: .*connection refused$`},
		{"no name at all", "a b", false, 200, `^read the name of the registry a b: `},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			status = tc.status
			result := r.Check(t.Context(), "image", []Source{{tc.registry, tc.insecure}})
			var words []string
			for _, s := range result.Steps {
				end := "ok"
				if s.Err != nil {
					end = s.Err.Error()
				}
				words = append(words, s.What+": "+end)
			}
			g.Expect(strings.Join(words, "; ")).To(MatchRegexp(tc.want))
			g.Expect(result.OK()).To(Equal(regexp.MustCompile("ok$").MatchString(tc.want)))
		})
	}
	t.Run("with a proxy, the proxy resolves", func(t *testing.T) {
		g := NewWithT(t)
		var asked []string
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.Host)
			w.WriteHeader(http.StatusForbidden)
		}))
		defer proxy.Close()
		u, err := url.Parse(proxy.URL)
		g.Expect(err).NotTo(HaveOccurred())
		behind := Registry{HTTP: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u)}}}
		result := behind.Check(t.Context(), "image", []Source{{Registry: "missing.example.com"}})
		g.Expect(result.Steps).To(HaveLen(1))
		g.Expect(result.Steps[0].Err).To(MatchError(ContainSubstring("Forbidden")))
		g.Expect(asked).To(Equal([]string{"CONNECT missing.example.com:443"}))
	})
}

func TestWhereAReleaseComesFrom(t *testing.T) {
	const image = "quay.example.com:5000/release/images@sha256:abc"
	mirror := `[[registry]]
prefix = "quay.example.com:5000/release"
location = "quay.example.com:5000/release"
blocked = %s
[[registry.mirror]]
location = "mirror.example.com:8443/release"
insecure = true
[[registry]]
location = "quay.example.com:5000"
insecure = true
`
	for name, tc := range map[string]struct {
		conf string
		want []Source
	}{
		"no mirrors":          {"", []Source{{"quay.example.com:5000", false}}},
		"a mirror":            {fmt.Sprintf(mirror, "false"), []Source{{"mirror.example.com:8443", true}, {"quay.example.com:5000", false}}},
		"only the mirror":     {fmt.Sprintf(mirror, "true"), []Source{{"mirror.example.com:8443", true}}},
		"a part of a word":    {"[[registry]]\nlocation = \"quay.example.com:5000/rel\"\ninsecure = true\n", []Source{{"quay.example.com:5000", false}}},
		"another location":    {"[[registry]]\nprefix = \"quay.example.com:5000\"\nlocation = \"other.example.com\"\n", []Source{{"other.example.com", false}}},
		"hosts of the domain": {"[[registry]]\nprefix = \"*.example.com\"\ninsecure = true\n", []Source{{"quay.example.com:5000", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := release(t, image)
			if tc.conf != "" {
				g.Expect(places.Write(dir, registries, []byte(tc.conf), 0o644)).To(Succeed())
			}
			found, sources, err := Release(dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(Equal(image))
			g.Expect(sources).To(Equal(tc.want))
		})
	}
	for conf, want := range map[string]string{
		"x": "/etc/containers/registries.conf: ", "[[registry]]\nlocation = \"quay.example.com:5000\"\nblocked = true\n": "it blocks " + image,
	} {
		g := NewWithT(t)
		dir := release(t, image)
		g.Expect(places.Write(dir, registries, []byte(conf), 0o644)).To(Succeed())
		_, _, err := Release(dir)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

// The first source that answers is enough; an insecure one may do without TLS.
func TestMirrorsAreTriedInOrder(t *testing.T) {
	g := NewWithT(t)
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	address := strings.TrimPrefix(plain.URL, "http://")
	r := Registry{HTTP: http.DefaultClient, Insecure: http.DefaultClient, Dial: (&net.Dialer{}).DialContext}
	result := r.Check(t.Context(), "image", []Source{{"127.0.0.1:1", false}, {address, true}, {"127.0.0.1:2", false}})
	g.Expect(result.OK()).To(BeTrue())
	g.Expect(result.Steps).To(HaveLen(4), "%v", result.Steps)
	g.Expect(result.Steps[3].What).To(Equal("ask http://" + address + "/v2/"))
	g.Expect(r.Check(t.Context(), "image", []Source{{address, false}}).OK()).To(BeFalse(), "not where it must be secure")
}
