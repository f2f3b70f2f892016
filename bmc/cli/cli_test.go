package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/cli"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const (
	user     = "admin"
	password = "pass-word-7"
)

// output is what a command has printed.
type output struct{ out, err string }

// run runs the command as a user types it.
func run(ctx context.Context, args ...string) (output, error) { return runWith(ctx, "", args...) }

func runWith(ctx context.Context, stdin string, args ...string) (output, error) {
	c := cli.NewCommand()
	var out, progress bytes.Buffer
	c.SetIn(strings.NewReader(stdin))
	c.SetOut(&out)
	c.SetErr(&progress)
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.ExecuteContext(ctx)
	return output{out.String(), progress.String()}, err
}

// probing are the arguments of a probe that does not wait between requests.
func probing(t *testing.T, args ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{"probe", "--rate", "100000", "--username", user, "--password-file", file}, args...)
}

// bmc serves a simulated BMC over TLS.
func bmc(t *testing.T, d simulator.System) (*httptest.Server, *simulator.Server) {
	t.Helper()
	s := simulator.New(simulator.Options{Username: user, Password: password})
	t.Cleanup(s.Close)
	d.ID, d.Power = "1", simulator.On
	NewWithT(t).Expect(s.AddSystem(d)).To(Succeed())
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	return server, s
}

var dell = simulator.System{Manufacturer: "Dell Inc.", Model: "PowerEdge R750", SerialNumber: "TAG0001"}

func TestOneForPeople(t *testing.T) {
	g := NewWithT(t)
	server, s := bmc(t, dell)
	got, err := run(t.Context(), probing(t, "--insecure", server.URL)...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.out).To(MatchRegexp(`(?m)^ADDRESS +` + server.URL + `$`))
	g.Expect(got.out).To(MatchRegexp(`(?m)^Model +PowerEdge R750$`))
	g.Expect(got.out).To(MatchRegexp(`(?m)^SecureBoot +Yes +off`))
	g.Expect(got.out).To(MatchRegexp(`(?m)^VirtualMediaCD +Yes +InsertMedia +/redfish/v1/`))
	g.Expect(got.out).To(MatchRegexp(`(?m)^dell-[a-z0-9-]+ `), "the quirks that apply")
	g.Expect(got.out).To(ContainSubstring("Certificate"))
	g.Expect(got.err).To(BeEmpty(), "one BMC needs no progress")
	g.Expect(s.Total("DELETE ")).To(Equal(1), "our session is ended")
}

// TestOneForPrograms: the document of one address is the API's report.
func TestOneForPrograms(t *testing.T) {
	server, _ := bmc(t, dell)
	for form, read := range map[string]func([]byte, any) error{
		"json": json.Unmarshal,
		"yaml": func(raw []byte, into any) error { return yaml.UnmarshalStrict(raw, into) },
	} {
		t.Run(form, func(t *testing.T) {
			g := NewWithT(t)
			got, err := run(t.Context(), probing(t, "--insecure", "--output", form, server.URL)...)
			g.Expect(err).NotTo(HaveOccurred())
			var report v1alpha1.BMCReport
			g.Expect(read([]byte(got.out), &report)).To(Succeed())
			g.Expect(report.Vendor).To(Equal("Dell"))
			g.Expect(report.SerialNumber).To(Equal("TAG0001"))
			g.Expect(report.Requests).To(BeNumerically("<=", 30))
			g.Expect(report.Quirks).NotTo(BeEmpty())
			g.Expect(report.Certificate.SHA256).To(HaveLen(64))
		})
	}
}

// document is the output for programs when there are several.
type document struct {
	Reports  []v1alpha1.BMCReport                            `json:"reports"`
	Failures []struct{ Address, Kind, Message, Next string } `json:"failures"`
	Summary  []struct {
		Vendor, Model string
		BMCs          int
		Can           map[string]struct{ Yes, No, Unknown int }
	} `json:"summary"`
}

// fleet are two machines of one model, one of which can less, one of another, a web
// server that is no BMC, one that refuses the password, and nobody.
func fleet(t *testing.T) (file string, addresses []string) {
	t.Helper()
	lesser := dell
	lesser.Quirks = map[simulator.Quirk]int{simulator.NoHTTPBoot: simulator.Always, simulator.NoRAIDType: simulator.Always}
	one, _ := bmc(t, dell)
	two, _ := bmc(t, lesser)
	three, _ := bmc(t, simulator.System{Manufacturer: "HPE", Model: "ProLiant DL385"})
	page := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome</html>") }))
	t.Cleanup(page.Close)
	refuses := simulator.New(simulator.Options{Username: user, Password: "another"})
	t.Cleanup(refuses.Close)
	NewWithT(t).Expect(refuses.AddSystem(simulator.System{ID: "1"})).To(Succeed())
	locked := httptest.NewTLSServer(refuses)
	t.Cleanup(locked.Close)
	gone := httptest.NewTLSServer(http.NotFoundHandler())
	gone.Close()
	addresses = []string{one.URL, two.URL, three.URL, page.URL, locked.URL, gone.URL}
	file = filepath.Join(t.TempDir(), "bmcs.txt")
	list := "# rack 7\n" + strings.Join(addresses, "\n") + "\n\n" + one.URL + "\n"
	NewWithT(t).Expect(os.WriteFile(file, []byte(list), 0o600)).To(Succeed())
	return file, addresses
}

// TestMany: all are probed whatever becomes of one; each failure has a kind and a next
// step, and the summary counts by model.
func TestMany(t *testing.T) {
	g := NewWithT(t)
	file, addresses := fleet(t)
	got, err := run(t.Context(), probing(t, "--insecure", "--parallel", "3", "--file", file, "--output", "json")...)
	g.Expect(err).To(MatchError("3 of 6 BMCs could not be probed"), "main makes it exit code 1")
	var d document
	g.Expect(json.Unmarshal([]byte(got.out), &d)).To(Succeed())
	g.Expect(d.Reports).To(HaveLen(3))
	for i, r := range d.Reports {
		g.Expect(r.Address).To(Equal(addresses[i]), "in the order of the list")
	}
	kinds := map[string]string{}
	for _, f := range d.Failures {
		kinds[f.Address] = f.Kind
		g.Expect(f.Message).NotTo(BeEmpty())
		g.Expect(f.Next).NotTo(BeEmpty())
	}
	g.Expect(kinds).To(Equal(map[string]string{addresses[3]: "NotRedfish", addresses[4]: "Credentials", addresses[5]: "Unreachable"}))
	g.Expect(d.Summary).To(HaveLen(2))
	g.Expect(d.Summary[0].Model).To(Equal("PowerEdge R750"))
	g.Expect(d.Summary[0].BMCs).To(Equal(2))
	g.Expect(d.Summary[0].Can["httpBoot"]).To(Equal(struct{ Yes, No, Unknown int }{1, 1, 0}))
	g.Expect(d.Summary[0].Can["media"].Yes).To(Equal(2))
	g.Expect(strings.Count(got.err, "\n")).To(Equal(6), "a line for each BMC, as this is no terminal")
	g.Expect(got.err).To(MatchRegexp(`(?m)^6/6 https://`))
	g.Expect(got.out + got.err + err.Error()).NotTo(ContainSubstring(password))
}

func TestManyForPeople(t *testing.T) {
	g := NewWithT(t)
	file, addresses := fleet(t)
	got, err := run(t.Context(), probing(t, "--insecure", "--file", file)...)
	g.Expect(err).To(HaveOccurred())
	g.Expect(got.out).To(MatchRegexp(`(?m)^ADDRESS +VENDOR +MODEL +SERIAL +BMC +BIOS +MEDIA +HTTPBOOT +SECUREBOOT +RAID +EVENTS +QUIRKS$`))
	g.Expect(got.out).To(MatchRegexp(`(?m)^` + addresses[1] + ` +Dell +PowerEdge R750 +TAG0001 .* No +Yes `))
	g.Expect(got.out).To(MatchRegexp(`(?m)^Dell +PowerEdge R750 +2 +2 +1 +2 `))
	g.Expect(got.out).To(ContainSubstring("  " + addresses[5] + ": Unreachable\n"))
	g.Expect(got.out).To(ContainSubstring("    next: check address and port"))
}

// TestOneFails: the error says what is wrong and what to do, and nothing is printed.
func TestOneFails(t *testing.T) {
	g := NewWithT(t)
	server, _ := bmc(t, dell)
	got, err := run(t.Context(), probing(t, "--output", "json", server.URL)...)
	g.Expect(err).To(MatchError(And(HavePrefix(server.URL), ContainSubstring("(TLS)"), ContainSubstring("--ca-file"))))
	g.Expect(got.out).To(BeEmpty())
}

func TestTrust(t *testing.T) {
	server, _ := bmc(t, dell)
	leaf := server.Certificate()
	digest := sha256.Sum256(leaf.Raw)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	NewWithT(t).Expect(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}), 0o600)).To(Succeed())
	for name, c := range map[string]struct {
		args  []string
		trust bool
	}{
		"by authority":    {[]string{"--ca-file", ca}, true},
		"by pin":          {[]string{"--pin", hex.EncodeToString(digest[:])}, true},
		"by another pin":  {[]string{"--pin", strings.Repeat("ab", 32)}, false},
		"not at all":      {[]string{"--insecure"}, true},
		"of the system's": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t.Context(), probing(t, append(c.args, server.URL)...)...)
			NewWithT(t).Expect(err == nil).To(Equal(c.trust), "%v", err)
		})
	}
}

func TestPasswordFromTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	server, _ := bmc(t, dell)
	t.Setenv("IRONFLOW_BMC_PASSWORD", password)
	_, err := run(t.Context(), "probe", "--rate", "100000", "--username", user, "--insecure", server.URL)
	g.Expect(err).NotTo(HaveOccurred())
}

// TestBasic: no session is opened.
func TestBasic(t *testing.T) {
	g := NewWithT(t)
	server, s := bmc(t, dell)
	_, err := run(t.Context(), probing(t, "--basic", "--insecure", server.URL)...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Total("POST ")).To(BeZero())
}

// TestRequests: without a bound every drive is read.
func TestRequests(t *testing.T) {
	many := dell
	many.Storage = []simulator.Storage{{ID: "RAID", RAIDTypes: []string{"RAID1"}}}
	for i := range 24 {
		many.Storage[0].Drives = append(many.Storage[0].Drives, simulator.Drive{ID: fmt.Sprint(i), CapacityBytes: 1e12})
	}
	server, _ := bmc(t, many)
	for bound, want := range map[string]int{"-1": 24, "30": 0} {
		g := NewWithT(t)
		got, err := run(t.Context(), probing(t, "--requests", bound, "--insecure", "--output", "json", server.URL)...)
		g.Expect(err).NotTo(HaveOccurred())
		var report v1alpha1.BMCReport
		g.Expect(json.Unmarshal([]byte(got.out), &report)).To(Succeed())
		known := 0
		for _, d := range report.Storage[0].Drives {
			if d.CapacityBytes > 0 {
				known++
			}
		}
		if want > 0 {
			g.Expect(known).To(Equal(want))
		} else {
			g.Expect(known).To(BeNumerically("<", 24))
			g.Expect(report.Requests).To(BeNumerically("<=", 30))
		}
	}
}

func TestStandardInput(t *testing.T) {
	g := NewWithT(t)
	server, _ := bmc(t, dell)
	got, err := runWith(t.Context(), server.URL+"\n", probing(t, "--insecure", "--file", "-", "--output", "yaml")...)
	g.Expect(err).NotTo(HaveOccurred())
	var d document
	g.Expect(yaml.Unmarshal([]byte(got.out), &d)).To(Succeed())
	g.Expect(d.Reports).To(HaveLen(1), "a list gives a list, also of one")
	g.Expect(d.Failures).To(BeEmpty())
}

func TestInterrupted(t *testing.T) {
	g := NewWithT(t)
	file, _ := fleet(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := run(ctx, probing(t, "--insecure", "--file", file, "--output", "json")...)
	g.Expect(err).To(MatchError("6 of 6 BMCs could not be probed"))
	g.Expect(strings.Count(got.out, `"kind": "Interrupted"`)).To(Equal(6))
}

func TestTimeout(t *testing.T) {
	g := NewWithT(t)
	hangs := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hangs.Close)
	_, err := run(t.Context(), probing(t, "--insecure", "--timeout", "50ms", hangs.URL)...)
	g.Expect(err).To(MatchError(And(ContainSubstring("(Timeout)"), ContainSubstring("raise --timeout"))))
}

// TestABadLineEndsNothing: the others of the list are probed, and the line is told without
// what it holds, which may be a password.
func TestABadLineEndsNothing(t *testing.T) {
	g := NewWithT(t)
	good, _ := bmc(t, dell)
	list := strings.Join([]string{
		"ipmi://192.0.2.2", good.URL, "https://root:calvin@192.0.2.3", good.URL + "/redfish/v1/Managers/1", good.URL + "/redfish/v1/Systems/7",
		"https://192.0.2.4:99999",
	}, "\n")
	got, err := runWith(t.Context(), list, probing(t, "--insecure", "--file", "-", "--output", "json")...)
	g.Expect(err).To(MatchError("5 of 6 BMCs could not be probed"))
	var d document
	g.Expect(json.Unmarshal([]byte(got.out), &d)).To(Succeed())
	g.Expect(d.Reports).To(HaveLen(1))
	kinds := map[string]string{}
	for _, f := range d.Failures {
		kinds[f.Address] = f.Kind
		if f.Kind == "WrongSystem" {
			g.Expect(f.Message).To(ContainSubstring("/redfish/v1/Systems/1"), "the one that there is")
		}
	}
	g.Expect(kinds).To(Equal(map[string]string{
		"standard input, line 1": "Address", "standard input, line 3": "Address", "standard input, line 4": "Address", good.URL + "/redfish/v1/Systems/7": "WrongSystem",
		"standard input, line 6": "Address",
	}))
	g.Expect(got.out + got.err).NotTo(ContainSubstring("calvin"))
}

// TestSystemsOfOneBMCInAList: a wrong password is tried once, though each of them has its
// line: most BMCs lock an account after three tries. A right one opens one session.
func TestSystemsOfOneBMCInAList(t *testing.T) {
	const logins = "POST /redfish/v1/SessionService/Sessions"
	for name, c := range map[string]struct {
		password string
		fails    bool
	}{"a right password": {password, false}, "a wrong one": {"not it", true}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server, s := bmc(t, dell)
			var list []string
			for i := range 6 {
				if i > 0 {
					g.Expect(s.AddSystem(simulator.System{ID: fmt.Sprint(i + 1), Power: simulator.On})).To(Succeed())
				}
				list = append(list, fmt.Sprintf("%s/redfish/v1/Systems/%d", server.URL, i+1))
			}
			t.Setenv("IRONFLOW_BMC_PASSWORD", c.password)
			_, err := runWith(t.Context(), strings.Join(list, "\n"), "probe", "--rate", "100000", "--username", user, "--insecure", "--file", "-", "--output", "json")
			g.Expect(err != nil).To(Equal(c.fails), "%v", err)
			g.Expect(s.Total(logins)).To(Equal(1))
			if !c.fails {
				g.Expect(s.Total("DELETE "+strings.TrimPrefix(logins, "POST "))).To(Equal(1), "our session is ended, by the last one")
			}
		})
	}
}

// TestWrongQuestions: nobody is asked before the question is right.
func TestWrongQuestions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	empty, list, secret := write("empty", "\n"), write("list", "# rack\nipmi://192.0.2.2\nhttps://a:b@192.0.2.3\n"), write("secret", "x")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no address":                {nil, "no BMC to probe"},
		"an empty list":             {[]string{"--file", empty}, "no BMC to probe"},
		"a list that is not there":  {[]string{"--file", filepath.Join(dir, "no")}, "--file:"},
		"a line that is no Redfish": {[]string{"--file", list}, "list, line 2: the address ipmi://192.0.2.2 is not Redfish"},
		"a user without a password": {[]string{"--username", "x", "192.0.2.1"}, "IRONFLOW_BMC_PASSWORD"},
		"a password without a user": {[]string{"--password-file", secret, "192.0.2.1"}, "--username"},
		"an empty password":         {[]string{"--username", "x", "--password-file", empty, "192.0.2.1"}, "is empty"},
		"credentials in an address": {[]string{"https://root:calvin@192.0.2.1"}, "--password-file"},
		"another output":            {[]string{"--output", "xml", "192.0.2.1"}, "none of table, json and yaml"},
		"none at a time":            {[]string{"--parallel", "0", "192.0.2.1"}, "--parallel"},
		"no rate":                   {[]string{"--rate", "0", "192.0.2.1"}, "--rate"},
		"no time":                   {[]string{"--timeout", "0", "192.0.2.1"}, "--timeout"},
		"one pin for two":           {[]string{"--pin", strings.Repeat("ab", 32), "192.0.2.1", "192.0.2.2"}, "--pin"},
		"a pin that is none":        {[]string{"--pin", "abc", "192.0.2.1"}, "pin"},
		"a CA that is none":         {[]string{"--ca-file", secret, "192.0.2.1"}, "192.0.2.1"},
		"a CA that is not there":    {[]string{"--ca-file", filepath.Join(dir, "no"), "192.0.2.1"}, "--ca-file"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := run(t.Context(), append([]string{"probe"}, c.args...)...)
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("calvin"))
			g.Expect(got.out).To(BeEmpty())
		})
	}
}
