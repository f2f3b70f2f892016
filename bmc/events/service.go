package events

import (
	"context"
	"errors"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// BMC is what is asked of a BMC for its subscriptions; *client.Client is one.
type BMC interface {
	Get(ctx context.Context, path string, into any) error
	Members(ctx context.Context, path string, limit int) (paths []string, complete bool, err error)
	Post(ctx context.Context, path string, body any) (*client.Answer, error)
	Delete(ctx context.Context, path string) (*client.Answer, error)
}

var _ BMC = (*client.Client)(nil)

// getter is the part of a BMC that reads.
type getter interface {
	Get(ctx context.Context, path string, into any) error
}

const rootPath = "/redfish/v1/"

// service is a BMC's EventService.
type service struct {
	Enabled       lenient.Optional[lenient.Bool] `json:"ServiceEnabled"`
	Types         lenient.List[lenient.String]   `json:"EventTypesForSubscription"`
	Prefixes      lenient.List[lenient.String]   `json:"RegistryPrefixes"`
	ResourceTypes lenient.List[lenient.String]   `json:"ResourceTypes"`
	Subscriptions lenient.Link                   `json:"Subscriptions"`
	Stream        lenient.Link                   `json:"ServerSentEventUri"`
	Actions       struct {
		Test    testAction `json:"#EventService.SubmitTestEvent"`
		OldTest testAction `json:"#EventService.SendTestEvent"`
	} `json:"Actions"`
}

type testAction struct {
	Target lenient.String               `json:"target"`
	Types  lenient.List[lenient.String] `json:"EventType@Redfish.AllowableValues"`
}

// errNoService says that a BMC has no EventService.
var errNoService = errors.New("the BMC has no EventService")

// readService finds and reads the EventService.
func readService(ctx context.Context, c getter) (*service, error) {
	var root struct {
		EventService lenient.Link `json:"EventService"`
	}
	if err := c.Get(ctx, rootPath, &root); err != nil {
		return nil, err
	}
	if root.EventService.Path == "" {
		return nil, errNoService
	}
	var s service
	err := c.Get(ctx, root.EventService.Path, &s)
	if client.KindOf(err) == client.NotSupported {
		return nil, errNoService
	}
	return &s, err
}

// off says why a service takes no subscriptions, empty when it does.
func (s *service) off(report *v1alpha1.BMCReport) string {
	switch {
	case s.Enabled.Set && !bool(s.Enabled.Value) && isVendor(report, "Dell"):
		return "events are switched off at the BMC: set its attribute IPMILan.1.AlertEnable to Enabled"
	case s.Enabled.Set && !bool(s.Enabled.Value):
		return "events are switched off at the BMC: set ServiceEnabled of its EventService to true"
	case s.Subscriptions.Path == "":
		return "the BMC's EventService takes no subscriptions"
	}
	return ""
}

func isVendor(report *v1alpha1.BMCReport, vendor string) bool {
	return report != nil && strings.EqualFold(report.Vendor, vendor)
}

// problem puts an answer into words that a person can act on; empty for one that
// may be another the next time.
func problem(err error) string {
	switch client.KindOf(err) {
	case client.NotSupported:
		return "the BMC takes no subscriptions: " + err.Error()
	case client.Licence:
		return "the BMC has no licence for events: " + err.Error()
	case client.Refused:
		return "the BMC refuses the subscription: " + err.Error()
	default:
		return ""
	}
}
