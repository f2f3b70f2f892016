package client

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Registry tells what a release image is: by its tag, where that is as releases are
// published, or else by asking the image's registry.
type Registry struct {
	// HTTP makes the calls; its certificates and proxies are the host's.
	HTTP *http.Client
}

// versionLabel of an image's configuration is the version of the release in it.
const versionLabel = "io.openshift.release"

// Limits of a look-up.
const (
	maxDocument   = 4 << 20
	lookupTimeout = 2 * time.Minute
)

// tagForm is a release's tag: version and architecture.
var tagForm = regexp.MustCompile(`^(\d+\.\d+\.\d+(?:-[A-Za-z0-9.]+?)*)-(x86_64|aarch64|arm64|ppc64le|s390x|multi)$`)

// kinds of manifests, of one architecture and of several.
var (
	singles = []string{"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"}
	lists   = []string{"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"}
)

// Look implements [Releases].
func (r Registry) Look(ctx context.Context, image string, sources []Source, pullSecret string) (version, architecture string, err error) {
	ref, err := parse(image)
	if err != nil {
		return "", "", err
	}
	if version, architecture, told := ref.release(); told {
		return version, architecture, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lookupTimeout, errors.New("the registry did not answer in time"))
	defer cancel()
	config, several, err := r.ask(ctx, ref, sources, pullSecret)
	if err != nil {
		return "", "", fmt.Errorf("%w; a tag such as 4.19.3-x86_64 would say it, too", err)
	}
	version = config.Config.Labels[versionLabel]
	if version == "" {
		return "", "", fmt.Errorf("its configuration has no label %s: it is no release", versionLabel)
	}
	if several {
		return version, wire.ClusterCPUArchitectureMulti, nil
	}
	return version, machine(config.Architecture), nil
}

// ask asks one source after the other, until one has the image.
func (r Registry) ask(ctx context.Context, ref reference, sources []Source, pullSecret string) (config imageConfig, several bool, err error) {
	var failed error
	for _, source := range sources {
		other, err := parse(source.Repository)
		if err != nil {
			return config, false, err
		}
		ref.host, ref.path = other.host, other.path
		one, end := r.session(ref, source.Insecure, pullSecret)
		config, several, err = one.config(ctx)
		if source.Insecure && errors.Is(err, errUnreachable) { // such a registry may speak without TLS
			one.scheme = "http"
			config, several, err = one.config(ctx)
		}
		end()
		if err == nil {
			return config, several, nil
		}
		err = fmt.Errorf("ask %s what it is: %w", ref.host, err)
		if failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		failed = err
	}
	return config, false, failed
}

// session is a look-up at one source, to be ended.
func (r Registry) session(ref reference, insecure bool, pullSecret string) (s *session, end func()) {
	s = &session{http: r.HTTP, scheme: "https", ref: ref, auth: credentials(pullSecret, ref)}
	if !insecure {
		return s, func() {}
	}
	transport, is := r.HTTP.Transport.(*http.Transport)
	if !is {
		transport = http.DefaultTransport.(*http.Transport)
	}
	transport = transport.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.InsecureSkipVerify = true // as the host's registries.conf says of this place
	s.http, s.insecure = &http.Client{Transport: transport}, true
	return s, s.http.CloseIdleConnections
}

// errUnreachable means that there was no answer.
var errUnreachable = errors.New("it does not answer")

// unreachable is such an error; it says why.
type unreachable struct{ error }

func (unreachable) Is(target error) bool { return target == errUnreachable }

// machine is the protocol's name of an architecture.
func machine(name string) string {
	switch name {
	case "amd64":
		return wire.ClusterCPUArchitectureX8664
	case "arm64":
		return wire.ClusterCPUArchitectureAarch64
	}
	return name
}

// reference is an image's name in parts.
type reference struct{ host, path, tag, digest string }

func parse(image string) (reference, error) {
	var out reference
	name, digest, _ := strings.Cut(image, "@")
	out.digest = digest
	host, path, ok := strings.Cut(name, "/")
	if !ok || host == "" || path == "" {
		return out, fmt.Errorf("%.200q names no registry: write REGISTRY/PATH:TAG or REGISTRY/PATH@sha256:DIGEST", image)
	}
	out.host = host
	out.path, out.tag, _ = strings.Cut(path, ":")
	return out, nil
}

// repository is the registry with the path.
func (r reference) repository() string { return r.host + "/" + r.path }

// release is what the tag says, where it is as releases are published.
func (r reference) release() (version, architecture string, told bool) {
	found := tagForm.FindStringSubmatch(r.tag)
	if found == nil || r.digest != "" {
		return "", "", false
	}
	return found[1], found[2], true
}

// credentials are those of the registry in a pull secret, as user:password; the longest
// name that covers the image counts.
func credentials(pullSecret string, ref reference) string {
	var secret struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if json.Unmarshal([]byte(pullSecret), &secret) != nil {
		return ""
	}
	image, best, auth := ref.host+"/"+ref.path, "", ""
	for name, entry := range secret.Auths {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "https://"), "/")
		if (image == name || strings.HasPrefix(image, name+"/")) && len(name) > len(best) {
			best, auth = name, entry.Auth
		}
	}
	raw, err := base64.StdEncoding.DecodeString(auth)
	if err != nil {
		return ""
	}
	return string(raw)
}

// session is one look-up.
type session struct {
	http   *http.Client
	scheme string
	ref    reference
	// insecure tells that the place may speak without TLS.
	insecure bool
	// auth is user:password of the pull secret, authorization what the registry has asked for.
	auth, authorization string
}

// imageConfig is the part of an image's configuration that is understood.
type imageConfig struct {
	Architecture string `json:"architecture"`
	Config       struct {
		Labels map[string]string `json:"Labels"`
	} `json:"config"`
}

// config is the image's configuration, and whether there are several architectures.
func (s *session) config(ctx context.Context) (config imageConfig, several bool, err error) {
	var manifest struct {
		MediaType string                    `json:"mediaType"`
		Config    struct{ Digest string }   `json:"config"`
		Manifests []struct{ Digest string } `json:"manifests"`
	}
	if err := s.get(ctx, "manifests/"+firstOf(s.ref.digest, s.ref.tag, "latest"), slices.Concat(lists, singles), &manifest); err != nil {
		return config, false, err
	}
	if several = len(manifest.Manifests) > 1; len(manifest.Manifests) > 0 {
		if err := s.get(ctx, "manifests/"+manifest.Manifests[0].Digest, singles, &manifest); err != nil {
			return config, several, err
		}
	}
	if manifest.Config.Digest == "" {
		return config, several, errors.New("its manifest names no configuration")
	}
	return config, several, s.get(ctx, "blobs/"+manifest.Config.Digest, nil, &config)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// get fetches a JSON document; a registry that asks for a token gets one.
func (s *session) get(ctx context.Context, path string, accept []string, out any) error {
	target := s.scheme + "://" + s.ref.host + "/v2/" + s.ref.path + "/" + path
	raw, challenge, err := s.fetch(ctx, target, accept, s.authorization)
	if err == nil && challenge != "" {
		if err = s.login(ctx, challenge); err == nil {
			raw, challenge, err = s.fetch(ctx, target, accept, s.authorization)
		}
		if err == nil && challenge != "" {
			err = errors.New("401 Unauthorized: the pull secret does not open it")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s is no JSON: %w", path, err)
	}
	return nil
}

// fetch returns the body, or what the registry asks for with a 401.
func (s *session) fetch(ctx context.Context, target string, accept []string, authorization string) (raw []byte, challenge string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, "", err
	}
	if accept != nil {
		req.Header["Accept"] = accept
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	answer, err := s.http.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, "", unreachable{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		return nil, firstOf(answer.Header.Get("Www-Authenticate"), "Basic"), nil
	}
	if answer.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("the registry answered %s", answer.Status)
	}
	raw, err = io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if len(raw) > maxDocument {
		return nil, "", fmt.Errorf("it is larger than %d MiB", maxDocument>>20)
	}
	return raw, "", err
}

// parameterForm is a parameter of a challenge.
var parameterForm = regexp.MustCompile(`(\w+)="([^"]*)"`)

// login gets a token of the place that the challenge names.
func (s *session) login(ctx context.Context, challenge string) error {
	basic := ""
	if s.auth != "" {
		basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(s.auth))
	}
	if scheme, _, _ := strings.Cut(challenge, " "); strings.EqualFold(scheme, "Basic") {
		s.authorization = basic
		return nil
	}
	given := map[string]string{}
	for _, p := range parameterForm.FindAllStringSubmatch(challenge, -1) {
		given[p[1]] = p[2]
	}
	realm, err := url.Parse(given["realm"])
	if err != nil || realm.Scheme != "https" && (!s.insecure || realm.Scheme != "http") || realm.Host == "" {
		return fmt.Errorf("it wants a login by %.40q, which is not known here", challenge)
	}
	query := realm.Query()
	if given["service"] != "" {
		query.Set("service", given["service"])
	}
	query.Set("scope", "repository:"+s.ref.path+":pull")
	realm.RawQuery = query.Encode()
	raw, refused, err := s.fetch(ctx, realm.String(), nil, basic)
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if refused != "" {
		return errors.New("log in: the pull secret does not open it")
	}
	var token struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(raw, &token); err != nil {
		return errors.New("log in: the answer is no JSON")
	}
	s.authorization = "Bearer " + firstOf(token.Token, token.AccessToken)
	return nil
}
