package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestKinds(t *testing.T) {
	cases := map[string]struct {
		status int
		answer string
		kind   client.Kind
	}{
		"400":                     {400, "", client.Refused},
		"401":                     {401, "", client.Refused},
		"403":                     {403, "", client.Refused},
		"404":                     {404, "", client.NotSupported},
		"405":                     {405, "", client.NotSupported},
		"501":                     {501, "", client.NotSupported},
		"409":                     {409, "", client.Conflict},
		"412":                     {412, "", client.Conflict},
		"428":                     {428, "", client.Conflict},
		"418":                     {418, "", client.Refused},
		"429":                     {429, "", client.Busy},
		"503":                     {503, "", client.Busy},
		"500":                     {500, "", client.Failed},
		"507":                     {507, "", client.Failed},
		"a page for a 404":        {404, "<html>not found</html>", client.NotSupported},
		"HPE's licence":           {400, message("iLO.2.14.LicenseKeyRequired", "A license key is required to use this operation or feature."), client.Licence},
		"Supermicro's":            {403, message("Base.1.0.0.OemLicenseNotPassed", "Not licensed to perform this request. The following licenses DCMS were needed", "DCMS"), client.Licence},
		"that is not one":         {400, message("SMC.1.0.OemLicenseNotPassed", "The BIOS firmware update was already in update mode."), client.Conflict},
		"Dell's":                  {400, message("IDRAC.2.8.LIC501", "A required license is missing or expired."), client.Licence},
		"Dell's older":            {400, message("Base.1.0.InternalError", "failed, No sufficient LICENSE for user to perform requested  operation."), client.Licence},
		"in plain words":          {400, message("X.1.0.Y", "This feature requires an Enterprise license."), client.Licence},
		"a licence missing":       {404, message("Base.1.18.ResourceMissingAtURI", "The resource at the URI /redfish/v1/LicenseService/Licenses/1 was not found."), client.NotSupported},
		"full":                    {503, message("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."), client.Busy},
		"full, with 400":          {400, message("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."), client.Busy},
		"in POST":                 {400, message("iLO.2.14.UnableToModifyDuringSystemPOST", "no"), client.Busy},
		"no such action":          {400, message("Base.1.18.ActionNotSupported", "The action X is not supported by the resource."), client.NotSupported},
		"lockdown is no lock-out": {403, message("IDRAC.2.8.SYS442", "Unable to complete the operation because the system lockdown mode is enabled."), client.Refused},
		"password":                {403, message("Base.1.18.PasswordChangeRequired", "Change it.", "/redfish/v1/AccountService/Accounts/2"), client.PasswordChange},
		"Dell's password":         {403, message("IDRAC.2.8.SWC1908", "The default password must be changed."), client.PasswordChange},
		"the second of two":       {400, `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.0.GeneralError"},{"MessageId":"iLO.2.14.LicenseKeyRequired"}]}}`, client.Licence},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				f.paths[system] = answers(c.status, c.answer)
				it := inside(t, f, quick())
				_, err := it.Post(t.Context(), system, nil)
				g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
				g.Expect(client.KindOf(fmt.Errorf("probe: %w", err))).To(Equal(c.kind))
			})
		})
	}
	NewWithT(t).Expect(client.KindOf(nil)).To(BeEmpty())
	NewWithT(t).Expect(client.KindOf(errors.New("x"))).To(BeEmpty())
}

func TestMessages(t *testing.T) {
	const one = `{"MessageId":"Base.1.18.PropertyUnknown","Message":"The property X is not known.","MessageArgs":["X"],` +
		`"Resolution":"Leave it out.","MessageSeverity":"Warning","RelatedProperties":["#/X"]}`
	whole := client.Message{
		ID: "Base.1.18.PropertyUnknown", Text: "The property X is not known.", Args: []string{"X"}, Resolution: "Leave it out.", Severity: "Warning", Properties: []string{"#/X"},
	}
	cases := map[string]struct {
		body string
		want []client.Message
		text string
	}{
		"a list": {
			`{"error":{"code":"Base.1.18.GeneralError","@Message.ExtendedInfo":[` + one + `]}}`,
			[]client.Message{whole},
			"The property X is not known (status 400, Base.1.18.PropertyUnknown)",
		},
		"one object":             {`{"error":{"@Message.ExtendedInfo":` + one + `}}`, []client.Message{whole}, "The property X is not known (status 400, Base.1.18.PropertyUnknown)"},
		"at the top":             {`{"@Message.ExtendedInfo":[` + one + `]}`, []client.Message{whole}, "The property X is not known (status 400, Base.1.18.PropertyUnknown)"},
		"beside a property":      {`{"UserName@Message.ExtendedInfo":[` + one + `]}`, []client.Message{whole}, "The property X is not known (status 400, Base.1.18.PropertyUnknown)"},
		"one argument, a number": {`{"error":{"@Message.ExtendedInfo":[{"MessageId":"A.1.B","MessageArgs":7}]}}`, []client.Message{{ID: "A.1.B", Args: []string{"7"}}}, "bad request (status 400, A.1.B)"},
		"code and message": {
			`{"error":{"code":"Base.1.0.GeneralError","message":"It failed."}}`,
			[]client.Message{{ID: "Base.1.0.GeneralError", Text: "It failed."}},
			"It failed (status 400, Base.1.0.GeneralError)",
		},
		"as OData had it":    {`{"error":{"code":"5","message":{"lang":"en-us","value":"not supported: "}}}`, []client.Message{{ID: "5", Text: "not supported:"}}, "not supported: (status 400, 5)"},
		"a text":             {`{"error":"It failed."}`, []client.Message{{Text: "It failed."}}, "It failed (status 400)"},
		"control characters": {`{"error":"It\nfailed\u001b[31m"}`, []client.Message{{Text: "It failed [31m"}}, "It failed [31m (status 400)"},
		"nothing":            {``, nil, "bad request (status 400)"},
		"a page":             {`<html><body>Bad</body></html>`, nil, "bad request (status 400)"},
		"half":               {`{"error":{"@Message`, nil, "bad request (status 400)"},
		"wrong types":        {`{"error":{"@Message.ExtendedInfo":[1,"x",null,[` + one + `]],"code":{},"message":[]}}`, nil, "bad request (status 400)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.paths[system] = answers(http.StatusBadRequest, c.body)
			it := newClient(t, serve(t, f), quick())
			err := it.Get(t.Context(), system, &struct{}{})
			e, is := errors.AsType[*client.Error](err)
			g.Expect(is).To(BeTrue())
			g.Expect(e.Messages).To(Equal(c.want))
			g.Expect(e.Error()).To(Equal("GET " + system + ": " + c.text))
			if len(c.want) > 0 {
				g.Expect(e.MessageID).To(Equal(c.want[0].ID))
				g.Expect(e.Args).To(Equal(c.want[0].Args))
			}
		})
	}
	t.Run("many and long", func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		long := `{"MessageId":"A.1.B","Message":"` + strings.Repeat("é", 5000) + `"}`
		f.paths[system] = answers(http.StatusBadRequest, `{"error":{"@Message.ExtendedInfo":[`+strings.Repeat(long+",", 99)+long+`]}}`)
		it := newClient(t, serve(t, f), quick())
		err := it.Get(t.Context(), system, &struct{}{})
		e, _ := errors.AsType[*client.Error](err)
		g.Expect(len(e.Messages)).To(BeNumerically("<=", 16))
		g.Expect(len(e.Message)).To(BeNumerically("<", 1100))
	})
}

func TestForeignLocationIsLeftOut(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.Header.Get("X"))
		w.WriteHeader(http.StatusAccepted)
	}
	target := serve(t, f)
	for raw, want := range map[string]string{
		target.URL + "/redfish/v1/TaskService/TaskMonitors/1": "/redfish/v1/TaskService/TaskMonitors/1",
		"/redfish/v1/TaskService/Tasks/1":                     "/redfish/v1/TaskService/Tasks/1",
		"https://evil.example/redfish/v1/TaskService/Tasks/1": "",
		"": "",
	} {
		f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", raw)
			w.WriteHeader(http.StatusAccepted)
		}
		answer, err := newClient(t, target, quick()).Post(context.Background(), system, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Location()).To(Equal(want))
	}
}
