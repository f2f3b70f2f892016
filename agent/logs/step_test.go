package logs_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/logs"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestStep(t *testing.T) {
	request := `{"cluster_id":"` + id + `","infra_env_id":"` + id + `","host_id":"` + id + `","bootstrap":false,"installer_gather":true,"master_ips":null}`
	for name, tc := range map[string]struct {
		args   []string
		with   error
		exit   int64
		err    string
		states []wire.LogsState
	}{
		"sent":             {[]string{request}, nil, 0, "", []wire.LogsState{"requested", "collecting", "completed"}},
		"refused":          {[]string{request}, &hubclient.StatusError{Code: 413, Reason: "too large"}, -1, "too large", []wire.LogsState{"requested", "collecting"}},
		"odd ids":          {[]string{`{"cluster_id":"../x"}`}, nil, -1, "infra_env_id \"\" is not a UUID", nil},
		"no args":          {nil, nil, -1, "got 0 arguments", nil},
		"a flag as master": {[]string{strings.Replace(request, "null", `["--id=x"]`, 1)}, nil, -1, `master "--id=x" is not an address`, nil},
		"too many masters": {[]string{strings.Replace(request, "null", `["::1"`+strings.Repeat(`,"::1"`, 16)+`]`, 1)}, nil, -1, "17 addresses", nil},
		"good masters":     {[]string{strings.Replace(request, "null", `["192.0.2.1","2001:db8::1"]`, 1)}, nil, 0, "", []wire.LogsState{"requested", "collecting", "completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &hub{}
			if tc.with != nil {
				h.refuse, h.with = 1, tc.with
			}
			dir := machine(t, map[string]string{"/run/ironflow/reason.json": "why"})
			result := logs.Step(func() logs.Sender { return sender(h, logs.Sources{Dir: dir}) }).Run(t.Context(), tc.args)
			g.Expect(result.Exit).To(Equal(tc.exit), result.Error)
			g.Expect(result.Error).To(ContainSubstring(tc.err))
			g.Expect(h.states).To(Equal(tc.states))
			if tc.exit == 0 {
				g.Expect(result.Output).To(Equal("logs of host " + id + " were sent"))
				g.Expect(untar(t, h.uploads[0].bytes)).To(HaveKey("reason.json"))
			}
		})
	}
}
