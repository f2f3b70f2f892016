package settings_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/commands/settings"
)

// site is a configuration as a program has it.
type site struct {
	metav1.TypeMeta `json:",inline"`

	Server server `json:"server,omitzero"`
	Limits limits `json:"limits,omitzero"`
}

type server struct {
	Address    string   `json:"address,omitempty"`
	PublishURL string   `json:"publishURL,omitempty"`
	Names      []string `json:"names,omitempty"`
	Password   string   `json:"-"`
}

type limits struct {
	Hosts   int             `json:"hosts,omitempty"`
	Timeout metav1.Duration `json:"timeout,omitzero"`
	Soft    bool            `json:"soft,omitempty"`
}

// program has a command that reads the settings of the server, and another one that reads all.
type program struct {
	*WithT
	site

	dir string
	all bool
}

func newProgram(t *testing.T) *program {
	t.Helper()
	return &program{WithT: NewWithT(t), dir: t.TempDir(), all: true}
}

func (p *program) command() *cobra.Command {
	c := &cobra.Command{Use: "serve", SilenceUsage: true, SilenceErrors: true, RunE: func(*cobra.Command, []string) error { return nil }}
	groups := []settings.Group{
		{Title: "Server", Rows: []settings.Row{
			settings.Text("addr", "SITE_ADDR", ":80", "address", &p.Server.Address),
			settings.Text("publish-url", "SITE_URL", "", "URL", &p.Server.PublishURL),
			settings.List("name", "SITE_NAMES", "a,b", "names", &p.Server.Names),
			settings.Secret("password", "SITE_PASSWORD", "", "password", &p.Server.Password),
		}},
		{Title: "Limits", Rows: []settings.Row{
			settings.Number("hosts", "SITE_HOSTS", "5", "hosts", &p.Limits.Hosts),
			settings.Duration("timeout", "SITE_TIMEOUT", "30s", "timeout", &p.Limits.Timeout),
			settings.Bool("limit-soft", "SITE_SOFT", "false", "soft", &p.Limits.Soft),
		}},
	}
	schema := settings.Schema{APIVersion: "config.site.example/v1", Kind: "Site", Config: &p.site, Groups: groups}
	if !p.all {
		groups = groups[:1]
	}
	settings.Add(c, schema, groups)
	c.Flags().String("output", "text", "not a setting")
	return c
}

// run runs the command with a file, unless that is empty.
func (p *program) run(file string, args ...string) error {
	c := p.command()
	if file != "" {
		path := filepath.Join(p.dir, "site.yaml")
		p.Expect(os.WriteFile(path, []byte(file), 0o600)).To(Succeed())
		args = append(args, "--config="+path)
	}
	c.SetArgs(append([]string{}, args...))
	return c.Execute()
}

const head = "apiVersion: config.site.example/v1\nkind: Site\n"

const full = head + `server:
  address: ":81"
  publishURL: https://file.example
  names: [c, d]
limits:
  hosts: 7
  timeout: 1m30s
  soft: true
`

// TestPrecedence: a flag comes before the environment, that before the file, and that before the default.
func TestPrecedence(t *testing.T) {
	p := newProgram(t)
	p.Expect(p.run("")).To(Succeed())
	p.Expect(p.site).To(Equal(site{Server: server{Address: ":80", Names: []string{"a", "b"}}, Limits: limits{Hosts: 5, Timeout: metav1.Duration{Duration: 30 * time.Second}}}))

	p = newProgram(t)
	p.Expect(p.run(full)).To(Succeed())
	p.Expect(p.site).To(Equal(site{
		Server: server{Address: ":81", PublishURL: "https://file.example", Names: []string{"c", "d"}},
		Limits: limits{Hosts: 7, Timeout: metav1.Duration{Duration: 90 * time.Second}, Soft: true},
	}))

	t.Setenv("SITE_HOSTS", "8")
	t.Setenv("SITE_NAMES", "")
	t.Setenv("SITE_TIMEOUT", "10")
	p = newProgram(t)
	p.Expect(p.run(full, "--timeout=1s", "--addr=:80")).To(Succeed())
	p.Expect(p.Server).To(Equal(server{Address: ":80", PublishURL: "https://file.example"}), "a flag with its default, and a variable that is empty, have been given")
	p.Expect(p.Limits).To(Equal(limits{Hosts: 8, Timeout: metav1.Duration{Duration: time.Second}, Soft: true}))
}

// TestTheFileIsNamedByTheEnvironment, as in a Deployment.
func TestTheFileIsNamedByTheEnvironment(t *testing.T) {
	p := newProgram(t)
	path := filepath.Join(p.dir, "site.yaml")
	p.Expect(os.WriteFile(path, []byte(full), 0o600)).To(Succeed())
	t.Setenv("IRONFLOW_CONFIG", path)
	p.Expect(p.run("")).To(Succeed())
	p.Expect(p.Limits.Hosts).To(Equal(7))
}

// TestOneFileServesSeveralCommands: what a command does not have is left alone, and is wrong all the same if it is.
func TestOneFileServesSeveralCommands(t *testing.T) {
	p := newProgram(t)
	p.all = false
	p.Expect(p.run(full)).To(Succeed())
	p.Expect(p.Server.Address).To(Equal(":81"))
	p.Expect(p.run(head + "limits: {host: 1}\n")).To(MatchError(ContainSubstring("did you mean limits.hosts?")))
}

// TestWhatIsWrongWithAFile is said by line, with what was probably meant.
func TestWhatIsWrongWithAFile(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"a misspelt topic":      {head + "servr:\n  address: x\n", "site.yaml:3: there is no servr: did you mean server?"},
		"a misspelt setting":    {head + "server:\n  addrex: x\n", "site.yaml:4: there is no server.addrex: did you mean server.address?"},
		"another case":          {head + "server:\n  publishUrl: x\n", "site.yaml:4: there is no server.publishUrl: did you mean server.publishURL?"},
		"a flag's name":         {head + "server: {publish-url: x}\n", "site.yaml:3: there is no server.publish-url: in this file it is server.publishURL"},
		"a variable's name":     {head + "SITE_HOSTS: 7\n", "site.yaml:3: there is no SITE_HOSTS: in this file it is limits.hosts"},
		"another topic's":       {head + "server:\n  soft: true\n", "site.yaml:4: there is no server.soft: did you mean limits.soft?"},
		"a secret":              {head + "server:\n  password: hunter2\n", "site.yaml:4: server.password is a secret, which stays out of this file: set SITE_PASSWORD"},
		"a secret by its flag":  {head + "password: hunter2\n", "site.yaml:3: password is a secret, which stays out of this file: set SITE_PASSWORD"},
		"a number":              {head + "limits:\n  hosts: many\n", "site.yaml:4: limits.hosts is a whole number, such as 10"},
		"a truth value":         {head + "limits:\n  soft: \"yes\"\n", "site.yaml:4: limits.soft is a truth value: write true or false"},
		"a time without a unit": {head + "limits:\n  timeout: 30\n", "site.yaml:4: limits.timeout is a duration: write it with its unit, such as 30s"},
		"no time":               {head + "limits:\n  timeout: soon\n", `site.yaml:4: limits.timeout is "soon", which is no duration`},
		"a text that is none":   {head + "server:\n  address: 0\n", `site.yaml:4: server.address is a text: put it in quotes, such as "0"`},
		"a list that is none":   {head + "server:\n  names: a,b\n", "site.yaml:4: server.names is a list of texts"},
		"two in one":            {head + "server:\n  names: [\"a,b\"]\n", "site.yaml:4: server.names is a list: what is before and behind a comma are two entries of it"},
		"a topic that is none":  {head + "limits: 3\n", "site.yaml:3: limits is a topic: its settings go below it, such as hosts, soft, timeout"},
		"another kind":          {"apiVersion: config.site.example/v1\nkind: Pod\n", `site.yaml:1: kind is "Pod": this program reads kind Site`},
		"another version":       {"apiVersion: config.site.example/v2\nkind: Site\n", `apiVersion is "config.site.example/v2": this program reads apiVersion config.site.example/v1`},
		"a setting twice":       {head + "limits:\n  hosts: 1\n  hosts: 2\n", "already set"},
		"no mapping":            {"[a]\n", "site.yaml:1: this is no Site"},
		"nothing":               {"# nothing\n", "is empty: it begins with apiVersion: config.site.example/v1 and kind: Site"},
		"no YAML":               {"a: [\n", "not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			err := p.run(c.file)
			p.Expect(err).To(MatchError(ContainSubstring(c.want)))
			p.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
		})
	}
}

// TestAllThatIsWrongIsSaidAtOnce, in the order of the lines.
func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	p := newProgram(t)
	p.Expect(p.run(head + "limits:\n  soft: 1\n  hosts: x\nserver:\n  addrex: y\n")).To(MatchError(MatchRegexp(`:4: [^\n]+\n[^\n]+:5: [^\n]+\n[^\n]+:7: [^\n]+$`)))
	p.Expect(p.run("", "--config=/none/site.yaml")).To(MatchError("--config: open /none/site.yaml: no such file or directory"))
}

// TestHelpIsByTopic: settings stand below their topics, and the other flags behind them.
func TestHelpIsByTopic(t *testing.T) {
	p := newProgram(t)
	t.Setenv("SITE_PASSWORD", "hunter2")
	c := p.command()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"--help"})
	p.Expect(c.Execute()).To(Succeed())
	p.Expect(out.String()).To(MatchRegexp(`(?s)Usage:\n  serve.*\n` +
		`Server:\n +--addr string +address \(\$SITE_ADDR\) \(default ":80"\)\n.*--password.*\n` +
		`Limits:\n +--hosts int.*--limit-soft.*\n` +
		`Other flags:\n.*--config string.*--output`))
	p.Expect(out.String()).NotTo(ContainSubstring("hunter2"))
}
