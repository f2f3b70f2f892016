package rest_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestWhatARegistrationAnswers: clients know one status of a new cluster; what it lacks is found a moment later.
func TestWhatARegistrationAnswers(t *testing.T) {
	user := newClient(t, testhub.Start(t, testhub.Options{}).User())
	raw := user.do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"}`, 201)
	user.shows(raw, `{"status":"insufficient","status_info":"Waiting for hosts","hosts":[]}`)
	var made struct{ ID string }
	user.Expect(jsonInto(raw, &made)).To(Succeed())
	user.shows(user.do("GET", "/clusters/"+made.ID, "", 200), `{"status":"pending-for-input"}`)
}

// TestActionsAnswerWithTheHosts: a console shows the answer, and does not ask again for them.
func TestActionsAnswerWithTheHosts(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	p := threeHosts(t).play(t, hub)
	user := newClient(t, hub.User())
	for _, call := range []struct {
		method, path, body string
		code               int
		status, hosts      string
	}{
		{"PATCH", "", `{"tags":"a"}`, 201, wire.ClusterStatusReady, wire.HostStatusKnown},
		{"POST", "/actions/install", "", 202, wire.ClusterStatusPreparingForInstallation, wire.HostStatusPreparingForInstallation},
		{"POST", "/actions/cancel", "", 202, wire.ClusterStatusReady, wire.HostStatusKnown},
		{"POST", "/actions/install", "", 202, wire.ClusterStatusPreparingForInstallation, wire.HostStatusPreparingForInstallation},
		{"POST", "/actions/reset", "", 202, wire.ClusterStatusInsufficient, wire.HostStatusResettingPendingUserAction},
	} {
		t.Run(strings.TrimSpace(call.method+" "+call.path), func(t *testing.T) {
			g := NewWithT(t)
			var answer wire.Cluster
			g.Expect(jsonInto(newClient(t, hub.User()).do(call.method, "/clusters/"+p.cluster+call.path, call.body, call.code), &answer)).To(Succeed())
			g.Expect(answer.Status).To(Equal(call.status), answer.StatusInfo)
			g.Expect(answer.Hosts).To(HaveLen(3))
			for _, h := range answer.Hosts {
				g.Expect(h.Status).To(Equal(call.hosts), h.StatusInfo)
				g.Expect(h.Progress).NotTo(BeNil())
				g.Expect(h.RequestedHostname).To(HavePrefix("node-"))
			}
		})
	}
	user.shows(user.do("GET", "/clusters/"+p.cluster+"?exclude-hosts=true", "", 200), `{"hosts":[]}`)
}
