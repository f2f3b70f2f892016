package places_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestEnvironmentFiles(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                               {},
		"# a\n; b\n\nA=1\n":              {"A": "1"},
		"A=one two \nB=":                 {"A": "one two", "B": ""},
		`A="a \"b\" \$c"` + "\nB='\\x'":  {"A": `a "b" $c`, "B": `\x`},
		"URL=http://[2001:db8::1]:8090/": {"URL": "http://[2001:db8::1]:8090/"},
		"A=x\\\ny":                       {"A": "xy"},
		// As systemd: quotes count at the beginning alone, and JSON is taken as it is.
		`A=[{"version":"default"}]` + "\nB=it's": {"A": `[{"version":"default"}]`, "B": "it's"},
		"A=\"one\ntwo\"\nB=1":                    {"A": "one\ntwo", "B": "1"},
		`A="a" 'b' c"d"`:                         {"A": `abc"d"`},
		`A="C:\dir"` + "\nB=C:\\dir":             {"A": `C:\dir`, "B": "C:dir"},
		"A=x\\ \nB=1\r\n":                        {"A": "x ", "B": "1"},
	} {
		got, err := places.ParseEnv(text)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(got).To(Equal(want), text)
	}
	for text, want := range map[string]string{
		"A=1\nnothing":  "line 2 is not NAME=value",
		"1A=1":          "line 1 is not NAME=value",
		`T="secret one`: "line 1, T: a quote is not closed",
		"A='1\n2'\nB":   "line 3 is not NAME=value",
	} {
		_, err := places.ParseEnv(text)
		NewWithT(t).Expect(err).To(MatchError(want))
	}
}

func FuzzEnvironmentFiles(f *testing.F) {
	f.Add("A=1\nB=\"x\\\"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := places.ParseEnv(text)
		if err != nil {
			return
		}
		for name, value := range values {
			again, err := places.ParseEnv(places.FormatEnv(map[string]string{name: value}))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(again).To(Equal(map[string]string{name: value}))
		}
	})
}

func TestSettingsOfAllFiles(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	none, err := places.Settings(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(BeEmpty(), "a host that waits for its config image has no file")
	g.Expect(places.Write(dir, places.ServiceSettings+"/assisted-service.env", []byte("A=1\nB=1"), 0o600)).To(Succeed())
	g.Expect(places.Write(dir, places.RendezvousHost, []byte("B=2\nNODE_ZERO_IP=192.0.2.1"), 0o600)).To(Succeed())
	g.Expect(places.Write(dir, places.ClientConfig, []byte("CLUSTER_ID=c\nbroken"), 0o600)).To(Succeed())
	got, err := places.Settings(dir)
	g.Expect(err).To(MatchError("/etc/assisted/client_config: line 2 is not NAME=value"))
	g.Expect(got).To(Equal(map[string]string{"A": "1", "B": "2", "NODE_ZERO_IP": "192.0.2.1"}), "what can be read counts")
}

func TestFilesAreReplacedAtOnce(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	g.Expect(places.Remove(dir, places.NodeZero)).To(Succeed(), "nothing to remove")
	g.Expect(places.Write(dir, places.NodeZero, []byte("old"), 0o644)).To(Succeed())
	g.Expect(places.Write(dir, places.NodeZero, []byte("new"), 0o600)).To(Succeed())
	raw, err := os.ReadFile(dir.Path(places.NodeZero))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal("new"))
	info, err := os.Stat(dir.Path(places.NodeZero))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o600)))
	entries, err := os.ReadDir(filepath.Dir(dir.Path(places.NodeZero)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "nothing else is left")
	g.Expect(places.Exists(dir, places.NodeZero)).To(BeTrue())
	g.Expect(places.Remove(dir, places.NodeZero)).To(Succeed())
	g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse())
}

func TestAddressesOfTheRendezvousHost(t *testing.T) {
	for text, want := range map[string][]string{
		"192.0.2.1":                    {"192.0.2.1"},
		"192.0.2.1,2001:DB8::0:1":      {"192.0.2.1", "2001:db8::1"},
		"[2001:db8::1] ::ffff:1.2.3.4": {"2001:db8::1", "1.2.3.4"},
	} {
		g := NewWithT(t)
		got, err := places.Rendezvous(text)
		g.Expect(err).NotTo(HaveOccurred())
		var words []string
		for _, a := range got {
			words = append(words, a.String())
		}
		g.Expect(words).To(Equal(want))
	}
	for text, want := range map[string]string{
		"":             "no address is given",
		"edge1":        `"edge1" is not an address`,
		"fe80::1%eth0": "fe80::1%eth0 is an address of one link only, which the other hosts cannot use",
		"127.0.0.1":    "127.0.0.1 is not the address of a host",
		"::":           ":: is not the address of a host",
	} {
		_, err := places.Rendezvous(text)
		NewWithT(t).Expect(err).To(MatchError(want))
	}
}
