package hub

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/test/s3server"
)

// TestReplicasShareTheFiles: what one program keeps on S3, another one finds.
func TestReplicasShareTheFiles(t *testing.T) {
	server := s3server.New(t)
	files := v1alpha1.Files{
		Address: "s3://" + s3server.Bucket + "/hub", Endpoint: server.URL, CAFile: server.CAFile, CredentialsFile: server.CredentialsFile,
	}
	one, other := hubWith(t, t.TempDir(), files), hubWith(t, t.TempDir(), files)
	keepAndFind(t, one, other)
}

// TestFilesAreBelowTheDataFolder unless they are set, and stay over a restart.
func TestFilesAreBelowTheDataFolder(t *testing.T) {
	g := NewWithT(t)
	data := t.TempDir()
	one := hubWith(t, data, v1alpha1.Files{})
	keepAndFind(t, one, one)
	g.Expect(filepath.Join(data, "logs", "logs", "hosts", "a.tar.gz")).To(BeARegularFile())
	g.Expect(errors.Join(one.files.Close(), one.store.Close())).To(Succeed())
	keepAndFind(t, hubWith(t, data, v1alpha1.Files{}), hubWith(t, "", v1alpha1.Files{Address: filepath.Join(data, "logs")}))
}

func hubWith(t *testing.T, data string, files v1alpha1.Files) *Server {
	t.Helper()
	if data == "" {
		data = t.TempDir()
	}
	s := defaults(data)
	s.Files = files
	h, err := New(t.Context(), Options{Settings: s, Cert: pki.Files{}, Log: slog.New(slog.DiscardHandler)})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _, _ = h.store.Close(), h.files.Close() })
	return h
}

func keepAndFind(t *testing.T, one, other *Server) {
	t.Helper()
	g := NewWithT(t)
	_, err := one.files.Put(t.Context(), "logs/hosts/a.tar.gz", strings.NewReader("journal"), 7)
	g.Expect(err).NotTo(HaveOccurred())
	f, _, err := other.files.Open(t.Context(), "logs/hosts/a.tar.gz")
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	raw, err := io.ReadAll(f)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal("journal"))
}

// defaults are the settings where nothing is set but the folder, for a hub without
// authentication.
func defaults(dir string) v1alpha1.IronflowConfiguration {
	var s v1alpha1.IronflowConfiguration
	settings.Bind(pflag.NewFlagSet("run", pflag.ContinueOnError), topics.All(&s))
	s.Store.DataDir, s.Hub.Auth = dir, "none"
	return s
}
