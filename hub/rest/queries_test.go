package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// open are the query parameters in which any text means something, with what becomes of one that nothing has.
var open = map[string]string{
	"additional_name":        "404: the name of a manifest",
	"ams_subscription_ids":   "no clusters: none has a subscription",
	"external_platform_name": "the name of a platform that the hub does not know is one",
	"file_name":              "404: the name of a manifest",
	"mac":                    "a machine that no host has gets the image",
	"message":                "no events: a text to look for",
	"operator_name":          "404: the operator",
	"owner":                  "nothing: the name of a user",
	"version":                "no versions: the beginning of one",
}

// wrong is a query that no value of the parameter fits, or is there for its others.
func wrong(op protocol.Operation, p protocol.Param) url.Values {
	query := url.Values{}
	for _, other := range op.Params {
		switch {
		case other.In != "query" || !other.Required:
		case other.Enum != nil:
			query.Set(other.Name, other.Enum[len(other.Enum)-1])
		case strings.HasSuffix(other.Name, "version"):
			query.Set(other.Name, "4.20")
		}
	}
	switch op.ID { // where it counts for one file only
	case "V2GetPresignedForClusterFiles":
		query.Set("file_name", "logs")
	case "V2UploadLogs":
		query.Set("logs_type", "host")
	}
	if p.Name == "host_id" && strings.Contains(op.ID, "ClusterFiles") || op.ID == "V2DownloadClusterLogs" {
		query.Set("logs_type", "host")
	}
	query.Set(p.Name, "levitate")
	return query
}

// TestNoQueryIsForgotten asks each operation with what none of its parameters can be: it is refused, and named. A list that is
// empty, or has all, would be taken for an answer.
func TestNoQueryIsForgotten(t *testing.T) {
	f := newFixture(t)
	operations, err := protocol.Operations()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, op := range operations {
		for _, p := range op.Params {
			if p.In != "query" || p.Enum == nil && p.Type == "string" && open[p.Name] != "" || p.Name == "ams_subscription_ids" {
				continue
			}
			t.Run(op.ID+" "+p.Name, func(t *testing.T) {
				g := NewWithT(t)
				caller := f.User()
				if !op.Accepts(protocol.UserAuth) {
					caller = f.Agent(f.token)
				}
				code, raw := caller.Do(t, op.Method, f.path(op.Path)+"?"+wrong(op, p).Encode(), nil, nil)
				g.Expect(code).To(Equal(http.StatusBadRequest), raw)
				g.Expect(raw).To(And(ContainSubstring(p.Name), ContainSubstring("levitate")))
				for _, good := range p.Enum {
					g.Expect(raw).To(ContainSubstring(good), "it says what is allowed")
				}
			})
		}
	}
}

// TestAQueryOfWhatThereIsNot selects nothing.
func TestAQueryOfWhatThereIsNot(t *testing.T) {
	user := newClient(t, testhub.Start(t, testhub.Options{}).User())
	user.do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20","pull_secret":"{\"auths\":{}}"}`, 201)
	for _, query := range []string{"owner=nobody", "ams_subscription_ids=1,2", "openshift_cluster_id=11111111-2222-4333-8444-555555555555"} {
		NewWithT(t).Expect(user.do("GET", "/clusters?"+query, "", 200)).To(MatchJSON(`[]`), query)
	}
	NewWithT(t).Expect(user.do("GET", "/clusters?ams_subscription_ids=", "", 200)).To(ContainSubstring("edge"))
}
