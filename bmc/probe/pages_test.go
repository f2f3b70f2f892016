package probe_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/probe"
)

// paged lets a list of the fixture come in pages of one member.
func paged(f *fixture, list string, members int) {
	page := func(i int) string {
		if i == 0 {
			return list
		}
		return fmt.Sprintf("%s/page-%d", list, i)
	}
	for i := range members {
		body := map[string]any{"Members": []any{linkTo(list + "/" + fmt.Sprint(i))}, "Members@odata.count": members}
		if i < members-1 {
			body["Members@odata.nextLink"] = redfishRoot + page(i+1)
		}
		f.Resources[page(i)] = body
	}
}

// TestPagesKeepToTheBudget: a list that comes in many small pages takes no more requests
// than are left.
func TestPagesKeepToTheBudget(t *testing.T) {
	for _, list := range []string{"/Systems", dellSystem + "/VirtualMedia", dellSystem + "/Storage", "/Registries", "/SessionService/Sessions"} {
		t.Run(list, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			paged(f, list, 60)
			if list == "/Systems" {
				f.Resources[list+"/0"] = f.Resources[dellSystem]
			}
			_, err := examine(t, f, probe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(f.requests())+1).To(BeNumerically("<=", probe.DefaultRequests), "one is the logout")
		})
	}
}

// TestPagesAreFollowed as long as the budget allows; what a list has beyond is said.
func TestPagesAreFollowed(t *testing.T) {
	paged3 := func(f *fixture) {
		storages(f, 3)
		list := dellSystem + "/Storage"
		f.Resources[list] = map[string]any{"Members": []any{linkTo(list + "/DAA")}, "Members@odata.count": 3, "Members@odata.nextLink": redfishRoot + list + "/2"}
		f.Resources[list+"/2"] = map[string]any{"Members": []any{linkTo(list + "/DAA"), linkTo(list + "/DAB")}, "@odata.nextLink": redfishRoot + list + "/3"}
		f.Resources[list+"/3"] = map[string]any{"Members": []any{linkTo(list + "/DAC")}}
	}
	for name, c := range map[string]struct {
		change func(f *fixture)
		drives string
		remark string
	}{
		"all":            {paged3, "3", ""},
		"one that fails": {func(f *fixture) { paged3(f); delete(f.Resources, dellSystem+"/Storage/3") }, "at least 2", "1 of 3 storage subsystems were not read"},
		"one that fails, of a list that counts nothing": {func(f *fixture) {
			paged3(f)
			delete(f.Resources, dellSystem+"/Storage/3")
			delete(f.Resources[dellSystem+"/Storage"].(map[string]any), "Members@odata.count")
		}, "at least 2", "1 of 3 storage subsystems were not read"},
		"one of the known": {func(f *fixture) {
			paged3(f)
			f.Resources[dellSystem+"/Storage/3"] = f.Resources[dellSystem+"/Storage/2"]
		}, "at least 2", "1 of 3 storage subsystems were not read"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			c.change(f)
			report, err := examine(t, f, probe.Options{Requests: -1})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(details(report)).To(HaveKeyWithValue(probe.Drives, c.drives))
			g.Expect(strings.Join(report.Remarks, "\n")).To(ContainSubstring(c.remark))
		})
	}
}
