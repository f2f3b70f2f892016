package hubpaths_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/server"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/liveimage"
)

const (
	env   = "0ad6d3b0-1111-4222-8333-000000000001"
	other = "0ad6d3b0-1111-4222-8333-000000000002"
)

// hub has one infra-env and one token.
type hub struct {
	open  bool
	specs int
	// change is in the infra-env's settings; revoked and gone take its token and itself away.
	change        string
	revoked, gone bool
	// away is why tokens cannot be looked up.
	away error
	// broken is why there is no image; failures is what the hub was told.
	broken   error
	failures []string
	// lacks is what the image is made without.
	lacks error
	// medium is what was asked for last.
	medium string
}

func (h *hub) Failed(_ context.Context, infraEnv string, err error) {
	h.failures = append(h.failures, infraEnv+": "+err.Error())
}

func (h *hub) Open() bool { return h.open }

func (h *hub) Opens(_ context.Context, token string) (string, error) {
	if token != "good" || h.revoked {
		return "", hubpaths.ErrBadToken
	}
	if h.away != nil {
		return "", h.away
	}
	return env, nil
}

func (h *hub) Spec(_ context.Context, infraEnv, arch, version string) (images.Spec, error) {
	h.specs++
	h.medium = arch + " " + version
	if infraEnv != env || h.gone {
		return images.Spec{}, hubpaths.ErrNoInfraEnv
	}
	if h.broken != nil {
		return images.Spec{}, h.broken
	}
	return images.Spec{Ignition: []byte(`{"of":"` + infraEnv + h.change + `"}`), Lacks: h.lacks}, nil
}

// serve starts an image server over the fixtures of two architectures.
func serve(t *testing.T, h *hub) string {
	t.Helper()
	g, dir := NewWithT(t), t.TempDir()
	for _, name := range []string{"2023-07.x86_64", "2023-07.s390x"} {
		g.Expect(os.WriteFile(filepath.Join(dir, name+".iso"), coreosiso.Read(t, name), 0o600)).To(Succeed())
	}
	registry, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	store, err := images.NewStore(t.Context(), images.Options{Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32)})
	g.Expect(err).NotTo(HaveOccurred())
	store.MarkSynced()
	s := httptest.NewServer(server.New(server.Options{Store: store, Log: logr.Discard(), Alias: hubpaths.New(h, store).Resolve}))
	t.Cleanup(s.Close)
	return s.URL
}

func get(t *testing.T, url string, header ...string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, raw
}

func TestHubPaths(t *testing.T) {
	const version = "38.20230718.dev.0"
	h := &hub{}
	at := serve(t, h)
	for path, want := range map[string]int{
		"/bytoken/good/" + version + "/x86_64/full.iso":                          200,
		"/bytoken/good/" + version + "/x86_64/minimal.iso":                       200,
		"/bytoken/good/newest/x86_64/full.iso":                                   200,
		"/byapikey/good/" + version + "/x86_64/full.iso":                         200,
		"/images/" + env + "?version=" + version + "&image_token=good":           200,
		"/images/" + env + "?type=minimal-iso&api_key=good":                      200,
		"/images/" + env + "/pxe-initrd?arch=x86_64&image_token=good":            200,
		"/images/" + env + "/s390x-initrd-addrsize?arch=s390x&image_token=good":  200,
		"/boot-artifacts/kernel?version=" + version + "&arch=x86_64":             200,
		"/boot-artifacts/kernel?arch=s390x":                                      200,
		"/boot-artifacts/rootfs":                                                 200,
		"/boot-artifacts/ins-file?arch=s390x":                                    200,
		"/boot-artifacts/ins-file?arch=x86_64":                                   404,
		"/boot-artifacts/initrd":                                                 404,
		"/images/" + env + "/s390x-initrd-addrsize?arch=x86_64&image_token=good": 404,
		"/bytoken/good/" + version + "/x86_64/disconnected.iso":                  404,
		"/bytoken/good/1.0/x86_64/full.iso":                                      404,
		"/bytoken/good/" + version + "/aarch64/full.iso":                         404,
		"/bytoken/bad/" + version + "/x86_64/full.iso":                           401,
		"/byid/" + env + "/" + version + "/x86_64/full.iso":                      401,
		"/images/" + env:                         401,
		"/images/" + other + "?image_token=good": 401,
		"/images/no-uuid?image_token=good":       404,
	} {
		code, _ := get(t, at+path)
		NewWithT(t).Expect(code).To(Equal(want), path)
	}
}

// TestTokenThatCannotBeLookedUp: a BMC gives up at 401, and asks again after 503.
func TestTokenThatCannotBeLookedUp(t *testing.T) {
	g := NewWithT(t)
	h := &hub{away: errors.New("database is locked")}
	at := serve(t, h)
	code, _ := get(t, at+"/bytoken/good/newest/x86_64/full.iso")
	g.Expect(code).To(Equal(http.StatusServiceUnavailable))
	h.away = nil
	code, _ = get(t, at+"/bytoken/good/newest/x86_64/full.iso")
	g.Expect(code).To(Equal(http.StatusOK), "the failure is not remembered")
}

func TestHubImageIsServedLikeAnyOther(t *testing.T) {
	g, h := NewWithT(t), &hub{open: true}
	url := serve(t, h) + "/byid/" + env + "/38.20230718.dev.0/x86_64/full.iso"
	code, whole := get(t, url)
	g.Expect(code).To(Equal(200))
	g.Expect(liveimage.Ignition(bytes.NewReader(whole), int64(len(whole)))).To(BeEquivalentTo(`{"of":"` + env + `"}`))
	for range 20 {
		code, part := get(t, url, "Range", "bytes=139264-139300")
		g.Expect(code).To(Equal(206))
		g.Expect(part).To(Equal(whole[139264:139301]))
	}
	g.Expect(h.specs).To(Equal(1), "a BMC's ranges do not ask the hub each time")
	code, _ = get(t, serve(t, h)+"/byid/"+other+"/38.20230718.dev.0/x86_64/full.iso")
	g.Expect(code).To(Equal(404))
}

// TestAChangedInfraEnvIsAnotherFile: clients that keep a copy ask whether the file under the
// address has changed since, by its validator or by its time, and must not go on with the
// secrets of before, nor put the parts of two images together.
func TestAChangedInfraEnvIsAnotherFile(t *testing.T) {
	const path = "/bytoken/good/newest/x86_64/full.iso"
	for name, headers := range map[string]func(h http.Header) http.Header{
		"has it changed since": func(h http.Header) http.Header { return http.Header{"If-Modified-Since": h["Last-Modified"]} },
		"is it another":        func(h http.Header) http.Header { return http.Header{"If-None-Match": h["Etag"]} },
		"go on, by its time": func(h http.Header) http.Header {
			return http.Header{"If-Range": h["Last-Modified"], "Range": {"bytes=1000-"}}
		},
		"go on, by its validator": func(h http.Header) http.Header {
			return http.Header{"If-Range": h["Etag"], "Range": {"bytes=1000-"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hub{}
				s := newShelf(t, h)
				images := server.New(server.Options{Store: s.store, Log: logr.Discard(), Alias: s.resolver.Resolve})
				ask := func(headers http.Header) *httptest.ResponseRecorder {
					r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody), httptest.NewRecorder()
					r.Header = headers
					images.ServeHTTP(w, r)
					return w
				}
				first := ask(http.Header{})
				s.Expect(first.Code).To(Equal(200))
				unchanged := 304
				if strings.HasPrefix(name, "go on") {
					unchanged = 206
				}
				s.Expect(ask(headers(first.Header())).Code).To(Equal(unchanged), "nothing has changed")
				h.change = "another SSH key"
				<-time.After(grace + time.Minute)
				again := ask(headers(first.Header()))
				s.Expect(again.Code).To(Equal(200))
				s.Expect(again.Body.String()).NotTo(Equal(first.Body.String()))
				s.Expect(again.Body.Len()).To(Equal(first.Body.Len()))
			})
		})
	}
}

// TestAnImageIsForTheMediumThatIsAskedFor: whether the live system has nmstatectl is a matter
// of that medium, not of the one that the infra-env would take by itself.
func TestAnImageIsForTheMediumThatIsAskedFor(t *testing.T) {
	h := &hub{}
	at := serve(t, h)
	for path, want := range map[string]string{
		"/bytoken/good/newest/x86_64/full.iso":            "x86_64 ",
		"/bytoken/good/38.20230718.dev.0/amd64/full.iso":  "x86_64 38.20230718.dev.0",
		"/images/" + env + "?arch=s390x&image_token=good": "s390x ",
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			code, _ := get(t, at+path)
			g.Expect(code).To(Equal(http.StatusOK))
			g.Expect(h.medium).To(Equal(want))
		})
	}
}
