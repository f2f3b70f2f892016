package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/openapi"
)

// document is what clients' generators read of it.
type document struct {
	Swagger             string
	BasePath            string
	Info                struct{ Version string }
	SecurityDefinitions map[string]struct{ Type, In, Name string }
	Paths               map[string]map[string]struct {
		OperationID string
		Deprecated  bool
		Security    []map[string][]string
		Parameters  []map[string]any
		Responses   map[string]map[string]any
	}
	Definitions map[string]struct {
		Type       string
		Required   []string
		Properties map[string]map[string]any
		AllOf      []map[string]any
	}
}

func TestDocument(t *testing.T) {
	g := NewWithT(t)
	raw, err := openapi.Document("1.2.3")
	g.Expect(err).NotTo(HaveOccurred())
	var d document
	g.Expect(json.Unmarshal(raw, &d)).To(Succeed())
	g.Expect(d.Swagger).To(Equal("2.0"))
	g.Expect(d.BasePath).To(Equal("/api/assisted-install"))
	g.Expect(d.Info.Version).To(Equal("1.2.3"))
	g.Expect(d.SecurityDefinitions["agentAuth"].Name).To(Equal("X-Secret-Key"))

	g.Expect(d.Paths).To(HaveLen(61))
	operations := 0
	for _, methods := range d.Paths {
		operations += len(methods)
	}
	g.Expect(operations).To(Equal(81))
	register := d.Paths["/v2/infra-envs/{infra_env_id}/hosts"]["post"]
	g.Expect(register.OperationID).To(Equal("v2RegisterHost"))
	g.Expect(register.Security).To(Equal([]map[string][]string{{"agentAuth": {}}}))
	g.Expect(register.Parameters).To(ContainElement(And(HaveKeyWithValue("in", "body"),
		HaveKeyWithValue("schema", HaveKeyWithValue("$ref", "#/definitions/host-create-params")))))
	g.Expect(register.Responses).To(HaveKey("201"))
	g.Expect(register.Responses["401"]["schema"]).To(HaveKeyWithValue("$ref", "#/definitions/infra_error"))
	g.Expect(d.Paths["/v2/clusters/{cluster_id}/actions/complete-installation"]["post"].Deprecated).To(BeTrue())

	host := d.Definitions["host"]
	g.Expect(host.Required).To(ContainElements("id", "kind", "status", "href"))
	g.Expect(host.Properties["checked_in_at"]).To(HaveKeyWithValue("format", "date-time"))
	g.Expect(host.Properties["status"]["enum"]).To(ContainElement("preparing-for-installation"))
	g.Expect(d.Definitions["host_registration_response"].AllOf).To(HaveLen(2))

	for rest := string(raw); ; {
		_, after, found := strings.Cut(rest, `"#/definitions/`)
		if !found {
			break
		}
		name, _, _ := strings.Cut(after, `"`)
		g.Expect(d.Definitions).To(HaveKey(name))
		rest = after
	}
}
