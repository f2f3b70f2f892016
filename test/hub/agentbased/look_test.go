//go:build e2e || machine

package agentbased

import (
	"io"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// waitFor follows the installation from outside.
func (s *site) waitFor(flags ...string) *process {
	s.Helper()
	return s.start(s.dir, map[string]string{"WATCHER_AUTH_TOKEN": s.tokens["WATCHER_AUTH_TOKEN"]},
		"ironflow", append([]string{"agent-image", "wait-for", "bootstrap-complete", "--url", s.url, "--interval", "1s"}, flags...)...)
}

// zero is node zero's host.
func (s *site) zero() wire.Host {
	s.Helper()
	return s.hostOf(0)
}

// hostOf is a host as the hub has it.
func (s *site) hostOf(n int) wire.Host {
	s.Helper()
	all := s.cluster().Hosts
	i := slices.IndexFunc(all, func(h wire.Host) bool { return cardOf(h) == mac(n) })
	s.Expect(i).To(BeNumerically(">=", 0), s.story)
	return all[i]
}

func (s *site) stage(i int) wire.HostStage {
	s.Helper()
	all, err := s.stages()
	s.Expect(err).NotTo(HaveOccurred())
	return all[mac(i)]
}

// told counts the events of a host that say it.
func (s *site) told(host, text string) (n int) {
	s.Helper()
	var events wire.EventList
	s.Expect(s.get("/events?host_id="+host, &events)).To(Succeed())
	for _, e := range events {
		if strings.Contains(e.Message, text) {
			n++
		}
	}
	return n
}

// ignition is what the installed system of a host starts with.
func (s *site) ignition(h wire.Host) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+"api/assisted-install/v2/infra-env/"+h.InfraEnvID+"/hosts/"+h.ID+"/downloads/ignition", http.NoBody)
	s.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Authorization", s.tokens["USER_AUTH_TOKEN"])
	answer, err := s.client.Do(r)
	s.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(answer.StatusCode).To(Equal(http.StatusOK), string(raw))
	return string(raw)
}
