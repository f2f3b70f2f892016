package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// TestJSONThatIsAlmostOne: iLO 6 1.75 leaves a bare carriage return in a text
// (mrlhansen/idrac_exporter#192).
func TestJSONThatIsAlmostOne(t *testing.T) {
	for name, body := range map[string]string{
		"a carriage return in a text":      "{\"Id\":\"1\",\"HostName\":\"web\r\n1\",\"Model\":\"X\"}",
		"a tab in a text":                  "{\"Id\":\"1\",\"HostName\":\"web\t1\",\"Model\":\"X\"}",
		"a byte order mark":                "\xef\xbb\xbf{\"Id\":\"1\",\"Model\":\"X\"}",
		"a byte order mark and lines":      "\xef\xbb\xbf\r\n{\"Id\":\"1\",\"Model\":\"X\"}",
		"zeros of a buffer behind it":      "{\"Id\":\"1\",\"Model\":\"X\"}\n\x00\x00",
		"a zero and an escape in a text":   "{\"HostName\":\"a\x00b\x1b[2J\",\"Model\":\"X\"}",
		"a backslash that escapes nothing": `{"Path":"C:\Windows\system","Model":"X"}`,
		"bytes that are no text":           "{\"HostName\":\"\xff\xfe\",\"Model\":\"X\"}",
		"blanks around":                    "\r\n\t {\"Model\":\"X\"} \r\n",
		"a member twice":                   `{"Model":"W","Model":"X"}`,
		"a member in two spellings":        `{"MODEL":"W","Model":"X"}`,
		"numbers that nothing holds":       `{"A":1e999,"B":-99999999999999999999,"C":1e-999,"Model":"X"}`,
		"wrong types of all others":        `{"Id":{},"HostName":[[]],"Status":7,"Model":"X"}`,
		"an error beside it":               `{"Id":"1","error":{"code":"x"},"Model":"X"}`,
		"half of a surrogate pair":         `{"HostName":"\ud800","Model":"X"}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
			defer server.Close()
			c, err := client.New(client.Target{URL: server.URL, Username: "a", Password: "b", Basic: true, TLS: client.Trust{Insecure: true}}, client.Options{Rate: 1000, Burst: 1000})
			g.Expect(err).NotTo(HaveOccurred())
			var into struct {
				Model   lenient.String
				A, B, C lenient.Optional[lenient.Int]
			}
			g.Expect(c.Get(t.Context(), "/redfish/v1/Systems/1", &into)).To(Succeed())
			g.Expect(into.Model).To(BeEquivalentTo("X"))
			g.Expect(into.A.Set || into.B.Set).To(BeFalse(), "they are not known")
		})
	}
}

// TestJSONThatIsNone is Broken, whoever reads it and in which form.
func TestJSONThatIsNone(t *testing.T) {
	const page = `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`
	for name, c := range map[string]struct {
		body string
		kind client.Kind
	}{
		"nothing":                     {"", client.Broken},
		"blanks":                      {" \r\n", client.Broken},
		"a byte order mark alone":     {"\xef\xbb\xbf", client.Broken},
		"null":                        {"null", client.Broken},
		"a list":                      {"[" + page + "]", client.Broken},
		"a text":                      {`"Systems"`, client.Broken},
		"a number":                    {"42", client.Broken},
		"words":                       {"Service Unavailable", client.Broken},
		"half":                        {page[:20], client.Broken},
		"half of a text":              {`{"Model":"X`, client.Broken},
		"two of them":                 {page + "\n" + page, client.Broken},
		"more behind it":              {page + "}", client.Broken},
		"an error that does not end":  {"{\"error\":{\"@Message.ExtendedInfo\":[{\"Message\":\"x\"}\n}\n" + page, client.Broken}, // iDRAC, bb-Ricardo/check_redfish#151
		"a comma too many":            {`{"Members":[],}`, client.Broken},
		"numbers that JSON has not":   {`{"Members":[],"Reading":NaN}`, client.Broken},
		"in 16 bits":                  {"\xff\xfe{\x00}\x00", client.Broken},
		"a web page":                  {"<!DOCTYPE html><html>", client.NotRedfish},
		"a web page with a mark":      {"\xef\xbb\xbf\n<html>", client.NotRedfish},
		"an error with a good status": {`{"error":{"code":"Base.1.8.GeneralError","message":"something went wrong"}}`, client.Broken},
		"a licence that is missing": {
			`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.0.InternalError","Message":"failed, No sufficient LICENSE for user to perform requested operation."}]}}`,
			client.Licence,
		},
		"an error with a line in it":  {"{\"error\":{\"@Message.ExtendedInfo\":[{\"MessageId\":\"iLO.2.14.LicenseKeyRequired\",\"Message\":\"A license\r\nkey is required.\"}]}}", client.Licence},
		"an error that is not theirs": {`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.8.ResourceMissingAtURI"}]}}`, client.NotSupported},
		"a service that is busy":      {`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.8.ServiceTemporarilyUnavailable"}]}}`, client.Busy},
		"a password that must go first": {
			`{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.8.PasswordChangeRequired","MessageArgs":["/redfish/v1/AccountService/Accounts/1"]}]}}`,
			client.PasswordChange,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.paths[system] = sends(nil, []byte(c.body))
			it := newClient(t, serve(t, f), quick())
			_, raw := it.GetRaw(t.Context(), system)
			_, _, listed := it.Members(t.Context(), system, 0)
			for way, err := range map[string]error{"Get": it.Get(t.Context(), system, &struct{}{}), "GetRaw": raw, "Members": listed} {
				g.Expect(client.KindOf(err)).To(Equal(c.kind), "%s: %v", way, err)
				g.Expect(err.Error()).To(ContainSubstring("GET "+system), way)
			}
		})
	}
}

// TestAlmostJSONInOtherAnswers: the service root, a refusal and a new session are read as
// resources are.
func TestAlmostJSONInOtherAnswers(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.root = "\xef\xbb\xbf" + strings.Replace(plainRoot, `"1.6.0"`, "\"1.6.0\",\"Product\":\"a\tb\"", 1)
	f.paths[system] = answers(
		http.StatusForbidden,
		"{\"error\":{\"@Message.ExtendedInfo\":[{\"MessageId\":\"iLO.2.14.LicenseKeyRequired\",\"Message\":\"A license\r\nkey\x1b[2J is \u202erequired.\"}]}}\x00",
	)
	it := newClient(t, serve(t, f), quick())
	err := it.Get(t.Context(), system, &struct{}{})
	g.Expect(client.KindOf(err)).To(Equal(client.Licence))
	g.Expect(err).To(MatchError(ContainSubstring("A license  key [2J is required")), "what commands a terminal is left out")
	_, logins := f.presented, f.serial
	g.Expect(logins).To(Equal(1), "a session was opened")
}

// TestTheFormOfRedfishIsAskedFor: an iLO 4 answers in an older form without this header
// (influxdata/telegraf#8093).
func TestTheFormOfRedfishIsAskedFor(t *testing.T) {
	g, f := NewWithT(t), newFake()
	var asked string
	f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("OData-Version")
		body(w, http.StatusOK, `{}`)
	}
	g.Expect(newClient(t, serve(t, f), quick()).Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(asked).To(Equal("4.0"))
}
