package ipa

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
)

// TestImageIsComparedBeforeItCounts deploys an image as Ironic's deploy interface
// direct does, with its right checksum and with wrong ones.
func TestImageIsComparedBeforeItCounts(t *testing.T) {
	content := bytes.Repeat([]byte("image"), 1<<10)
	sum := sha256.Sum256(content)
	right, wrong := hex.EncodeToString(sum[:]), hex.EncodeToString(make([]byte, sha256.Size))
	lists := map[string]string{
		"/alone": right + "\n", "/gnu": wrong + "  other.raw\n" + right + "  os.raw\n", "/binary": right + " *os.raw\n",
		"/bsd": "SHA256 (other.raw) = " + wrong + "\nSHA256 (os.raw) = " + right + "\n", "/others": right + "  other.raw\n" + right + "  more.raw\n",
	}
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if list, is := lists[r.URL.Path]; is {
			_, _ = w.Write([]byte(list))
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(files.Close)
	at := func(path string) map[string]any {
		return map[string]any{"os_hash_algo": "sha256", "os_hash_value": files.URL + path}
	}
	for _, c := range []struct {
		name string
		info map[string]any
		want string // in the error; empty: it is written
	}{
		{"hash and algorithm", map[string]any{"os_hash_algo": "sha256", "os_hash_value": right}, ""},
		{"checksum of known length", map[string]any{"checksum": right}, ""},
		{"another hash", map[string]any{"os_hash_algo": "sha256", "os_hash_value": wrong}, "checksum verification: expected " + wrong},
		{"another checksum", map[string]any{"checksum": wrong}, "checksum verification"},
		{"unknown algorithm", map[string]any{"os_hash_algo": "crc", "os_hash_value": right}, `"crc" is not known`},
		{"a file with the hash alone", at("/alone"), ""},
		{"a list of sha256sum", at("/gnu"), ""},
		{"the same of binary files", at("/binary"), ""},
		{"a list in the form of BSD", at("/bsd"), ""},
		{"a list without the image", at("/others"), "does not contain name os.raw"},
		{"no id", map[string]any{"id": ""}, "missing 'id'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			info := map[string]any{"id": "os.raw", "urls": []string{files.URL + "/os.raw"}, "disk_format": "raw"}
			maps.Copy(info, c.info)
			raw, err := json.Marshal(info)
			g.Expect(err).NotTo(HaveOccurred())
			written := 0
			w := imageWriter{&agent{Options: Options{WriteImage: func(ctx context.Context, i Image) (string, error) {
				_, err := i.Fetch(ctx, files.Client())
				if err == nil {
					written++
				}
				return "/dev/sda", err
			}}}}
			_, err = w.Run(t.Context(), Call{Kind: Deploy, Step: "write_image", Args: map[string]json.RawMessage{"image_info": raw}})
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(written).To(Equal(1))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			g.Expect(written).To(BeZero())
		})
	}
	_, err := imageWriter{&agent{}}.Run(t.Context(), Call{Kind: Clean, Step: "write_image"})
	NewWithT(t).Expect(err).To(MatchError(errors.ErrUnsupported), "it is a deploy step only")
}
