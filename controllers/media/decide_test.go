package media

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/ironic"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

const image = "https://images.test/data.iso"

// given is a DataImage that is wanted, on a provisioned host that waits with its
// power-on, with a node that is free and off.
func given(changes ...func(*Input)) Input {
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "host-1"}}
	h.Spec.Online, h.Status.Provisioning.State = true, metal3.StateProvisioned
	in := Input{
		Now: noon, Host: h, Open: true,
		Image: &metal3.DataImage{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "host-1"}, Spec: metal3.DataImageSpec{URL: image}},
		Node:  &ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateActive, PowerState: ironic.PowerOff}},
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func holds(url string) func(*Input) {
	return func(in *Input) { in.Image.Status.AttachedImage.URL = url }
}

func shows(urls ...string) func(*Input) {
	return func(in *Input) {
		devices := []ironic.MediaDevice{{MediaTypes: []string{"Floppy"}}}
		for _, u := range urls {
			devices = append(devices, ironic.MediaDevice{Image: u, Inserted: true, MediaTypes: []string{"CD"}})
		}
		in.Devices = &devices
	}
}

func tried(do Action, ago time.Duration) func(*Input) {
	return func(in *Input) { in.Trial = Trial{Do: do, At: noon.Add(-ago)} }
}

func gone(in *Input) { in.Image.DeletionTimestamp = &metav1.Time{Time: noon} }

func state(s metal3.ProvisioningState) func(*Input) {
	return func(in *Input) { in.Host.Status.Provisioning.State = s }
}

func TestDecide(t *testing.T) {
	const published, other = "http://ironic/redfish/cdrom-node-1.iso", "https://images.test/old.iso"
	noHost := func(in *Input) { in.Host = nil }
	detachedHost := func(in *Input) { in.Host.Status.OperationalStatus = metal3.OperationalStatusDetached }
	closed := func(in *Input) { in.Open = false }
	node := func(s ironic.ProvisionState) func(*Input) { return func(in *Input) { in.Node.ProvisionState = s } }
	offline := func(in *Input) { in.Host.Spec.Online = false }
	going := func(in *Input) { in.Host.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Hour)} }
	waiting := func(d time.Duration) func(*Input) { return func(in *Input) { in.Since = noon.Add(-d) } }
	failure := func(text string) func(*Input) { return func(in *Input) { in.Failure = &text } }
	erred := func(in *Input) { in.Image.Status.Error = metal3.DataImageError{Count: 1, Message: "no"} }
	for name, c := range map[string]struct {
		in      Input
		do      Action
		settled bool
		drop    bool
		over    bool
		failed  string
		url     string // that the status shall have
		wait    string
	}{
		"no host, deleted":                    {in: given(noHost, gone, holds(image)), drop: true, url: image},
		"detached":                            {in: given(detachedHost), wait: "attach the host again"},
		"detached, deleted":                   {in: given(detachedHost, gone, holds(image)), drop: true, url: image},
		"not provisioned":                     {in: given(state(metal3.StateAvailable)), over: true, wait: "provisioned"},
		"not provisioned, deleted":            {in: given(state(metal3.StateAvailable), gone), over: true, drop: true, wait: "provisioned"},
		"given back: remembered":              {in: given(state(metal3.StateDeprovisioning), holds(image), closed), url: image, wait: "to be available"},
		"given back and deleted: remembered":  {in: given(state(metal3.StateDeprovisioning), holds(image), closed, gone), url: image, wait: "to be available"},
		"given back: the node is at work":     {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateCleanWait)), url: image, wait: "clean wait"},
		"given back: looked at":               {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable)), do: Look, url: image},
		"given back: ejected":                 {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable), shows(published)), do: Detach, url: image},
		"given back: a boot image stays":      {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable), shows("http://ironic/redfish/boot-node-1.iso")), wait: "saved"},
		"given back: it is to stay off":       {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable), shows(published), offline), do: Detach, url: image},
		"given back: nothing is left":         {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable), shows(), tried(Detach, time.Second)), wait: "saved"},
		"given back and deleted":              {in: given(state(metal3.StateAvailable), holds(image), gone, node(ironic.StateAvailable), shows(), tried(Detach, time.Second)), drop: true},
		"given back: refused is not given up": {in: given(state(metal3.StateAvailable), holds(image), node(ironic.StateAvailable), waiting(time.Hour), shows(published)), do: Detach, url: image},
		"host deleted: tried": {
			in: given(state(metal3.StatePoweringOffBeforeDelete), holds(image), node(ironic.StateAvailable), going, waiting(time.Minute), shows(published)), do: Detach,
			url: image,
		},
		"host deleted: given up": {
			in:      given(state(metal3.StatePoweringOffBeforeDelete), holds(image), node(ironic.StateAvailable), going, waiting(ejectLimit), shows(published)),
			settled: true, url: image, wait: "to be gone",
		},
		"in use, host deleted: not yet":       {in: given(holds(image), going, waiting(time.Hour), shows(published)), settled: true, url: image},
		"externally provisioned counts":       {in: given(state(metal3.StateExternallyProvisioned), holds(image)), do: Look, url: image},
		"deleted before it was attached":      {in: given(gone), drop: true},
		"running: waits":                      {in: given(closed), wait: "next power-on"},
		"running, changed: waits":             {in: given(closed, holds(other)), wait: "next power-on", url: other},
		"running, deleted: waits":             {in: given(closed, gone, holds(image)), wait: "next power-on", url: image},
		"running, as wanted":                  {in: given(closed, holds(image)), url: image},
		"called off: the host is to stay off": {in: given(func(in *Input) { in.Host.Spec.Online = false }), over: true, wait: "next power-on"},
		"the node is read first":              {in: given(func(in *Input) { in.Node = nil }), do: ReadNode},
		"the node is locked":                  {in: given(func(in *Input) { in.Node.Reservation = "c1" }), wait: "(c1)"},
		"the node switches power":             {in: given(func(in *Input) { in.Node.TargetPowerState = ironic.PowerOn }), wait: "Ironic to end"},
		"the node is not active":              {in: given(func(in *Input) { in.Node.ProvisionState = ironic.StateAdopting }), wait: "adopting"},
		"the machine still runs":              {in: given(func(in *Input) { in.Node.PowerState = ironic.PowerOn }), wait: "to be off"},
		"the machine runs already":            {in: given(func(in *Input) { in.Node.PowerState, in.Host.Status.PoweredOn = ironic.PowerOn, true }), over: true, wait: "next power-on"},
		"it may run where it must":            {in: given(holds(image), func(in *Input) { in.Node.PowerState, in.Restart = ironic.PowerOn, true }), do: Look, url: image},
		"the intent is saved":                 {in: given(), url: image, wait: "saved"},
		"then the BMC is looked at":           {in: given(holds(image)), do: Look, url: image},
		"then it is attached":                 {in: given(holds(image), shows()), do: Attach, url: image},
		"and seen":                            {in: given(holds(image), shows(published), tried(Attach, time.Second)), settled: true, url: image},
		"and seen under its own name":         {in: given(holds(image), shows(image), tried(Attach, time.Second)), settled: true, url: image},
		"and seen without a name":             {in: given(holds(image), shows(""), tried(Attach, time.Second)), settled: true, url: image},
		"a boot image is none of ours":        {in: given(holds(image), shows("http://ironic/redfish/boot-node-1.iso")), do: Attach, url: image},
		"the BMC takes its time":              {in: given(holds(image), shows(), tried(Attach, time.Second)), wait: "show", url: image},
		"the reason is read":                  {in: given(holds(image), shows(), tried(Attach, time.Minute)), do: ReadFailure, url: image},
		"at once when Ironic has one":         {in: given(holds(image), shows(), tried(Attach, time.Second), func(in *Input) { in.Node.LastError = "404" }), do: ReadFailure, url: image},
		"the reason is shown":                 {in: given(holds(image), shows(), tried(Attach, time.Minute), failure("404 Not Found")), failed: "404 Not Found", url: image, wait: "next attempt"},
		"no reason is said":                   {in: given(holds(image), shows(), tried(Attach, time.Minute), failure("")), failed: "gives no reason", url: image, wait: "next attempt"},
		"the next attempt is waited for":      {in: given(holds(image), erred, func(in *Input) { in.Due = noon.Add(time.Minute) }), wait: "next attempt, after: no", url: image},
		"the next attempt":                    {in: given(holds(image), erred, shows()), do: Attach, url: image},
		"as before: the machine may start":    {in: given(holds(image), shows(published)), settled: true, url: image},
		"not asked twice before one start":    {in: given(holds(image), func(in *Input) { in.Confirmed, in.Node = image, nil }), settled: true, url: image},
		"another image: ejected first":        {in: given(holds(other), shows(published)), do: Detach, url: other},
		"another image: ejected":              {in: given(holds(other), shows(), tried(Detach, time.Second)), wait: "saved", url: image},
		"another image: not ejected":          {in: given(holds(other), shows(published), tried(Detach, time.Minute), failure("stuck")), failed: "stuck", url: other, wait: "next attempt"},
		"another image, lost before":          {in: given(holds(other), shows()), wait: "saved", url: image},
		"deleted: ejected":                    {in: given(gone, holds(image), shows(published)), do: Detach, url: image},
		"deleted: seen to be out":             {in: given(gone, holds(image), shows(), tried(Detach, time.Second)), drop: true},
		"deleted: lost before":                {in: given(gone, holds(image), shows()), drop: true},
		"deleted: a boot image stays":         {in: given(gone, holds(image), shows("http://ironic/redfish/boot-node-1.iso")), drop: true},
		"attached as it was deleted":          {in: given(gone, holds(image), shows(published), tried(Attach, time.Second)), do: Detach, url: image},
		"reverted while it was ejected":       {in: given(holds(image), shows(), tried(Detach, time.Second)), do: Attach, url: image},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stored := c.in.Image.DeepCopy()
			v := Decide(c.in)
			g.Expect(c.in.Image).To(Equal(stored), "a decision changes nothing")
			g.Expect(v.Do.String()).To(Equal(c.do.String()))
			g.Expect(v.Settled).To(Equal(c.settled), "settled")
			g.Expect(v.Drop).To(Equal(c.drop), "drop")
			g.Expect(v.Over).To(Equal(c.over), "over")
			g.Expect(v.Status.AttachedImage.URL).To(Equal(c.url))
			g.Expect(v.Wait).To(ContainSubstring(c.wait))
			g.Expect(v.Failed).To(Equal(c.failed != ""))
			if v.Failed {
				g.Expect(v.Status.Error.Message).To(ContainSubstring(c.failed))
				g.Expect(v.Status.Error.Count).To(Equal(1))
				g.Expect(v.After).To(BeNumerically(">", 0))
			}
		})
	}
}
