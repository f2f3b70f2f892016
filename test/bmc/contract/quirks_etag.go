package contract

import (
	"io"
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// etagQuirks are the cases of ETags.
var etagQuirks = map[simulator.Quirk]func(w *World){
	simulator.ActionRefusesETag: func(w *World) {
		w.Quirk(simulator.ActionRefusesETag, simulator.Always)
		action, body := w.systemPath()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}
		w.refusal(http.StatusPreconditionFailed, http.MethodPost, action, body, "If-Match", w.tags(w.systemPath())[0])
		w.accepted(http.MethodPost, action, body)
	},
	simulator.FirstPatchFails: func(w *World) {
		w.Quirk(simulator.FirstPatchFails, 1)
		w.Expect(w.fits(w.tags(w.systemPath())[0])).To(BeFalse())
		w.Expect(w.fits(w.tags(w.systemPath())[0])).To(BeTrue())
	},
	simulator.ETagGzip: func(w *World) {
		w.Quirk(simulator.ETagGzip, simulator.Always)
		packed := w.tags(w.systemPath(), "Accept-Encoding", "gzip")[0]
		w.Expect(packed).To(HaveSuffix(`-gzip"`))
		w.Expect(w.fits(packed)).To(BeFalse())
		w.Expect(w.fits(packed[:len(packed)-len(`-gzip"`)] + `"`)).To(BeTrue())
		w.Expect(w.tags(w.systemPath(), "Accept-Encoding", "identity")[0]).NotTo(ContainSubstring("gzip"))
	},
	simulator.ETagWeak: func(w *World) {
		w.Quirk(simulator.ETagWeak, simulator.Always)
		weak := w.tags(w.systemPath())[0]
		w.Expect(weak).To(HavePrefix(`W/"`))
		w.Expect(w.fits(weak)).To(BeFalse())
		w.Expect(w.fits(weak[len("W/"):])).To(BeTrue())
	},
	simulator.ETagEmpty: func(w *World) {
		w.Quirk(simulator.ETagEmpty, simulator.Always)
		w.Expect(w.tags(w.systemPath())).To(Equal([]string{""}))
	},
	simulator.ETagDoubled: func(w *World) {
		w.Quirk(simulator.ETagDoubled, simulator.Always)
		tag := w.tags(w.systemPath())[0]
		w.Expect(tag).To(And(HavePrefix(`""`), HaveSuffix(`""`)))
		w.Expect(w.fits(tag)).To(BeFalse())
		w.Expect(w.fits(tag[1 : len(tag)-1])).To(BeTrue())
	},
	simulator.ETagTwice: func(w *World) {
		w.Quirk(simulator.ETagTwice, simulator.Always)
		tags := w.tags(w.systemPath())
		w.Expect(tags).To(HaveLen(2))
		w.Expect(w.fits(tags[0] + ", " + tags[1])).To(BeFalse())
		w.Expect(w.fits(tags[0])).To(BeTrue())
	},
	simulator.ETagStarRefused: func(w *World) {
		w.Quirk(simulator.ETagStarRefused, simulator.Always)
		w.Expect(w.fits("*")).To(BeFalse())
		w.Expect(w.fits(w.tags(w.systemPath())[0])).To(BeTrue())
	},
	simulator.ETagMissing: func(w *World) {
		w.Quirk(simulator.ETagMissing, simulator.Always)
		w.Expect(w.tags(w.systemPath())).To(BeEmpty())
	},
	simulator.BIOSETagNeverFits: func(w *World) {
		w.Quirk(simulator.BIOSETagNeverFits, simulator.Always)
		settings, body := w.systemPath()+"/Bios/Settings", map[string]any{"Attributes": map[string]any{setting: "Disabled"}}
		w.refusal(http.StatusPreconditionRequired, http.MethodPatch, settings, body)
		for _, tag := range append(w.tags(settings), "*") {
			w.refusal(http.StatusPreconditionFailed, http.MethodPatch, settings, body, "If-Match", tag)
		}
	},
}

// fits says whether a PATCH of the system is accepted with the tag.
func (w *World) fits(tag string) bool {
	w.T.Helper()
	return w.status(http.MethodPatch, w.systemPath(), map[string]any{"AssetTag": "x"}, "If-Match", tag) < http.StatusMultipleChoices
}

// raw makes a GET whose answer nobody touches.
func (w *World) raw(path string, headers ...string) (*http.Response, []byte, error) {
	w.T.Helper()
	request, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.URL+path, http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(w.User, w.Password)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := w.HTTP.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, body, err
}

// tags are the ETag headers of a resource as they are.
func (w *World) tags(path string, headers ...string) []string {
	w.T.Helper()
	answer, _, err := w.raw(path, headers...) //nolint:bodyclose // it was read and closed
	w.Expect(err).NotTo(HaveOccurred())
	return answer.Header["Etag"]
}
