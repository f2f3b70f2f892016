package service_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
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

func TestTheImagesAddressGoesOut(t *testing.T) {
	secret, err := auth.NewKey(make([]byte, 32))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var broken error
	w := start(t, service.Options{TokenKey: secret, ImageURLs: func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
		return service.ImageURLs{ISO: "http://images.example/" + token + "/" + string(env.Type)}, broken
	}}, nil)
	urls, err := w.ImageURLs(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	token, _, _ := strings.Cut(strings.TrimPrefix(urls.ISO, "http://images.example/"), "/")
	w.Expect(w.CheckImageToken(w.ctx, token)).To(Equal(envID))
	_, err = w.CheckAgentToken(w.ctx, token)
	w.Expect(err).To(MatchError(auth.ErrInvalid), "an address is seen by many, an agent's token is not")
	agent, err := w.AgentToken(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.CheckImageToken(w.ctx, agent)).To(Equal(envID))

	env, err := w.InfraEnv(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(env.DownloadURL).To(Equal(urls.ISO))
	list, err := w.InfraEnvs(w.ctx, store.InfraEnvFilter{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(ConsistOf(HaveField("DownloadURL", urls.ISO)))
	env, err = w.UpdateInfraEnv(w.ctx, envID, wire.InfraEnvUpdateParams{ImageType: wire.ImageTypeMinimalISO})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(env.DownloadURL).To(HaveSuffix("minimal-iso"))

	w.Expect(w.RevokeAgentTokens(w.ctx, envID)).To(Succeed())
	_, err = w.CheckImageToken(w.ctx, token)
	w.Expect(err).To(MatchError(auth.ErrInvalid))

	broken = errors.New("no base image fits")
	_, err = w.ImageURLs(w.ctx, envID)
	w.Expect(service.Code(err)).To(Equal(400))
	w.Expect(err).To(MatchError(ContainSubstring("no base image fits")))
	env, err = w.InfraEnv(w.ctx, envID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(env.DownloadURL).To(BeEmpty())
	_, err = start(t, service.Options{}, nil).ImageURLs(w.ctx, envID)
	w.Expect(service.Code(err)).To(Equal(400), "a hub without an image server")
}
