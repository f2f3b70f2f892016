package rest_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/s3server"
)

// TestLogsOnS3: what a caller sees while the server of the files is well, away,
// and breaks off in the middle of a download.
func TestLogsOnS3(t *testing.T) {
	g := NewWithT(t)
	server := s3server.New(t)
	kept, err := filestore.OpenS3(t.Context(), filestore.S3Options{
		Address: "s3://" + s3server.Bucket + "/site", Endpoint: server.URL, CAFile: server.CAFile, CredentialsFile: server.CredentialsFile,
		Incoming: filepath.Join(t.TempDir(), "incoming"), Patience: 5 * time.Minute, // a busy machine is no fault
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = kept.Close() })
	hub := testhub.Start(t, testhub.Options{NoAuth: true, Files: kept})
	var cluster wire.Cluster
	code, raw := hub.User().Do(t, http.MethodPost, "/clusters", wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20", PullSecret: pullSecret}, &cluster)
	g.Expect(code).To(Equal(http.StatusCreated), raw)

	// call returns the status, when to come again, and the body as far as it came.
	call := func(method, query, contentType string, body io.Reader) (code int, again, content string, broken error) {
		r, err := http.NewRequestWithContext(t.Context(), method, hub.URL+rest.Base+"/v2/clusters/"+cluster.ID+"/logs?"+query, body)
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Content-Type", contentType)
		answer, err := hub.Client().Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		raw, broken := io.ReadAll(answer.Body)
		return answer.StatusCode, answer.Header.Get("Retry-After"), string(raw), broken
	}
	upload := func(content string) (code int, again string) {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("upfile", "logs.tar.gz")
		g.Expect(err).NotTo(HaveOccurred())
		_, _ = io.WriteString(part, content)
		_ = form.Close()
		code, again, _, _ = call(http.MethodPost, "logs_type=controller", form.FormDataContentType(), &body)
		return code, again
	}
	download := func() (code int, again, content string, broken error) {
		return call(http.MethodGet, "logs_type=controller", "", http.NoBody)
	}
	whole := strings.Repeat("journal ", 1<<18)
	isWhole := func() bool {
		code, _, content, broken := download()
		return code == http.StatusOK && broken == nil && content == whole
	}

	code, _, _, _ = download()
	g.Expect(code).To(Equal(http.StatusNotFound))
	code, _ = upload(whole)
	g.Expect(code).To(Equal(http.StatusNoContent))
	g.Expect(isWhole()).To(BeTrue())

	server.Away()
	code, again := upload("lost")
	g.Expect(code).To(Equal(http.StatusServiceUnavailable))
	g.Expect(again).NotTo(BeEmpty())
	code, again, _, _ = download()
	g.Expect(code).To(Equal(http.StatusServiceUnavailable))
	g.Expect(again).NotTo(BeEmpty())
	server.Mend()
	g.Expect(isWhole()).To(BeTrue(), "an upload that failed leaves the earlier archive")

	server.CutDownloads(1 << 20)
	_, _, _, broken := download()
	g.Expect(broken).To(MatchError(io.ErrUnexpectedEOF), "a part of an archive must not look like all of it")
	server.Mend()
	g.Expect(isWhole()).To(BeTrue())
}
