package service_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestAnImageThatCannotBeMadeIsAnEvent(t *testing.T) {
	w := start(t, service.Options{}, nil)
	w.Expect(w.ImageFailed(w.ctx, envID, "no base image fits")).To(Succeed())
	events, _, err := w.Events(w.ctx, store.EventFilter{InfraEnvID: envID, Message: "no base image fits"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(events).To(ConsistOf(And(HaveField("Name", "generate_image_fetch_failed"), HaveField("Severity", wire.EventSeverityError))))
	w.Expect(service.IsNotFound(w.ImageFailed(w.ctx, hostA, "x"))).To(BeTrue())
}
