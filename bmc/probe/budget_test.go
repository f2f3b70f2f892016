package probe_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
)

// busy is a client that others use as well: they ask between the probe's requests.
type busy struct {
	*client.Client

	others context.Context //nolint:containedctx // that of the others
	asked  int             // by the probe
}

func (b *busy) GetRaw(ctx context.Context, path string) (*client.Answer, error) {
	b.asked++
	if _, err := b.Client.GetRaw(b.others, redfishRoot+"/"); err != nil {
		return nil, err
	}
	return b.Client.GetRaw(ctx, path)
}

// TestOthersDoNotSpendTheBudget: a BMC has one client, by which its health, events and
// settings are read while it is probed. What they ask leaves the report as it is.
func TestOthersDoNotSpendTheBudget(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	alone, err := examine(t, f, probe.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	bmc := &busy{Client: connect(t, f, "", ""), others: t.Context()}
	report, err := probe.Probe(t.Context(), bmc, probe.Options{Now: func() time.Time { return f.Now }})
	g.Expect(err).NotTo(HaveOccurred())
	report.Certificate = alone.Certificate // each has a server of its own
	g.Expect(report).To(Equal(alone))
	g.Expect(report.Requests).To(Equal(bmc.asked+1), "one is the logout")
}

// laborious lets the fixture of Dell take many requests for what is read before its
// storage, as other systems and managers, and has the storage list its controllers apart.
func laborious(f *fixture) {
	systems := []any{}
	for i := range 3 {
		id := fmt.Sprintf("Board_%d", i)
		systems = append(systems, id)
		f.Resources["/Systems/"+id] = map[string]any{"Id": id}
	}
	f.Resources["/Systems"] = written("/Systems", append(systems, "System.Embedded.1"))
	system := f.Resources[dellSystem].(map[string]any)
	managers := []any{}
	for i := range 4 {
		path := fmt.Sprintf("/Managers/Node_%d", i)
		managers = append(managers, linkTo(path))
		f.Resources[path] = map[string]any{"Id": path}
	}
	system["Links"].(map[string]any)["ManagedBy"] = append(managers, linkTo(dellManager))
	media := dellSystem + "/VirtualMedia"
	f.Resources[media] = written(media, []any{"1", "2", "3", "4"})
	for i := range 4 {
		f.Resources[fmt.Sprintf("%s/%d", media, i+1)] = map[string]any{"Id": fmt.Sprint(i + 1)}
	}
	f.Resources[dellSystem+"/Storage"] = written(dellSystem+"/Storage", []any{"RAID.Slot.1-1"})
	raid := f.Resources[dellRAID].(map[string]any)
	delete(raid, "StorageControllers")
	raid["Controllers"] = linkTo(dellRAID + "/Controllers")
	f.Resources[dellRAID+"/Controllers"] = written(dellRAID+"/Controllers", []any{"0"})
	f.Resources[dellRAID+"/Controllers/0"] = map[string]any{"Id": "0", "SupportedRAIDTypes": []any{"RAID0", "RAID1"}}
}

// TestTheFirstStorageIsAlwaysJudged: where the parts before it take nearly all requests,
// or the BMC gets few, it is known nevertheless what wishes for RAID it can fulfil.
func TestTheFirstStorageIsAlwaysJudged(t *testing.T) {
	for _, requests := range []int{0, 29, 27, 25, 22, 20} {
		t.Run(fmt.Sprintf("%d requests", requests), func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			laborious(f)
			report, err := examine(t, f, probe.Options{Requests: requests})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Storage).To(HaveLen(1))
			g.Expect(report.Storage[0].RAIDTypes).To(HaveValue(Equal([]string{"RAID0", "RAID1"})), "%q", report.Remarks)
			g.Expect(states(report)).To(HaveKeyWithValue(probe.RAID, v1alpha1.Yes))
			g.Expect(states(report)).To(HaveKeyWithValue(probe.VolumeCreation, v1alpha1.Yes))
			g.Expect(report.Requests).To(BeNumerically("<=", probe.DefaultRequests))
			g.Expect(len(f.requests())+1).To(Equal(report.Requests), "one is the logout")
		})
	}
}
