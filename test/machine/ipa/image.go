package ipa

import (
	"context"
	"crypto/md5"  //nolint:gosec // a checksum that users of Ironic may give, not a signature
	"crypto/sha1" //nolint:gosec // the same
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"path"
	"strings"
)

// stepWriteImage is the deploy step that writes an image.
const stepWriteImage = "write_image"

// Image is what a deployment with deploy interface direct has the agent write.
type Image struct {
	// ID and URLs name the image; the first URL that works is used.
	ID   string   `json:"id"`
	URLs []string `json:"urls"`
	// Format is Ironic's disk_format, such as raw or qcow2.
	Format string `json:"disk_format"`
	// Checksum is of any kind, told apart by its length; HashAlgo and HashValue,
	// where given, win.
	Checksum  string `json:"checksum"`
	HashAlgo  string `json:"os_hash_algo"`
	HashValue string `json:"os_hash_value"`
	// ConfigDrive is the address of the config drive, or its base64 form.
	ConfigDrive string `json:"-"`
}

// checkImage refuses what the real agent refuses before it starts.
func checkImage(p Params) error {
	image, err := imageOf(p)
	switch {
	case err != nil:
		return err
	case image.ID == "":
		return errInvalidParams("Image is missing 'id' field.")
	case len(image.URLs) == 0:
		return errInvalidParams("Image is missing 'urls' field.")
	}
	return nil
}

func imageOf(p Params) (Image, error) {
	var image Image
	if err := p.get("image_info", &image); err != nil {
		return Image{}, err
	}
	return image, p.get("configdrive", &image.ConfigDrive)
}

// prepareImage writes the image, on a machine that has something to write to.
func prepareImage(ctx context.Context, a *agent, p Params) (any, error) {
	if a.WriteImage == nil {
		return nil, ErrUnsupported("standby.prepare_image")
	}
	image, err := imageOf(p)
	if err != nil {
		return nil, err
	}
	device, err := a.WriteImage(ctx, image)
	if err != nil {
		return nil, ErrDeployment(fmt.Sprintf("Image %s could not be written: %s", image.ID, err))
	}
	return fmt.Sprintf("image (%s) written to device %s", image.ID, device), nil
}

// imageWriter is the part of the real agent's generic hardware manager that
// writes images: Ironic has its deploy interface direct run it as a step.
type imageWriter struct{ agent *agent }

// Name and Version tell it apart from a test's own managers.
func (imageWriter) Name() string    { return "ImageWriter" }
func (imageWriter) Version() string { return "1" }

// Steps implements [Manager]: Ironic calls the step by its name, its priority
// does not count.
func (imageWriter) Steps(_ context.Context, kind Kind) ([]Step, error) {
	if kind != Deploy {
		return nil, nil
	}
	return []Step{{Name: stepWriteImage, Interface: "deploy"}}, nil
}

// Run implements [Manager].
func (w imageWriter) Run(ctx context.Context, call Call) (any, error) {
	if call.Kind != Deploy || call.Step != stepWriteImage {
		return nil, errors.ErrUnsupported
	}
	p := Params(call.Args)
	if err := checkImage(p); err != nil {
		return nil, err
	}
	return prepareImage(ctx, w.agent, p)
}

// installBootloader has nothing to do on a machine whose disk is not booted.
func installBootloader(_ context.Context, a *agent, _ Params) (any, error) {
	if a.WriteImage == nil {
		return nil, ErrUnsupported("image.install_bootloader")
	}
	return nil, nil
}

// hashes are the checksums by their name at Ironic.
var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// hashOf is the wanted checksum with its kind; nil for none.
func (i Image) hashOf() (sum hash.Hash, want string, err error) {
	if i.HashAlgo != "" {
		if hashes[i.HashAlgo] == nil {
			return nil, "", fmt.Errorf("the checksum type %q is not known", i.HashAlgo)
		}
		return hashes[i.HashAlgo](), i.HashValue, nil
	}
	for _, kind := range []string{"md5", "sha1", "sha256", "sha512"} {
		if sum := hashes[kind](); hex.EncodedLen(sum.Size()) == len(i.Checksum) {
			return sum, i.Checksum, nil
		}
	}
	if i.Checksum != "" {
		return nil, "", fmt.Errorf("the checksum %q is of no known kind", i.Checksum)
	}
	return nil, "", nil
}

// Fetch reads the image as the real agent does, compares its checksum and
// returns its size in bytes.
func (i Image) Fetch(ctx context.Context, client *http.Client) (int64, error) {
	if err := i.resolve(ctx, client); err != nil {
		return 0, err
	}
	sum, want, err := i.hashOf()
	if err != nil {
		return 0, err
	}
	body, err := get(ctx, client, i.URLs[0])
	if err != nil {
		return 0, err
	}
	defer body.Close()
	writer := io.Discard
	if sum != nil {
		writer = sum
	}
	size, err := io.Copy(writer, body)
	if err != nil || sum == nil {
		return size, err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(have, want) {
		return 0, fmt.Errorf("it failed checksum verification: expected %s, got %s", want, have)
	}
	return size, nil
}

// get reads an address.
func get(ctx context.Context, client *http.Client, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close() // nobody reads it
		return nil, fmt.Errorf("the image server answers %s", answer.Status)
	}
	return answer.Body, nil
}

// resolve reads checksums that are given by the address of a file with them, as the real agent does.
func (i *Image) resolve(ctx context.Context, client *http.Client) error {
	for _, sum := range []*string{&i.Checksum, &i.HashValue} {
		if !strings.HasPrefix(*sum, "http://") && !strings.HasPrefix(*sum, "https://") {
			continue
		}
		list, err := whole(ctx, client, *sum)
		if err != nil {
			return err
		}
		if *sum, err = checksumOf(list, path.Base(i.URLs[0])); err != nil {
			return err
		}
	}
	return nil
}

// whole reads all that is at an address.
func whole(ctx context.Context, client *http.Client, address string) (string, error) {
	body, err := get(ctx, client, address)
	if err != nil {
		return "", err
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	return string(raw), err
}

// checksumOf finds the checksum of a file in a list of them: one alone, in the form of sha256sum, or in that of BSD.
func checksumOf(list, file string) (string, error) {
	lines := strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case len(words) == 1 && len(lines) == 1:
			return words[0], nil
		case len(words) == 2 && strings.TrimPrefix(words[1], "*") == file:
			return words[0], nil
		case len(words) == 4 && words[1] == "("+file+")" && words[2] == "=":
			return words[3], nil
		}
	}
	return "", fmt.Errorf("the checksum file does not contain name %s", file)
}
