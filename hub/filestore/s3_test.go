package filestore_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/test/s3server"
)

// patience of the stores that meet a server that hangs, so that the tests end
// soon. What shall succeed is asked of others, because a busy machine is slower.
const patience = 300 * time.Millisecond

// TestServerAway: while the server is away, or hangs, every operation says that
// it may work later, and afterwards it does.
func TestServerAway(t *testing.T) {
	server := s3server.New(t)
	well := bucket(t, server, filestore.S3Options{})
	for fault, begin := range map[string]func(){"away": server.Away, "hanging": server.Hang} {
		t.Run(fault, func(t *testing.T) {
			g := NewWithT(t)
			put(t, well, "file", "x")
			begin()
			// The hub starts all the same.
			s := bucket(t, server, filestore.S3Options{Patience: patience})
			_, err := s.Put(t.Context(), "new", strings.NewReader("x"), 1)
			g.Expect(err).To(MatchError(filestore.ErrUnavailable))
			_, _, err = s.Open(t.Context(), "file")
			g.Expect(err).To(MatchError(filestore.ErrUnavailable))
			_, err = s.Stat(t.Context(), "none")
			g.Expect(err).To(MatchError(filestore.ErrUnavailable))
			g.Expect(err).NotTo(MatchError(fs.ErrNotExist), "nobody knows that")
			g.Expect(s.Remove(t.Context(), "file")).To(MatchError(filestore.ErrUnavailable))
			for _, err := range s.List(t.Context(), "") {
				g.Expect(err).To(MatchError(filestore.ErrUnavailable))
			}
			g.Expect(s.Ready(t.Context())).To(MatchError(filestore.ErrUnavailable))
			server.Mend()
			g.Expect(content(t, well, "file")).To(Equal("x"))
			g.Expect(well.Ready(t.Context())).To(Succeed())
		})
	}
}

// TestUploadCut: of an upload that breaks off, nothing is to be seen, and an
// earlier file stays.
func TestUploadCut(t *testing.T) {
	server := s3server.New(t)
	s := bucket(t, server, filestore.S3Options{})
	for fault, begin := range map[string]func(){
		"broken off": func() { server.CutUploads(1 << 20) },
		"no answer":  func() { server.CutDownloads(0) },
	} {
		t.Run(fault, func(t *testing.T) {
			g := NewWithT(t)
			put(t, s, "earlier", "earlier")
			for _, name := range []string{"earlier", "never"} {
				begin()
				_, err := s.Put(t.Context(), name, bytes.NewReader(make([]byte, 8<<20)), limit)
				g.Expect(err).To(MatchError(filestore.ErrUnavailable))
				server.Mend()
			}
			if fault == "no answer" {
				return // it may have been stored, as a whole
			}
			g.Expect(content(t, s, "earlier")).To(Equal("earlier"))
			_, err := s.Stat(t.Context(), "never")
			g.Expect(err).To(MatchError(fs.ErrNotExist))
			g.Expect(names(t, s, "")).To(ConsistOf("earlier"))
		})
	}
}

// TestDownloadCut: a download that breaks off is an error, never a shorter file,
// and goes on where it ended once the server is back.
func TestDownloadCut(t *testing.T) {
	server := s3server.New(t)
	s := bucket(t, server, filestore.S3Options{Patience: 10 * time.Second})
	whole := strings.Repeat("0123456789abcdef", 1<<18)
	put(t, s, "file", whole)
	for fault, begin := range map[string]func(){
		"broken off": func() { server.CutDownloads(1 << 20) },
		"hanging":    server.Hang,
	} {
		t.Run(fault, func(t *testing.T) {
			g := NewWithT(t)
			f, _, err := s.Open(t.Context(), "file")
			g.Expect(err).NotTo(HaveOccurred())
			defer f.Close()
			var read bytes.Buffer
			_, err = io.CopyN(&read, f, 100_000)
			g.Expect(err).NotTo(HaveOccurred())
			begin()
			_, err = io.Copy(&read, f)
			g.Expect(err).To(MatchError(filestore.ErrUnavailable))
			g.Expect(read.Len()).To(BeNumerically("<", len(whole)))
			server.Mend()
			_, err = io.Copy(&read, f)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.String() == whole).To(BeTrue())
		})
	}
}

// TestAnObjectThatVanishes between two pieces of a download is no shorter file.
func TestAnObjectThatVanishes(t *testing.T) {
	g := NewWithT(t)
	s := bucket(t, s3server.New(t), filestore.S3Options{})
	put(t, s, "file", "0123456789")
	f, _, err := s.Open(t.Context(), "file")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Remove(t.Context(), "file")).To(Succeed())
	_, err = io.ReadAll(f)
	g.Expect(err).To(MatchError(fs.ErrNotExist))
}

// TestManyObjects are listed over several pages.
func TestManyObjects(t *testing.T) {
	g := NewWithT(t)
	server := s3server.New(t)
	const many = 2_500
	g.Expect(os.Mkdir(filepath.Join(server.Objects, "many"), 0o700)).To(Succeed())
	for i := range many {
		g.Expect(os.WriteFile(filepath.Join(server.Objects, "many", fmt.Sprint(i)), nil, 0o600)).To(Succeed())
	}
	g.Expect(names(t, bucket(t, server, filestore.S3Options{}), "many")).To(HaveLen(many))
}

// TestRefusedAtTheStart: settings that cannot work are said at once, with what to
// do and without a secret.
func TestRefusedAtTheStart(t *testing.T) {
	server := s3server.New(t)
	wrong := filepath.Join(t.TempDir(), "credentials")
	NewWithT(t).Expect(os.WriteFile(wrong, s3server.Credentials(s3server.AccessKey, "very-secret"), 0o600)).To(Succeed())
	empty := filepath.Join(t.TempDir(), "empty")
	NewWithT(t).Expect(os.WriteFile(empty, []byte("[other]\naws_access_key_id=a\naws_secret_access_key=very-secret\n"), 0o600)).To(Succeed())
	other := s3server.New(t)
	for name, tc := range map[string]struct {
		o    filestore.S3Options
		says string
	}{
		"no such bucket":        {filestore.S3Options{Address: "s3://another"}, "no bucket another"},
		"wrong secret":          {filestore.S3Options{CredentialsFile: wrong}, "check the credentials"},
		"no credentials":        {filestore.S3Options{CredentialsFile: empty}, "below [default]"},
		"no file":               {filestore.S3Options{CredentialsFile: "/none"}, "/none"},
		"another certificate":   {filestore.S3Options{CAFile: other.CAFile}, "is not trusted"},
		"no certificate":        {filestore.S3Options{CAFile: empty}, "PEM"},
		"secret in the address": {filestore.S3Options{Address: "s3://key:very-secret@ironflow"}, "holds credentials"},
		"key in the address":    {filestore.S3Options{Address: "s3://very-secret@ironflow"}, "holds credentials"},
		"query in the address":  {filestore.S3Options{Address: "s3://ironflow?secret=very-secret"}, "query"},
		"secret in the URL":     {filestore.S3Options{Endpoint: "https://key:very-secret@192.0.2.1"}, "holds credentials"},
		"query in the URL":      {filestore.S3Options{Endpoint: "https://192.0.2.1/?secret=very-secret"}, "query"},
		"no URL":                {filestore.S3Options{Endpoint: "192.0.2.1:9000"}, "https://HOST:PORT"},
		"no bucket":             {filestore.S3Options{Address: "s3://"}, "s3://BUCKET"},
		"not a bucket":          {filestore.S3Options{Address: "s3://Not_A_Bucket"}, "name of a bucket"},
		"prefix that leads out": {filestore.S3Options{Address: "s3://ironflow/../x"}, "prefix"},
		"unknown addressing":    {filestore.S3Options{Addressing: "dns"}, "auto, path or host"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := filestore.OpenS3(t.Context(), of(t, server, tc.o))
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(err.Error()).NotTo(ContainSubstring("very-secret"))
		})
	}
}

// TestCredentialsChange while the program runs, and may be in the environment.
func TestCredentialsChange(t *testing.T) {
	g := NewWithT(t)
	server := s3server.New(t)
	file := filepath.Join(t.TempDir(), "credentials")
	write := func(secret string) {
		g.Expect(os.WriteFile(file, s3server.Credentials(s3server.AccessKey, secret), 0o600)).To(Succeed())
	}
	write(s3server.SecretKey)
	s := bucket(t, server, filestore.S3Options{CredentialsFile: file})
	put(t, s, "file", "x")
	write("old")
	_, err := s.Put(t.Context(), "file", strings.NewReader("y"), 1)
	g.Expect(err).To(MatchError(filestore.ErrUnavailable))
	write(s3server.SecretKey)
	put(t, s, "file", "z")

	o := of(t, server, filestore.S3Options{})
	o.CredentialsFile = ""
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	g.Expect(o.Check()).To(MatchError(ContainSubstring("AWS_ACCESS_KEY_ID")))
	t.Setenv("AWS_ACCESS_KEY_ID", s3server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3server.SecretKey)
	another, err := filestore.OpenS3(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = another.Close() })
	g.Expect(content(t, another, "file")).To(Equal("z"))
}
