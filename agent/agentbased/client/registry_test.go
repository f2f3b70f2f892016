package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/api/hostfile"
)

// registry is one that hands out tokens, with an image of one architecture and an index.
func registry(t *testing.T) (*httptest.Server, *[]string) {
	t.Helper()
	var asked []string
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"token": "t0ken"}`)
	})
	for path, body := range map[string]string{
		"/v2/ocp/release/manifests/sha256:one":   `{"config": {"digest": "sha256:config"}}`,
		"/v2/ocp/release/manifests/sha256:many":  `{"manifests": [{"digest": "sha256:one"}, {"digest": "sha256:two"}]}`,
		"/v2/ocp/release/manifests/sha256:list":  `{"manifests": [{"digest": "sha256:arm"}]}`,
		"/v2/ocp/release/manifests/sha256:arm":   `{"config": {"digest": "sha256:armconfig"}}`,
		"/v2/ocp/release/manifests/latest":       `{"config": {"digest": "sha256:other"}}`,
		"/v2/ocp/release/blobs/sha256:config":    `{"architecture": "amd64", "config": {"Labels": {"io.openshift.release": "4.19.3"}}}`,
		"/v2/ocp/release/blobs/sha256:armconfig": `{"architecture": "arm64", "config": {"Labels": {"io.openshift.release": "4.19.3"}}}`,
		"/v2/ocp/release/blobs/sha256:other":     `{"architecture": "s390x", "config": {}}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer t0ken" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="`+server.URL+`/token",service="registry.example"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, body)
		})
	}
	return server, &asked
}

func TestWhatAReleaseImageIs(t *testing.T) {
	for name, tc := range map[string]struct {
		image, mirror, secret string
		version, architecture string
		want                  string
	}{
		"by its tag":                   {image: "quay.example/ocp:4.19.3-x86_64", version: "4.19.3", architecture: "x86_64"},
		"a candidate by its tag":       {image: "quay.example/ocp:4.20.0-ec.3-multi", version: "4.20.0-ec.3", architecture: "multi"},
		"by its digest":                {image: "REGISTRY/ocp/release@sha256:one", version: "4.19.3", architecture: "x86_64"},
		"the digest before the tag":    {image: "REGISTRY/ocp/release:4.1.1-x86_64@sha256:one", version: "4.19.3", architecture: "x86_64"},
		"of several architectures":     {image: "REGISTRY/ocp/release@sha256:many", version: "4.19.3", architecture: "multi"},
		"a list of one":                {image: "REGISTRY/ocp/release@sha256:list", version: "4.19.3", architecture: "aarch64"},
		"at its mirror":                {image: "quay.example/ocp@sha256:one", mirror: "REGISTRY/ocp/release", version: "4.19.3", architecture: "x86_64"},
		"no release":                   {image: "REGISTRY/ocp/release", want: "no label io.openshift.release: it is no release"},
		"no such image":                {image: "REGISTRY/ocp/release@sha256:none", want: "the registry answered 404 Not Found; a tag such as 4.19.3-x86_64 would say it, too"},
		"a secret that does not fit":   {image: "REGISTRY/ocp/release@sha256:one", secret: `{"auths": {"REGISTRY": {"auth": "eDp5"}}}`, want: "log in: the pull secret does not open it"},
		"a secret of another registry": {image: "REGISTRY/ocp/release@sha256:one", secret: `{"auths": {"quay.example": {"auth": "dTpw"}}}`, want: "log in: the pull secret does not open it"},
		"a name without a registry":    {image: "release", want: "names no registry"},
		"a mirror without a registry":  {image: "quay.example/ocp@sha256:one", mirror: "mirror", want: "OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR"},
		"a registry that is not there": {image: "127.0.0.1:1/ocp@sha256:one", want: "ask 127.0.0.1:1 what it is: manifests/sha256:one: dial tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server, asked := registry(t)
			here := func(text string) string {
				return strings.ReplaceAll(text, "REGISTRY", strings.TrimPrefix(server.URL, "https://"))
			}
			secret := tc.secret
			if secret == "" {
				secret = `{"auths": {"REGISTRY": {"auth": "eDp5"}, "REGISTRY/ocp": {"auth": "dTpw"}}}`
			}
			var version, architecture string
			sources, err := client.Sources(hostfile.Dir{Root: t.TempDir()}, here(tc.image), here(tc.mirror))
			if err == nil {
				version, architecture, err = client.Registry{HTTP: server.Client()}.Look(t.Context(), here(tc.image), sources, here(secret))
			}
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([]string{version, architecture}).To(Equal([]string{tc.version, tc.architecture}))
			if strings.HasPrefix(name, "a candidate") || strings.HasPrefix(name, "by its tag") {
				g.Expect(*asked).To(BeEmpty())
			} else {
				g.Expect((*asked)[1]).To(HavePrefix("/token?scope=repository%3Aocp%2Frelease%3Apull&service=registry.example Basic "))
			}
		})
	}
}

// digest is that of a release.
var digest = "sha256:" + strings.Repeat("0a", 32)

// TestAReleaseIsLookedUpWhereItIsPulledFrom: the host's registries.conf says where, as for container tools and the console's check.
func TestAReleaseIsLookedUpWhereItIsPulledFrom(t *testing.T) {
	plain := httptest.NewServer(answering(t))
	t.Cleanup(plain.Close)
	unknown := httptest.NewTLSServer(answering(t)) // whose certificate nobody trusts
	t.Cleanup(unknown.Close)
	empty := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(empty.Close)
	mirror := func(server *httptest.Server, more string) string {
		_, address, _ := strings.Cut(server.URL, "://")
		return "[[registry.mirror]]\nlocation = \"" + address + "/mirror\"\n" + more + "\n"
	}
	const (
		registry = "[[registry]]\nlocation = \"quay.invalid/ocp\"\n"
		insecure = "insecure = true"
	)
	for name, tc := range map[string]struct {
		conf string
		env  string
		want string
	}{
		"without TLS":                        {conf: registry + mirror(plain, insecure)},
		"without a good certificate":         {conf: registry + mirror(unknown, insecure)},
		"at the second mirror":               {conf: registry + mirror(empty, insecure) + mirror(plain, insecure)},
		"at a mirror for digests":            {conf: registry + "mirror-by-digest-only = true\n" + mirror(plain, insecure)},
		"at the source, moved":               {conf: "[[registry]]\nprefix = \"*.invalid\"\n" + insecure + "\nlocation = \"" + strings.TrimPrefix(plain.URL, "http://") + "\""},
		"with the mirror of the environment": {conf: registry + mirror(plain, insecure), env: strings.TrimPrefix(plain.URL, "http://") + "/mirror/release"},
		"after one that is only there":       {conf: registry + mirror(plain, insecure), env: "127.0.0.1:1/ocp"},
		"never without TLS, unless allowed":  {conf: registry + mirror(plain, ""), want: "server gave HTTP response to HTTPS client"},
		"nowhere":                            {conf: registry + "blocked = true", want: "/etc/containers/registries.conf blocks quay.invalid/ocp/release, and has no mirror of it"},
		"at a mirror for tags":               {conf: registry + "blocked = true\n" + mirror(plain, insecure+"\npull-from-mirror = \"tag-only\""), want: "blocks quay.invalid/ocp/release"},
		"a file that is no TOML":             {conf: "[[registry", want: "/etc/containers/registries.conf: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub, root := newHub(t, fresh()), host(t)
			conf := filepath.Join(root, "etc/containers/registries.conf")
			g.Expect(os.MkdirAll(filepath.Dir(conf), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(conf, []byte(tc.conf), 0o600)).To(Succeed())
			images := filepath.Join(root, "manifests/cluster-image-set.yaml")
			raw, err := os.ReadFile(images)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(images, []byte(strings.Replace(string(raw), "registry.example/ocp-release:4.19.3-x86_64", "quay.invalid/ocp/release@"+digest, 1)), 0o600)).To(Succeed())
			err = newClient(t, hub.URL, root, map[string]string{"OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR": tc.env}).Run(t.Context(), "registerCluster")
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(hub.body(t, "POST /clusters")).To(And(ContainSubstring(`"openshift_version":"4.19.3"`), ContainSubstring(`"ocp_release_image":"quay.invalid/ocp/release@`+digest+`"`)))
		})
	}
}

// answering is a registry that has the image in every repository, for everybody.
func answering(t *testing.T) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/release/manifests/"+digest):
			_, _ = io.WriteString(w, `{"config": {"digest": "sha256:config"}}`)
		case strings.HasSuffix(r.URL.Path, "/release/blobs/sha256:config"):
			_, _ = io.WriteString(w, `{"architecture": "amd64", "config": {"Labels": {"io.openshift.release": "4.19.3"}}}`)
		default:
			http.NotFound(w, r)
		}
	})
}
