package messages_test

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// prefixes are the protocol's: what the number of a file stands for.
var prefixes = map[string]string{
	"60_config-image": "config image", "60_hostname": "the host's own name", "60_installed": "an earlier installation of the host", "60_network": "the host's own network",
	"60_network-nmstate": "the host's own network",
	"60_rendezvous-host": "rendezvous", "65_registry": "registry of the release", "65_token": "tokens of added nodes", "70_agent-services": "services",
	"70_hub": "services", "70_hub-copy": "services", "70_hub-state": "state of the hub", "70_import-cluster": "services", "70_register-cluster": "services", "70_register-infraenv": "services",
	"80_apply-host-config": "host config", "80_host-config": "host config", "90_add-node": "start", "90_start-cluster": "start", "90_ui-availability": "UI", "95_load-config-image": "config image",
}

func TestTheTable(t *testing.T) {
	g := NewWithT(t)
	ids := map[messages.ID]bool{}
	slots := map[string]bool{}
	var order []string
	for _, m := range messages.Table() {
		g.Expect(ids[m.ID]).To(BeFalse(), "%s twice", m.ID)
		ids[m.ID], slots[string(m.Slot)] = true, true
		order = append(order, string(m.Slot))
		g.Expect(m.Severity).To(BeElementOf(messages.Info, messages.Warning, messages.Error), m.ID)
		g.Expect(strings.Count(m.Format, "%s")).To(Equal(len(m.Args)), m.ID)
		g.Expect(strings.Count(m.Format, "%")).To(Equal(len(m.Args)), m.ID)
		g.Expect(string(m.ID)).To(MatchRegexp(`^[a-z_]+$`))
	}
	g.Expect(slices.IsSorted(order)).To(BeTrue())
	for slot := range slots {
		g.Expect(prefixes).To(HaveKey(slot))
	}
	g.Expect(slots).To(HaveLen(len(prefixes)))
	// Every ID of the sources is in the table.
	raw, err := os.ReadFile("table.go")
	g.Expect(err).NotTo(HaveOccurred())
	for _, found := range regexp.MustCompile(`ID = "([a-z_]+)"`).FindAllStringSubmatch(string(raw), -1) {
		delete(ids, messages.ID(found[1]))
	}
	g.Expect(ids).To(BeEmpty())
	g.Expect(regexp.MustCompile(`(?m)^\s+\w+\s+ID = "`).FindAllString(string(raw), -1)).To(HaveLen(len(order)))
}

// getty counts how often terminals are told.
type getty struct {
	calls int
	err   error
}

func (g *getty) Run(_ context.Context, c command.Command) error {
	if c.Name != "agetty" || !slices.Equal(c.Args, []string{"--reload"}) {
		return errors.New("what is that?")
	}
	g.calls++
	return g.err
}

func TestMessagesAreShownOnceAndCleared(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	read := func(path string) string {
		raw, err := os.ReadFile(dir.Path(path))
		g.Expect(err).NotTo(HaveOccurred())
		return string(raw)
	}
	terminals := &getty{err: errors.New("no terminal here")}
	c := &messages.Console{Dir: dir, Commands: terminals, Log: slog.New(slog.DiscardHandler)}
	c.Show(t.Context(), messages.RendezvousIs, "192.0.2.1", "eth0")
	c.Show(t.Context(), messages.RendezvousIs, "192.0.2.1", "eth0")
	g.Expect(terminals.calls).To(Equal(1), "the same is not said twice")
	g.Expect(read("/etc/issue.d/60_rendezvous-host.issue")).To(Equal(`\e{lightgreen}This host is the rendezvous host: it has 192.0.2.1 on eth0.\e{reset}` + "\n"))
	g.Expect(read("/etc/motd.d/60_rendezvous-host")).To(Equal("This host is the rendezvous host: it has 192.0.2.1 on eth0.\n"))
	g.Expect(read(messages.Notes + "/60_rendezvous-host.json")).To(MatchJSON(`{"id":"rendezvous_is","severity":"info","text":"This host is the rendezvous host: it has 192.0.2.1 on eth0."}`))

	c.Show(t.Context(), messages.RendezvousIsNot, "192.0.2.1", "192.0.2.7")
	g.Expect(read("/etc/issue.d/60_rendezvous-host.issue")).To(ContainSubstring("is not the rendezvous host"), "a slot has one message")
	another := &messages.Console{Dir: dir, Commands: terminals, Log: slog.New(slog.DiscardHandler)}
	another.Clear(t.Context(), messages.SlotRendezvous)
	for _, file := range []string{"/etc/issue.d/60_rendezvous-host.issue", "/etc/motd.d/60_rendezvous-host", messages.Notes + "/60_rendezvous-host.json"} {
		g.Expect(dir.Path(file)).NotTo(BeAnExistingFile())
	}
	calls := terminals.calls
	another.Clear(t.Context(), messages.SlotRendezvous)
	g.Expect(terminals.calls).To(Equal(calls), "nothing to clear, nothing to show")
}

// What comes from outside does not write elsewhere on the screen, nor ask agetty for anything.
func TestHostileTexts(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	c := &messages.Console{Dir: dir, Commands: &getty{}, Log: slog.New(slog.DiscardHandler)}
	c.Show(t.Context(), messages.ConfigImageRefused, "/dev/sr0", "\x1b[2J\\n\\e{red} %s \x9b1m\xff"+strings.Repeat("x", 5000))
	raw, err := os.ReadFile(dir.Path("/etc/issue.d/95_load-config-image.issue"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(ContainSubstring(`refused: [2J\\n\\e{red} %s ?1m?xxx`))
	g.Expect(string(raw)).NotTo(ContainSubstring("\x1b"))
	g.Expect(len(raw)).To(BeNumerically("<", 1200))
}

// A reason comes from wherever something failed, and everybody who passes by the screen reads it:
// one line of at most 1,000 bytes, without secrets.
func TestReasonsOfFailures(t *testing.T) {
	const token, password = "eyJhbGciOiJFUzI1NiJ9.eyJhdXRoX3NjaGVtZSI6InVzZXJBdXRoIn0.c2lnbmF0dXJl", "correct-horse"
	auth := base64.StdEncoding.EncodeToString([]byte("robot:" + password))
	dir := hostfile.Dir{Root: t.TempDir()}
	for file, text := range map[string]string{
		places.RendezvousHost:                  "USER_AUTH_TOKEN=plain-token-of-the-user\n",
		places.Manifests + "/pull-secret.yaml": `stringData: {.dockerconfigjson: '{"auths":{"quay.example":{"auth":"` + auth + `"}}}'}`,
	} {
		NewWithT(t).Expect(places.Write(dir, file, []byte(text), 0o600)).To(Succeed())
	}
	for said, want := range map[string]string{
		"register cluster edge: hub answered 400:\n\n  no such   version.\nand more": "register cluster edge: hub answered 400:; no such version.; and more",
		"a\x1b[2Jb": "a[2Jb",
		"/etc/assisted/manifests/pull-secret.yaml, document 1, line 8: spec.sped is unknown": "/etc/assisted/manifests/pull-secret.yaml, document 1, line 8: spec.sped is unknown",
		"pull secret: no credentials of quay.example":                                        "pull secret: no credentials of quay.example",
		"the token " + token + " has ended":                                                  "the token *** has ended",
		"the token plain-token-of-the-user is not valid":                                     "the token *** is not valid",
		"credentials " + auth + ", which are robot:" + password:                              "credentials ***, which are ***",
		"with " + password: "with ***",
		`pull_secret is {"auths":{"a.example":{"auth":"b3RoZXI="}}}`:            `pull_secret is {"auths":{"a.example":{"auth":"***"}}}`,
		`pull_secret is "{\"auths\":{\"a.example\":{\"auth\":\"b3RoZXI=\"}}}"`:  `pull_secret is "{\"auths\":{\"a.example\":{\"auth\":\"***\"}}}"`,
		`http_proxy "http://robot:hunter2@proxy.example:3128" is no URL`:        `http_proxy "http://***@proxy.example:3128" is no URL`,
		"Authorization: Bearer abc and USER_AUTH_TOKEN=abc":                     "Authorization: Bearer *** and USER_AUTH_TOKEN=***",
		"password: hunter2, wifi-sec.psk=hunter2":                               "password: ***, wifi-sec.psk=***",
		"hash $6$salt$abc.def/ of core":                                         "hash *** of core",
		"a -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- b": "a *** b",
	} {
		g := NewWithT(t)
		c := &messages.Console{Dir: dir, Commands: &getty{}, Log: slog.New(slog.DiscardHandler)}
		c.Fail(t.Context(), messages.HubFailed, errors.New(said))
		note, there := c.Shows(messages.SlotHub)
		g.Expect(there).To(BeTrue())
		g.Expect(note.Text).To(Equal("Installation cannot proceed: the hub of this installation does not start, and is tried again: "+want+"."), said)
	}
	g := NewWithT(t)
	for _, m := range messages.Table() {
		if len(m.Args) != 1 || !strings.HasSuffix(string(m.ID), "_failed") || m.ID == messages.HostConfigFailed {
			continue
		}
		c := &messages.Console{Dir: dir, Commands: &getty{}, Log: slog.New(slog.DiscardHandler)}
		c.Fail(t.Context(), m.ID, errors.New(strings.Repeat("ä\n", 3000)))
		note, _ := c.Shows(m.Slot)
		g.Expect(len(note.Text)).To(BeNumerically("<=", 1000), m.ID)
		g.Expect(note.Text).NotTo(ContainSubstring("\n"), m.ID)
	}
}

// What the console says by other ways has no secret either.
func TestNoMessageHasASecret(t *testing.T) {
	g := NewWithT(t)
	c := &messages.Console{Dir: hostfile.Dir{Root: t.TempDir()}, Commands: &getty{}, Log: slog.New(slog.DiscardHandler)}
	c.Show(t.Context(), messages.StartRefused, "proxy http://robot:hunter2@proxy.example does not answer")
	note, _ := c.Shows(messages.SlotStart)
	g.Expect(note.Text).To(Equal("The hub does not start the installation: proxy http://***@proxy.example does not answer."))
}
