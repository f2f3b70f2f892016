package contract

import (
	"net/http"
	"slices"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"
)

// imageURL is a medium that nobody reads.
const imageURL = "http://127.0.0.1:1/nobody/listens/here.iso"

// cd finds the CD among virtual media.
func (w *World) cd(media []*schemas.VirtualMedia, err error) *schemas.VirtualMedia {
	w.T.Helper()
	w.Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(media, func(m *schemas.VirtualMedia) bool { return slices.Contains(m.MediaTypes, schemas.CDVirtualMediaType) })
	w.Expect(i).To(BeNumerically(">=", 0), "there is a CD")
	return media[i]
}

func (w *World) systemCD() *schemas.VirtualMedia  { return w.cd(w.System().VirtualMedia()) }
func (w *World) managerCD() *schemas.VirtualMedia { return w.cd(w.Manager().VirtualMedia()) }

// insert puts the image into the CD, which must be accepted.
func (w *World) insert(cd *schemas.VirtualMedia) {
	w.T.Helper()
	_, err := cd.InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: imageURL})
	w.Expect(err).NotTo(HaveOccurred())
}

// mediaThere inserts and ejects, and looks each time.
func (w *World) mediaThere(cd func() *schemas.VirtualMedia) {
	w.T.Helper()
	w.Expect(cd().Inserted).To(HaveValue(BeFalse()))
	w.insert(cd())
	m := cd()
	w.Expect(m.Inserted).To(HaveValue(BeTrue()))
	w.Expect(m.Image).To(Equal(imageURL))
	_, err := m.EjectMedia()
	w.Expect(err).NotTo(HaveOccurred())
	m = cd()
	w.Expect(m.Inserted).To(HaveValue(BeFalse()))
	w.Expect(m.Image).To(BeEmpty())
	_, err = m.EjectMedia()
	w.Expect(err).NotTo(HaveOccurred(), "an empty slot can be ejected too")
}

func virtualMedia(w *World) { w.mediaThere(w.systemCD) }

func managerMedia(w *World) {
	w.mediaThere(w.managerCD)
	w.insert(w.managerCD())
	w.Expect(w.systemCD().Image).To(Equal(imageURL), "the same slot")
}

func refusedMedia(w *World) {
	cd := w.systemCD()
	for name, image := range map[string]string{"no image": "", "no scheme": "x.iso", "unknown scheme": "gopher://x/y.iso"} {
		_, err := cd.InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: image})
		w.Expect(err).To(HaveOccurred(), name)
		w.Refused(err, http.StatusBadRequest)
	}
	w.insert(cd)
	_, err := cd.InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: imageURL})
	w.Refused(err, http.StatusConflict)
	for _, address := range []string{cd.ODataID, w.managerCD().ODataID} {
		w.Expect(w.Do(http.MethodPatch, address, map[string]any{"Image": imageURL}).status).To(Equal(http.StatusBadRequest), "there are actions for that")
	}
	w.Expect(w.Do(http.MethodGet, w.systemPath()+"/VirtualMedia/Tape", nil).status).To(Equal(http.StatusNotFound))
}
