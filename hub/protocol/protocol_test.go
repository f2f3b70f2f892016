package protocol_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/protocol"
)

func TestTheTablesAreWhole(t *testing.T) {
	g := NewWithT(t)
	models, err := protocol.Models()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(models).To(HaveKey("host-create-params"))
	for name, m := range models {
		fields := m.Fields
		if m.Self != nil {
			fields = append(fields, *m.Self)
		}
		for _, f := range fields {
			if model, found := refOf(f.Type); found {
				g.Expect(models).To(HaveKey(model), "%s.%s", name, f.JSON)
			}
			_, err := regexp.Compile(f.Pattern)
			g.Expect(err).NotTo(HaveOccurred(), "%s.%s", name, f.JSON)
		}
	}
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(operations).To(HaveLen(81))
	inPath := regexp.MustCompile(`{([a-z_]+)}`)
	for _, op := range operations {
		g.Expect(op.Access).NotTo(BeEmpty(), op.ID)
		for _, part := range inPath.FindAllStringSubmatch(op.Path, -1) {
			g.Expect(slices.ContainsFunc(op.Params, func(p protocol.Param) bool {
				return p.In == "path" && p.Name == part[1] && p.Required
			})).To(BeTrue(), "%s: %s", op.ID, part[1])
		}
		for _, text := range []string{op.Body(), op.Answer} {
			if model, found := refOf(text); found {
				g.Expect(models).To(HaveKey(model), op.ID)
			}
		}
	}
}

func refOf(typ string) (model string, found bool) {
	typ = strings.TrimPrefix(strings.TrimPrefix(typ, "array:"), "map:")
	return strings.CutPrefix(typ, "ref:")
}

func TestWhatALineSays(t *testing.T) {
	g := NewWithT(t)
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	byID := map[string]protocol.Operation{}
	for _, op := range operations {
		byID[op.ID] = op
	}
	initrd := byID["DownloadMinimalInitrd"]
	g.Expect([]int{initrd.Success, initrd.Empty}).To(Equal([]int{200, 204}))
	g.Expect(initrd.Answer).To(Equal("file"))
	g.Expect(initrd.Accepts(protocol.ImageAuth)).To(BeTrue())
	g.Expect(byID["v2ListEvents"].Headers).To(ContainElement("Event-Count"))
	g.Expect(byID["v2ListEvents"].Stream).To(BeTrue())
	g.Expect(byID["V2UploadLogs"].Consumes).To(Equal("multipart/form-data"))
	g.Expect(byID["TransformClusterToDay2"].Deprecated).To(BeTrue())
	g.Expect(byID["v2RegisterHost"].Body()).To(Equal("ref:host-create-params"))
	g.Expect(byID["v2ListHosts"].Access[0]).To(Equal(protocol.Access{Scheme: protocol.UserAuth, Roles: []string{"admin", "read-only-admin", "user"}}))
}
