package redact_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/redact"
)

// secret is what must not be seen in any case below; pullSecret holds it.
const secret = "S3cr3tV4lue9"

var pullSecret = base64.StdEncoding.EncodeToString([]byte(`{"auths":{"quay.example":{"auth":"` + secret + `"}}}`))

// leaks are lines as they were seen in journals, configurations and bundles,
// and what must stay of them.
var leaks = map[string]struct{ line, stays string }{
	"environment":               {"PULL_SECRET_TOKEN=" + secret, "PULL_SECRET_TOKEN=***"},
	"header":                    {"X-Secret-Key: " + secret, "X-Secret-Key: ***"},
	"query":                     {"POST http://x/v1/commands?agent_token=" + secret + "&wait=true", "POST http://x/v1/commands?agent_token=***&wait=true"},
	"image request":             {"GET /images?image_token=" + secret + " HTTP/1.1", "GET /images?image_token=*** HTTP/1.1"},
	"JSON":                      {`{"agent_token": "` + secret + `", "x": 1}`, `{"agent_token": "***", "x": 1}`},
	"JSON in JSON":              {`{"out": "{\"agent_token\": \"` + secret + `\", \"x\": 1}"}`, `\"x\": 1}"}`},
	"JSON with a quote in it":   {`{"password": "a\"` + secret + `", "x": 1}`, `"x": 1}`},
	"value with spaces":         {`password="two words ` + secret + `" user=core`, "user=core"},
	"Python":                    {`{'agent_token': '` + secret + `', 'x': 1}`, `'x': 1}`},
	"YAML of a kubeconfig":      {"    client-key-data: " + secret, "client-key-data: ***"},
	"argument":                  {"podman run logs_sender -pull-secret-token " + secret + " -url http://hub", "-url http://hub"},
	"argument with sign":        {"logs_sender --pull-secret-token=" + secret + " --url http://hub", "--url http://hub"},
	"Ironic's rescue":           {`'rescue_password': '` + secret + `'`, "rescue_password"},
	"config drive":              {`"configdrive": "H4sIA` + secret + `"`, "configdrive"},
	"user data":                 {`{'user_data': '{"ignition": {"version": "` + secret + `"}}'`, "user_data"},
	"bearer":                    {"Authorization: Bearer " + secret, "Authorization: Bearer ***"},
	"basic":                     {"authorization: Basic " + secret, "authorization: Basic ***"},
	"bearer without its name":   {"curl sent bearer " + secret, "curl sent bearer ***"},
	"header in Ignition":        {`"httpHeaders":[{"name":"Authorization","value":"Bearer ` + secret + `"}]`, `"value":"***"`},
	"header of a step":          {`"request_headers": [{"key": "Authorization", "value": "` + secret + `"}]`, `"value": "***"`},
	"header of Go":              {"map[Authorization:[Bearer " + secret + "]]", "Authorization:[Bearer ***"},
	"pull secret":               {`{"auths":{"r":{"auth":"` + secret + `"}}}`, `"auth":"***"`},
	"pull secret in JSON":       {`"{\"auths\":{\"r\":{\"auth\":\"` + secret + `\"}}}"`, `\"auth\":\"***\"`},
	"pull secret in base64":     {"writing " + pullSecret + " to the disk", "writing *** to the disk"},
	"pull secret of a manifest": {"  .dockerconfigjson: ewogICJhdXRocyI6" + secret, ".dockerconfigjson: ***"},
	"key of a manifest":         {"  tls.key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlF" + secret + "==", "tls.key: ***"},
	"another key of one":        {`{"tls.key":"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUU` + secret + `","x":1}`, `"tls.key":"***","x":1}`},
	"key of a cloud":            {"aws_secret_access_key = " + secret, "aws_secret_access_key = ***"},
	"shared key":                {"wifi-security.psk=" + secret, "wifi-security.psk=***"},
	"file of Ignition":          {`{"path":"/root/.docker/config.json","contents":{"source":"data:text/plain;charset=utf-8;base64,` + secret + `"}}`, "/root/.docker/config.json"},
	"percent file of Ignition":  {`{"source":"data:,token%3D` + secret + `"}`, `{"source":"data:,***"}`},
	"password hash":             {`{"name":"core","passwordHash":"$6$` + secret + `$abc"}`, `"name":"core"`},
	"shadow":                    {"core:$6$rounds=5000$" + secret + "/abc:19000::", "core:***:19000::"},
	"JWT":                       {"peer says eyJhbGciOiJFUzI1NiJ9.eyJ" + secret + ".c2ln and goes", "peer says *** and goes"},
	"proxy":                     {"HTTPS_PROXY=http://user:" + secret + "@proxy.example:3128/x", "http://user:***@proxy.example:3128/x"},
	"proxy with an @ in it":     {"http_proxy=http://user:a@" + secret + "@proxy.example:3128", "http://user:***@proxy.example:3128"},
	"proxy of another kind":     {"ALL_PROXY=socks5://user:" + secret + "@proxy.example", "socks5://user:***@proxy.example"},
	"token as a user":           {"cloning https://" + secret + "@git.example/x", "cloning https://***@git.example/x"},
	"iSCSI boot":                {"netroot=iscsi:user:" + secret + "@192.0.2.1::3260:1:iqn.2026-01.example", "192.0.2.1::3260:1:iqn.2026-01.example"},
	"iSCSI node":                {"node.session.auth.password = " + secret, "node.session.auth.password = ***"},
	"kernel argument":           {"BOOT_IMAGE=/vmlinuz rd.iscsi.password=" + secret + " ro", "BOOT_IMAGE=/vmlinuz rd.iscsi.password=*** ro"},
	"private key in one line":   {`"key":"-----BEGIN EC PRIVATE KEY-----\n` + secret + `\n-----END EC PRIVATE KEY-----\n","next":1`, `"next":1`},
}

func TestSecrets(t *testing.T) {
	for name, tc := range leaks {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out := string(redact.Secrets([]byte(tc.line)))
			g.Expect(out).To(And(ContainSubstring("***"), Not(ContainSubstring(secret)), ContainSubstring(tc.stays)))
			again := string(redact.Secrets([]byte(out)))
			g.Expect(again).To(Equal(out), "what is redacted stays so")
		})
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, line := range []string{
		"disk sda: 5 errors",
		"the token was refused; look at http://hub.example:8090",
		"pulling quay.example:5000/ocp/release@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"docker://quay.example:5000/ocp/release@sha256:0123 is there",
		"ssh core@192.0.2.1 took 3 s; key exchange done",
		"Basic configuration of the host is done",
		"  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUQ=", "  key.pub: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0K",
		"-----BEGIN CERTIFICATE-----", "MIIB", "-----END CERTIFICATE-----",
		`{"path":"/dev/sda","io_sync_duration":7}`,
		"", " ", "money: $5 or $6",
	} {
		g := NewWithT(t)
		g.Expect(string(redact.Secrets([]byte(line)))).To(Equal(line))
		g.Expect(string(redact.Secrets([]byte("\n" + line + "\n\n")))).To(Equal("\n" + line + "\n\n"))
	}
}

func TestKnownValues(t *testing.T) {
	g := NewWithT(t)
	text := "the hub said: no such caller abc.def, try (abc.def)\nx y z\n"
	g.Expect(string(redact.Secrets([]byte(text), "abc.def", "", "x"))).To(Equal("the hub said: no such caller ***, try (***)\nx y z\n"))
}

func TestPrivateKeys(t *testing.T) {
	g := NewWithT(t)
	journal := "Nov 23 06:12:00 host cat[7]: -----BEGIN RSA PRIVATE KEY-----\n" +
		"Nov 23 06:12:00 host cat[7]: " + secret + "\nNov 23 06:12:00 host cat[7]: -----END RSA PRIVATE KEY-----\nNov 23 06:12:01 host cat[7]: done\n"
	g.Expect(string(redact.Secrets([]byte(journal)))).To(Equal("Nov 23 06:12:00 host cat[7]: ***\n\nNov 23 06:12:01 host cat[7]: done\n"))

	endless := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("line\n", 300)
	g.Expect(strings.Count(string(redact.Secrets([]byte(endless))), "line\n")).To(Equal(100), "a key without an end does not swallow the log")
}

func TestLongLinesAreCut(t *testing.T) {
	g := NewWithT(t)
	out := string(redact.Secrets([]byte(strings.Repeat("x", 2<<20) + "\nnext\n")))
	g.Expect(out).To(HaveSuffix("xxx … 1048576 more bytes\nnext\n"))
	g.Expect(len(out)).To(BeNumerically("<", 1<<20+100))
}

func TestAStreamIsTheSameInAnyPieces(t *testing.T) {
	g := NewWithT(t)
	var all []string
	for _, tc := range leaks {
		all = append(all, tc.line)
	}
	text := []byte(strings.Join(all, "\n") + "\nlast line without an end " + secret)
	want := redact.Secrets(text, secret)
	for _, size := range []int{1, 7, 64, 4096} {
		var out bytes.Buffer
		w := redact.NewWriter(&out, secret)
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			n, err := w.Write(rest[:min(size, len(rest))])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(n).To(Equal(min(size, len(rest))))
		}
		g.Expect(w.Close()).To(Succeed())
		g.Expect(out.String()).To(Equal(string(want)), "pieces of %d", size)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestAFullWriterBehindIsTold(t *testing.T) {
	g := NewWithT(t)
	_, err := redact.NewWriter(full{}).Write([]byte("a\nb\n"))
	g.Expect(errors.Is(err, io.ErrShortWrite)).To(BeTrue())
}

// FuzzSecrets: whatever stands around a secret, it does not come through.
func FuzzSecrets(f *testing.F) {
	for _, tc := range leaks {
		f.Add("Nov 23 06:12:00 host agent[1]: ", tc.line)
	}
	f.Add("-----BEGIN RSA PRIVATE KEY-----", "\\\"'=:")
	f.Fuzz(func(t *testing.T, before, after string) {
		for name, tc := range leaks {
			text := before + "\n" + tc.line + "\n" + after
			out := redact.Secrets([]byte(text))
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, tc.line, ""), "\n", ""), secret) {
				return // the fuzzer wrote the secret itself
			}
			if bytes.Contains(out, []byte(secret)) {
				t.Errorf("%s comes through: %q", name, out)
			}
		}
		once := redact.Secrets([]byte(after))
		if strings.Count(string(once), "\n") > strings.Count(after, "\n") {
			t.Errorf("lines were added: %q", once)
		}
	})
}

func BenchmarkSecrets(b *testing.B) {
	line := "Nov 23 06:12:00 host systemd[1]: Started session 5 of the operator core, which took 3 ms.\n"
	text := []byte(strings.Repeat(line, 9) + "agent_token=" + secret + "\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		redact.Secrets(text)
	}
}
