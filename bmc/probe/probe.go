package probe

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// Reader is what a probe needs of a BMC's client. None of it writes.
type Reader interface {
	GetRaw(ctx context.Context, path string) (*client.Answer, error)
	Connection() client.Connection
}

// Identity is what quirks are found by.
type Identity struct {
	Vendor, Model, ManagerModel, BMCVersion, BIOSVersion string
}

// Options are what a probe can be told.
type Options struct {
	// Address is the BMC's, for the report; without credentials.
	Address string
	// System is the path of the host's system; empty: find it.
	System string
	// Username is the account that the client uses; empty: do not look for it.
	Username string
	// Requests bounds the requests that the probe makes, its login and logout among
	// them; DefaultRequests when zero, no bound when negative. What others ask with the
	// same client at the same time does not count.
	Requests int
	// Expand asks for collections with their members in one request. Many BMCs do that
	// wrong: it is for those that are known to do it right.
	Expand bool
	// Drives are the Ids of drives that somebody has wishes about: they are read first.
	Drives []string
	// Quirks finds the rows of the quirk table that apply; nil is none.
	Quirks func(Identity) []v1alpha1.AppliedQuirk
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// DefaultRequests are enough for a server with a RAID controller, but not for each
// of its drives and firmware entries.
const DefaultRequests = 30

// logout is what the client needs at its end.
const logout = 1

// ErrNoSystem is a Redfish service without a system.
var ErrNoSystem = errors.New("the Redfish service has no system: it may manage an enclosure or a switch, or its host is not there; look at /redfish/v1/Systems")

// ErrWrongSystem is an address whose path is not that of a system.
var ErrWrongSystem = errors.New("the path in the address is not that of a system")

// ErrNotRedfish is an answer that is no Redfish service root.
var ErrNotRedfish = errors.New("what answers is no Redfish service: is this the address of a BMC?")

// probe is one run.
type probe struct {
	ctx    context.Context //nolint:containedctx // a probe is one call
	bmc    Reader
	o      Options
	budget budget
	// stop is why nothing more is asked; silent counts the answers in a row that
	// did not come.
	stop   error
	silent int
	// expands says that $expand is used.
	expands bool

	report   *v1alpha1.BMCReport
	verdicts map[string]v1alpha1.Capability

	root    found[serviceRoot]
	system  found[system]
	manager found[manager]
	vendor  string
	// inventory and accountList are links that are followed last.
	inventory, accountList lenient.Link
	storages               []found[storage]
	// whole says that all storages are known, with what is in them.
	whole       bool
	volumeLists []volumeList
	// slot is the one for a CD, or the best of those that were read.
	slot found[slot]
	// seen is when the manager was read.
	seen time.Time
}

// Probe reads a BMC and reports. It does not write and leaves the client's session as
// it is. A resource that cannot be read costs its rows, which are Unknown then. An
// error means that there is no report: the service's root or its systems cannot be
// read, the credentials are refused, or the BMC falls silent on the way.
func Probe(ctx context.Context, bmc Reader, o Options) (*v1alpha1.BMCReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, made := client.WithCounter(ctx)
	p := &probe{
		ctx: ctx, bmc: bmc, o: o, budget: newBudget(made, o.Requests), verdicts: map[string]v1alpha1.Capability{},
		report: &v1alpha1.BMCReport{Address: o.Address},
	}
	if err := p.identify(); err != nil {
		return nil, err
	}
	p.keepForStorage()
	// What decides whether a host can be deployed comes first; the rest has what is left.
	for _, step := range []func(){
		p.boot, p.media, p.bios, p.secureBoot, p.update, p.events, p.accounts, p.sessions,
		p.storage, p.registry, p.licences, p.jobs, p.certificates, p.drives, p.volumes, p.firmware, p.account,
		p.clock, p.needs,
	} {
		step()
	}
	if p.stop != nil {
		return nil, p.stop
	}
	p.finish()
	return p.report, nil
}

// set notes the verdict on a capability.
func (p *probe) set(list ...v1alpha1.Capability) {
	for _, c := range list {
		p.verdicts[c.Name] = c
	}
}

// remark notes what could not be read, or what a person should know; once.
func (p *probe) remark(text string) {
	if text = bounded(text); text != "" {
		p.report.Remarks = append(p.report.Remarks, text)
	}
}

// finish puts the verdicts in order.
func (p *probe) finish() {
	r := p.report
	for _, row := range Capabilities {
		c, there := p.verdicts[row.Name]
		if !there {
			c = unknown(row.Name, "not looked at")
		}
		r.Capabilities = append(r.Capabilities, c)
	}
	r.Certificate = certificate(p.bmc.Connection())
	r.Time = metav1.NewTime(p.o.Now().UTC().Truncate(time.Second))
	r.Requests = int(p.budget.used()) + logout
}
