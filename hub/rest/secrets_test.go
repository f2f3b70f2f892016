package rest_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// withImages is a hub whose infra-envs have live images.
func withImages(t *testing.T, o testhub.Options) *testhub.Hub {
	t.Helper()
	o.IgnitionDir = testhub.RoleFiles(t)
	o.ImageURLs = func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
		at := "https://images.example/" + env.ID + "/" + token
		return service.ImageURLs{ISO: at + "/iso", Kernel: at + "/kernel", Initrd: at + "/initrd", Rootfs: at + "/rootfs"}, nil
	}
	o.API = func(api *rest.Options) { api.LiveFiles, api.Auth.Users = live{}, people(t) }
	return testhub.Start(t, o)
}

// TestAHostsTokenOpensNoImage: the live image has the token of all hosts of the infra-env, so
// its address is not for one of them alone.
func TestAHostsTokenOpensNoImage(t *testing.T) {
	g := NewWithT(t)
	hub := withImages(t, testhub.Options{})
	env, shared := hub.InfraEnv(t, "pool")
	images, err := hub.ImageToken(t.Context(), env)
	g.Expect(err).NotTo(HaveOccurred())
	machine, err := hub.MachineToken(t.Context(), env, "02:00:00:00:00:0a")
	g.Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		agent *testhub.Caller
		opens bool
	}{
		"of all hosts":       {hub.Agent(shared), true},
		"of a host":          {hub.Agent(shared).Exchange(t, store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}), false},
		"of a machine":       {hub.Agent(machine), false},
		"of the live images": {hub.Agent("").With("Image-Token", images), true},
	} {
		for _, path := range []string{"", "/downloads/files?file_name=ipxe-script", "/downloads/files?file_name=discovery.ign"} {
			code, raw := tc.agent.Do(t, "GET", "/infra-envs/"+env+path, nil, nil)
			if path == "" || tc.opens {
				g.Expect(code).To(Equal(200), "%s%s: %s", name, path, raw)
			} else {
				g.Expect(code).To(Equal(403), "%s%s: %s", name, path, raw)
			}
			if !tc.opens {
				g.Expect(raw).NotTo(ContainSubstring(images), "%s%s", name, path)
			} else if path == "" {
				g.Expect(raw).To(ContainSubstring(images), "%s%s", name, path)
			}
		}
	}
}

// TestWhoOnlyReadsGetsNoSecrets: neither what opens a cluster, nor a pull secret, nor the
// image of an infra-env, whose token registers hosts.
func TestWhoOnlyReadsGetsNoSecrets(t *testing.T) {
	g := NewWithT(t)
	hub := withImages(t, testhub.Options{})
	p := threeHosts(t).play(t, hub)
	code, raw := p.user.Do(t, "POST", "/clusters/"+p.cluster+"/manifests", wire.CreateManifestParams{
		Folder: new(wire.ManifestFolderOpenshift), FileName: "a.yaml", Content: base64.StdEncoding.EncodeToString([]byte("kind: Secret\napiVersion: v1\nmetadata: {name: a}\n")),
	}, nil)
	g.Expect(code).To(Equal(201), raw)
	user := func(name string) *testhub.Caller {
		return hub.User().With("Authorization", "Bearer a-token-of-"+name+"--")
	}
	cluster, env, host := "/clusters/"+p.cluster, "/infra-envs/"+p.hosts[0].InfraEnvID, "/infra-env/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID
	for path, opens := range map[string]bool{
		cluster + "/downloads/files?file_name=bootstrap.ign":                                        true,
		cluster + "/downloads/files?file_name=master.ign":                                           true,
		cluster + "/downloads/files?file_name=install-config.yaml":                                  true,
		cluster + "/downloads/files?file_name=custom_manifests.yaml":                                true,
		cluster + "/downloads/files?file_name=kubeconfig":                                           true,
		cluster + "/downloads/files?file_name=metadata.json":                                        false,
		cluster + "/downloads/files-presigned?file_name=bootstrap.ign":                              true,
		cluster + "/downloads/files-presigned?file_name=manifests&additional_name=openshift/a.yaml": true,
		cluster + "/downloads/files-presigned?file_name=logs&logs_type=all":                         false,
		cluster + "/install-config":                                                                 true,
		host + "/downloads/ignition":                                                                true,
		env + "/downloads/files?file_name=discovery.ign":                                            true,
		env + "/downloads/files?file_name=ipxe-script":                                              true,
		env + "/downloads/files?file_name=static-network-config":                                    false,
		cluster: false,
		env:     false,
	} {
		code, raw := user("bert").Do(t, "GET", path, nil, nil)
		g.Expect(code == http.StatusForbidden).To(Equal(opens), "%s: %d %s", path, code, raw)
		if opens {
			g.Expect(raw).To(ContainSubstring("which the role of user bert does not"), path)
		}
		g.Expect(raw).NotTo(ContainSubstring(login), path)
		code, raw = user("anna").Do(t, "GET", path, nil, nil)
		g.Expect(code).NotTo(Equal(http.StatusForbidden), "%s: %s", path, raw)
	}
	for name, has := range map[string]bool{"bert": false, "anna": true} {
		var signed wire.PresignedURL
		code, raw := user(name).Do(t, "GET", cluster+"/downloads/files-presigned?file_name=logs&logs_type=all", nil, &signed)
		g.Expect(code).To(Equal(200), raw)
		_, later, _ := strings.Cut(signed.URL, rest.Base+"/v2")
		for what, logs := range map[string]struct {
			by   *testhub.Caller
			path string
		}{"at once": {user(name), cluster + "/logs?logs_type=all"}, "by a signed URL": {hub.Agent(""), later}} {
			code, raw := logs.by.Do(t, "GET", logs.path, nil, nil)
			g.Expect(code).To(Equal(200), "%s for %s: %s", what, name, raw)
			g.Expect(raw).To(ContainSubstring("events.json"))
			g.Expect(strings.Contains(raw, "manifests/openshift/a.yaml")).To(Equal(has), "%s for %s", what, name)
		}
	}
	images, err := hub.ImageToken(t.Context(), p.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range []string{env, "/infra-envs"} {
		_, raw := user("bert").Do(t, "GET", path, nil, nil)
		g.Expect(raw).NotTo(ContainSubstring(images), path)
		_, raw = user("anna").Do(t, "GET", path, nil, nil)
		g.Expect(raw).To(ContainSubstring(images), path)
	}
}

// TestWhatLocalUsersDoIsLogged: the users of an installation without a hub outside, too, and
// not what those who watch it have read.
func TestWhatLocalUsersDoIsLogged(t *testing.T) {
	g := NewWithT(t)
	var log bytes.Buffer
	l := newLocal(t, func(o *rest.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	code, raw := l.user().Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "edge", PullSecret: pullSecret}, nil)
	g.Expect(code).To(Equal(201), raw)
	l.watcher().Do(t, "GET", "/clusters", nil, nil)
	l.agent().Register(t, store.HostKey{InfraEnvID: localEnv, HostID: localHost})
	l.user().Do(t, "GET", "/infra-envs/"+localEnv+"/downloads/files?file_name=discovery.ign", nil, nil)
	l.user().Do(t, "DELETE", "/infra-envs/"+localEnv+"/hosts/"+localHost, nil, nil)
	g.Expect(log.String()).To(MatchRegexp(`^.*user=user operation=RegisterInfraEnv.*code=201.*\n.*user=user operation=v2DownloadInfraEnvFiles.*\n.*user=user operation=v2DeregisterHost.*code=204.*\n$`))
	g.Expect(log.String()).NotTo(Or(ContainSubstring(login), ContainSubstring("eyJ")))
}
