package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// named are images that somebody has named for installers that need them.
var named = instructions.Images{Installer: "registry.example/installer:1", Controller: "registry.example:5000/controller:1"}

// TestHostsAreAskedForImagesThatExist: where nobody has named an installer's image, hosts are asked
// to pull none; our agent installs by itself.
func TestHostsAreAskedForImagesThatExist(t *testing.T) {
	for name, tc := range map[string]struct {
		images instructions.Images
		want   []string
	}{
		"nobody has named one": {instructions.Images{}, nil},
		"an installer's":       {named, []string{named.Installer}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{Images: tc.images, IgnitionDir: testhub.RoleFiles(t)})
			s := singleNode(t)
			p := s.play(t, hub)
			code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, nil)
			g.Expect(code).To(Equal(http.StatusAccepted), raw)
			agent := p.agentOf(t, hub, 0)
			var asked wire.ContainerImageAvailabilityRequest
			g.Eventually(func() error { // its Ignition is made first
				return json.Unmarshal([]byte(argument(t, agent, p.hosts[0], wire.StepTypeContainerImageAvailability)), &asked)
			}, "1m").Should(Succeed())
			g.Expect(asked.Images).To(Equal(append([]string{s.cluster.OcpReleaseImage}, tc.want...)))

			// A real host pulls what has a registry's name, and nothing else.
			answer := wire.ContainerImageAvailabilityResponse{}
			for _, image := range asked.Images {
				result := wire.ContainerImageAvailabilityResultSuccess
				if !strings.Contains(strings.SplitN(image, "/", 2)[0], ".") {
					result = wire.ContainerImageAvailabilityResultFailure
				}
				answer.Images = append(answer.Images, wire.ContainerImageAvailability{Name: image, Result: result})
			}
			output, err := json.Marshal(answer)
			g.Expect(err).NotTo(HaveOccurred())
			agent.Reply(t, p.hosts[0], wire.StepReply{StepType: wire.StepTypeContainerImageAvailability, StepID: "x", Output: string(output)})
			h, checks := p.host(t, 0)
			g.Expect(checks["container-images-available"].Status).To(Equal("success"), "%s %v", h.StatusInfo, checks)
		})
	}
}

// TestNoOrderNamesAnImageOfNoRegistry: a short name is looked for at whatever registry the host, or the installed
// cluster, searches; whoever has the name there has his program run, as the controller with the rights to read all Secrets.
func TestNoOrderNamesAnImageOfNoRegistry(t *testing.T) {
	for name, images := range map[string]instructions.Images{"nobody has named any": {}, "both are named": named} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{Images: images, IgnitionDir: testhub.RoleFiles(t)})
			s := singleNode(t)
			h := s.hosts[0]
			h.disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
			h.images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
				{Name: s.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess}, {Name: images.Installer, Result: wire.ContainerImageAvailabilityResultSuccess},
			}}
			p := s.play(t, hub)
			code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, nil)
			g.Expect(code).To(Equal(http.StatusAccepted), raw)
			agent := p.agentOf(t, hub, 0)
			var text string
			g.Eventually(func() string {
				text = argument(t, agent, p.hosts[0], wire.StepTypeInstall)
				return text
			}, time.Minute, "20ms").ShouldNot(BeEmpty())
			var order wire.InstallCmdRequest
			g.Expect(json.Unmarshal([]byte(text), &order)).To(Succeed())
			g.Expect([]string{order.InstallerImage, order.ControllerImage}).To(Equal([]string{images.Installer, images.Controller}))
			for _, image := range []string{order.InstallerImage, order.ControllerImage, order.McoImage, order.MustGatherImage, order.CoreosImage} {
				if image != "" {
					g.Expect(strings.SplitN(image, "/", 2)[0]).To(ContainSubstring("."), "a registry's name")
				}
			}
		})
	}
}

// TestAReleaseOfNoRegistryIsRefused, when the cluster is made, with what to write.
func TestAReleaseOfNoRegistryIsRefused(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	said := c.do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","ocp_release_image":"ocp-release:4.20.1","pull_secret":"{\"auths\":{}}"}`, 400)
	NewWithT(t).Expect(said).To(And(ContainSubstring("ocp_release_image"), ContainSubstring("REGISTRY/PATH:TAG")))
}
