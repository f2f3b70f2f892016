// Package images makes the images of a Kubernetes node from programs that were built
// here, as no registry of Kubernetes can be reached from the lab, and pushes them to a
// registry of the lab.
//
// All programs of test/k8snode lie in one layer. A registry keeps it once, and a node
// fetches and unpacks it once, where seven images would take a gigabyte. Layers are not
// compressed: an emulated processor checks them faster than it unpacks them.
package images

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is one of a layer or an archive.
type File struct {
	// Path is without a slash at its begin; with one at its end it is a folder.
	Path string
	// From is the file on this computer, Text the content, Link the target of a
	// symbolic link: one of them is set, and none for a folder.
	From, Text, Link string
	// Mode is 0755 if zero.
	Mode int64
}

// Write writes files as a tar archive, with the folders that they lie in. The same files
// are the same bytes: there are no times in it.
func Write(out io.Writer, files []File) error {
	w := tar.NewWriter(out)
	seen := map[string]bool{}
	for _, f := range files {
		if err := folders(w, f.Path, seen); err != nil {
			return err
		}
		if err := write(w, f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return w.Close()
}

// folders writes those of a path that were not written yet.
func folders(w *tar.Writer, file string, seen map[string]bool) error {
	dir := path.Dir(strings.TrimSuffix(file, "/"))
	if dir == "." || seen[dir] {
		return nil
	}
	if err := folders(w, dir, seen); err != nil {
		return err
	}
	seen[dir] = true
	return write(w, File{Path: dir + "/"})
}

func write(w *tar.Writer, f File) error {
	h := &tar.Header{Name: f.Path, Typeflag: tar.TypeReg, Mode: cmp.Or(f.Mode, 0o755), Format: tar.FormatPAX}
	content := []byte(f.Text)
	switch {
	case strings.HasSuffix(f.Path, "/"):
		h.Typeflag = tar.TypeDir
	case f.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
	case f.From != "":
		var err error
		if content, err = os.ReadFile(f.From); err != nil {
			return err
		}
	}
	h.Size = int64(len(content))
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// Layer is one with the files.
func Layer(files []File) (v1.Layer, error) {
	var out bytes.Buffer
	if err := Write(&out, files); err != nil {
		return nil, fmt.Errorf("make a layer: %w", err)
	}
	return static.NewLayer(out.Bytes(), types.OCIUncompressedLayer), nil
}

// Image is one that kubeadm, or a test, asks for.
type Image struct {
	// Name is that of the repository, Tag the version.
	Name, Tag string
	// Entrypoint is the program's path.
	Entrypoint string
	// Path are the folders of programs, where the image is started with a name alone.
	Path string
	// Env are further variables, NAME=VALUE.
	Env []string
	// User is empty for root.
	User   string
	Layers []v1.Layer
}

// Make is the image in OCI's format.
func (i Image) Make() (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, i.Layers...)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Name, err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Name, err)
	}
	file = file.DeepCopy()
	file.Architecture, file.OS = "amd64", "linux"
	file.Config.Entrypoint, file.Config.User = []string{i.Entrypoint}, i.User
	if i.Path != "" {
		file.Config.Env = []string{"PATH=" + i.Path}
	}
	file.Config.Env = append(file.Config.Env, i.Env...)
	return mutate.ConfigFile(image, file)
}

// Push puts the images below prefix, HOST:PORT or HOST:PORT/FOLDER, of a registry that
// speaks HTTP: it is kubeadm's imageRepository.
func Push(ctx context.Context, prefix string, images []Image) error {
	for _, i := range images {
		reference, err := name.ParseReference(prefix+"/"+i.Name+":"+i.Tag, name.Insecure)
		if err != nil {
			return fmt.Errorf("name of image %s: %w", i.Name, err)
		}
		image, err := i.Make()
		if err != nil {
			return err
		}
		if err := remote.Write(reference, image, remote.WithContext(ctx)); err != nil {
			return fmt.Errorf("push %s: %w", reference, err)
		}
	}
	return nil
}
