package media

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Remote is a medium to download.
type Remote struct {
	// URL is where the ISO is.
	URL string `json:"url"`
	// SHA256 is its digest in hexadecimal; required, because nothing else tells a
	// whole file from a cut or a wrong one.
	SHA256 string `json:"sha256"`
	// File is the name in the directory; default the last element of URL.
	File string `json:"file,omitempty"`
	// Architecture and Version, unless empty, replace what the medium says.
	Architecture string `json:"architecture,omitempty"`
	Version      string `json:"version,omitempty"`
	// OpenShiftVersion is the release that the medium belongs to. Clients of the
	// hub ask by it.
	OpenShiftVersion string `json:"openshiftVersion,omitempty"`
	// Nmstatectl tells whether the live system has nmstatectl; nil for what is known
	// of media with this label.
	Nmstatectl *bool `json:"nmstatectl,omitempty"`
}

// Downloader brings media into a directory.
type Downloader struct {
	// Dir is where the media go, usually the directory of a [Registry].
	Dir string
	// CA holds PEM certificates for the servers, beside the system's.
	CA []byte
	// Header is sent with every request, e.g. for authorization.
	Header http.Header
	// Attempts is how often a download is tried (default 5), Wait the first pause
	// between attempts (default 2 s), which doubles each time.
	Attempts int
	Wait     time.Duration
	// Idle is how long a server may send nothing (default 60 s).
	Idle time.Duration
	// Known, unless nil, tells whether the file is known to have that digest, so
	// that it need not be read again.
	Known func(path, sha256 string) bool
	// Progress, unless nil, is told how many bytes of a file there are; total is
	// -1 when the server does not say.
	Progress func(file string, have, total int64)
}

// errPermanent marks answers that another attempt would not change.
var errPermanent = errors.New("not worth another attempt")

// errBusy means that another process downloads the same file, such as another replica
// with the same folder.
var errBusy = errors.New("another process downloads this file into the same folder")

// Fetch makes sure that the medium is in the directory and has the right digest.
// An interrupted download goes on where it stopped. The file appears under its
// name only when it is whole. fetched tells that it was downloaded, and not there
// already.
func (d *Downloader) Fetch(ctx context.Context, r Remote) (path string, fetched bool, err error) {
	file, err := r.FileName()
	if err != nil {
		return "", false, err
	}
	target := filepath.Join(d.Dir, file)
	if d.known(target, r.SHA256) || sumFile(ctx, target, r.SHA256) == nil {
		return target, false, nil
	}
	if err := d.download(ctx, r, file, target); err != nil {
		return "", false, err
	}
	return target, true, nil
}

// download tries as often as it may.
func (d *Downloader) download(ctx context.Context, r Remote, file, target string) error {
	client, err := d.client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	part := target + ".part"
	attempts, wait := max(d.Attempts, 0), d.Wait
	if attempts == 0 {
		attempts = 5
	}
	if wait == 0 {
		wait = 2 * time.Second
	}
	for n := 1; ; n++ {
		if err = d.attempt(ctx, client, r, file, part, target); err == nil {
			return nil
		}
		if errors.Is(err, errBusy) && sumFile(ctx, target, r.SHA256) == nil {
			return nil // it has ended meanwhile
		}
		if n == attempts || errors.Is(err, errPermanent) || ctx.Err() != nil {
			return fmt.Errorf("download %s: %w", redacted(r.URL), err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
			wait *= 2
		}
	}
}

func (d *Downloader) known(path, sha256 string) bool { return d.Known != nil && d.Known(path, sha256) }

// FileName is the name in the directory; an error says what the entry lacks.
func (r Remote) FileName() (string, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("base image %q is not a URL", redacted(r.URL))
	}
	if len(r.SHA256) != 64 {
		return "", fmt.Errorf("base image %s: its SHA-256 (64 hexadecimal digits) is needed", redacted(r.URL))
	}
	name := r.File
	if name == "" {
		name = path.Base(u.Path)
	}
	if name != filepath.Base(name) || !strings.HasSuffix(name, ".iso") {
		return "", fmt.Errorf("base image %s: the file name %q must end in .iso", redacted(r.URL), name)
	}
	return name, nil
}

// redacted is a URL without password and query, which may hold secrets.
func redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(unreadable URL)"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// attempt goes on with the part that is there, checks the whole, and gives it its name.
func (d *Downloader) attempt(ctx context.Context, client *http.Client, r Remote, file, part, target string) (err error) {
	f, err := openPart(part)
	if errors.Is(err, errBusy) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errPermanent, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }() // which ends the lock
	if err := d.resume(ctx, client, r, file, f); err != nil {
		return err
	}
	if err := sumFile(ctx, part, r.SHA256); err != nil {
		// A part with wrong bytes can never become right.
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, target)
}

// openPart opens the file of a download that is under way, for this process alone: two that
// write it would spoil it, or what has become of it.
func openPart(part string) (*os.File, error) {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(errBusy, f.Close())
	}
	if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOLCK) && !errors.Is(err, unix.ENOSYS) { // there are file systems without locks
		return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
	}
	// Whoever had it may have given it its name just now.
	ours, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Stat(part); err != nil || !os.SameFile(ours, there) {
		return nil, errors.Join(errBusy, f.Close())
	}
	return f, nil
}

// resume asks for what is missing and appends it.
func (d *Downloader) resume(ctx context.Context, client *http.Client, r Remote, file string, f *os.File) error {
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, http.NoBody)
	if err != nil {
		return fmt.Errorf("%w: %w", errPermanent, err)
	}
	maps.Copy(req.Header, d.Header)
	if have > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(have, 10)+"-")
	}
	resp, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // without the address, whose query may hold a secret
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil // there is nothing more; the digest decides
	case resp.StatusCode == http.StatusOK:
		// The server does not resume, or there was nothing to resume.
		if have, err = 0, f.Truncate(0); err != nil {
			return err
		}
	case resp.StatusCode == http.StatusPartialContent:
	case resp.StatusCode >= 400 && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusRequestTimeout:
		return fmt.Errorf("%w: the server answered %s", errPermanent, resp.Status)
	default:
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return d.receive(resp, cancel, file, f, have)
}

func (d *Downloader) receive(resp *http.Response, cancel context.CancelCauseFunc, file string, f *os.File, have int64) error {
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}
	idle := d.Idle
	if idle == 0 {
		idle = time.Minute
	}
	watchdog := time.AfterFunc(idle, func() { cancel(fmt.Errorf("the server sent nothing for %s", idle)) })
	defer watchdog.Stop()
	buf := make([]byte, 1<<20)
	for {
		n, err := resp.Body.Read(buf)
		watchdog.Reset(idle)
		if n > 0 {
			if _, err := f.WriteAt(buf[:n], have); err != nil {
				return fmt.Errorf("%w: %w", errPermanent, err)
			}
			have += int64(n)
			if d.Progress != nil {
				d.Progress(file, have, total)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", have, err)
		}
	}
}

// sumFile compares a file's digest.
func sumFile(ctx context.Context, path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, fs.ErrInvalid)
	}
	sum, err := digest(ctx, f, info.Size())
	if err != nil {
		return err
	}
	if !strings.EqualFold(sum, want) {
		return fmt.Errorf("SHA-256 of the %d bytes is %s, want %s", info.Size(), sum, want)
	}
	return nil
}

func (d *Downloader) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if len(d.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(d.CA) {
			return nil, errors.New("the CA for base images holds no PEM certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}, nil
}
