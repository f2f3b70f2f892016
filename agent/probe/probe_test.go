package probe_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/table"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// stopping ends the step as soon as it starts a program.
type stopping struct{ stop func() }

func (s stopping) Run(ctx context.Context, _ command.Command) error {
	s.stop()
	<-ctx.Done()
	return context.Cause(ctx)
}

// A check that is cancelled in the middle, because the agent ends or the hub has
// gone on, must not tell the hub that what it did not come to is not there.
func TestACancelledCheckTellsNothing(t *testing.T) {
	for kind, args := range map[wire.StepType]string{
		wire.StepTypeConnectivityCheck:          `[{"host_id":"11111111-1111-4111-8111-111111111111","nics":[{"ip_addresses":["192.0.2.11"]}]}]`,
		wire.StepTypeDomainResolution:           `{"domains":[{"domain_name":"api.c.example"}]}`,
		wire.StepTypeAPIVIPConnectivityCheck:    `{"url":"URL"}`,
		wire.StepTypeTangConnectivityCheck:      `{"tang_servers":"[{\"url\":\"URL\",\"thumbprint\":\"T\"}]"}`,
		wire.StepTypeVerifyVIPs:                 `[{"vip":"192.0.2.5","vip_type":"api"}]`,
		wire.StepTypeFreeNetworkAddresses:       `["192.0.2.0/24"]`,
		wire.StepTypeContainerImageAvailability: `{"images":["quay.example/a/b:v1"]}`,
	} {
		t.Run(string(kind), func(t *testing.T) {
			g := NewWithT(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := func() { cancel(errors.New("the agent was stopped by its caller")) }
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stop(); <-r.Context().Done() }))
			defer server.Close()
			env := probe.Env{
				Log: slog.New(slog.DiscardHandler), HTTP: http.DefaultClient, Commands: stopping{stop},
				Interfaces: func(context.Context) ([]wire.Interface, error) {
					stop()
					return []wire.Interface{{Name: "gone0", Type: "physical", HasCarrier: true, Ipv4Addresses: []string{"192.0.2.10/24"}}}, nil
				},
				Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
					stop()
					<-ctx.Done()
					return nil, ctx.Err()
				}},
			}
			result := table.Checks(env)[kind].Run(ctx, []string{strings.ReplaceAll(args, "URL", server.URL)})
			g.Expect(result.Exit).To(BeEquivalentTo(steps.ExitBad), result.Output)
			g.Expect(result.Error).To(Equal("the agent was stopped by its caller"))
			g.Expect(result.Output).To(BeEmpty())
		})
	}
}
