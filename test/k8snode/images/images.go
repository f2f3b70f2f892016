// Package images makes the images of a control plane from the one program that
// test/k8snode is, as no registry of Kubernetes can be reached from the lab.
//
// All of them have the same single layer: the program, and a link to it for
// each name that it answers to. A registry keeps it once, and a node fetches and
// unpacks it once, where eight images would take a gigabyte. They differ in
// what they start.
package images

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	binaries = "usr/local/bin"
	program  = binaries + "/k8snode"
)

// Image is one that kubeadm, or a test, asks for.
type Image struct {
	// Name is that of the repository, and of the program that the image starts.
	Name string
	// Tag is the version that kubeadm asks for.
	Tag string
}

// Layer is the layer that all images share. A program given twice has the same
// digest: the layer has no times in it.
func Layer(file string, names []string) (v1.Layer, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the program of the images (build it in test/k8snode): %w", err)
	}
	var out bytes.Buffer
	if err := write(&out, content, names); err != nil {
		return nil, fmt.Errorf("write the layer of %s: %w", file, err)
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(out.Bytes())), nil
	})
}

// write writes the files of the layer.
func write(out io.Writer, content []byte, names []string) error {
	w := tar.NewWriter(out)
	headers := []*tar.Header{
		{Name: "usr/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "usr/local/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: binaries + "/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: program, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))},
	}
	for _, link := range names {
		headers = append(headers, &tar.Header{Name: binaries + "/" + link, Typeflag: tar.TypeSymlink, Linkname: path.Base(program), Mode: 0o777})
	}
	for _, h := range headers {
		h.Format = tar.FormatPAX
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	return w.Close()
}

// Make is the image that starts the program of its name.
func Make(i Image, layer v1.Layer) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Name, err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.Name, err)
	}
	file = file.DeepCopy()
	file.Architecture, file.OS = "amd64", "linux"
	// The static pods of kubeadm name their program without a folder.
	file.Config.Env = []string{"PATH=/" + binaries}
	file.Config.Entrypoint = []string{"/" + binaries + "/" + i.Name}
	return mutate.ConfigFile(image, file)
}

// Push puts the images below prefix, HOST:PORT or HOST:PORT/FOLDER, of a
// registry that speaks HTTP: it is kubeadm's imageRepository.
func Push(ctx context.Context, prefix string, images []Image, layer v1.Layer) error {
	for _, i := range images {
		reference, err := name.ParseReference(prefix+"/"+i.Name+":"+i.Tag, name.Insecure)
		if err != nil {
			return fmt.Errorf("name of image %s: %w", i.Name, err)
		}
		image, err := Make(i, layer)
		if err != nil {
			return err
		}
		if err := remote.Write(reference, image, remote.WithContext(ctx)); err != nil {
			return fmt.Errorf("push %s: %w", reference, err)
		}
	}
	return nil
}
