package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
)

const (
	// maxFile bounds one file; initrds have about 100 MiB.
	maxFile = 4 << 30
	// silence is how long a download may bring nothing.
	silence = 2 * time.Minute
)

// download is the way of one file to /boot. It is written to a file of another
// name as it comes; a try that breaks off is gone on with where the server says
// that the file is still the same.
type download struct {
	client    *http.Client
	boot      *os.Root
	name, url string
	// room makes sure that so many bytes fit.
	room func(ctx context.Context, size int64) error
	log  *slog.Logger

	// got is how much is on the disk, and same what the server calls that file.
	got  int64
	same string
}

// finalError wraps what another try would not change.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// try downloads the file, several times if need be.
func (d *download) try(ctx context.Context) error {
	part := d.name + ".part"
	f, err := d.boot.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		err = d.once(ctx, f)
		_, final := errors.AsType[finalError](err)
		if err == nil || final || i == tries || ctx.Err() != nil {
			break
		}
		d.log.Warn("a download broke off", "file", d.name, "try", i, "bytes", d.got, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return errors.Join(err, d.boot.Remove(part))
	}
	return rename(d.boot, part, d.name)
}

// once is one try.
func (d *download) once(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing came for %s", silence)) })
	defer watchdog.Stop()
	response, err := d.ask(ctx)
	if err != nil {
		return told(ctx, err)
	}
	defer response.Body.Close()
	total, err := d.begin(response, f)
	if err != nil {
		return err
	}
	if err := d.room(ctx, max(0, total-d.got)); err != nil {
		return finalError{err}
	}
	limit := int64(maxFile)
	if total >= 0 {
		limit = total
	}
	n, err := io.Copy(f, &watched{io.LimitReader(response.Body, limit-d.got+1), watchdog})
	d.got += n
	switch {
	case err != nil:
		return told(ctx, err)
	case d.got > limit:
		d.same = "" // more than was announced: nothing of it is believed
		return fmt.Errorf("the file is larger than %d bytes", limit)
	case total >= 0 && d.got != total:
		return fmt.Errorf("%d of %d bytes came", d.got, total)
	case d.got == 0:
		return errors.New("the file is empty")
	}
	return nil
}

// ask requests the file, or what is missing of it.
func (d *download) ask(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	// Sizes are those of the file, not of a packed form of it.
	request.Header.Set("Accept-Encoding", "identity")
	if d.got > 0 && d.same != "" {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.got))
		request.Header.Set("If-Range", d.same)
	}
	response, err := d.client.Do(request)
	if e, ok := errors.AsType[*url.Error](err); ok { // its text has the URL, which may hold a token
		return nil, e.Err
	}
	return response, err
}

// begin reads the head of an answer, and brings the file to where the body goes
// on. It returns the size of the whole file, or -1 where the server does not say.
func (d *download) begin(response *http.Response, f *os.File) (int64, error) {
	switch response.StatusCode {
	case http.StatusPartialContent:
		first, total, ok := contentRange(response.Header.Get("Content-Range"))
		if !ok || first != d.got || total < d.got {
			d.same = ""
			return 0, errors.New("the server goes on at another place")
		}
		return total, nil
	case http.StatusOK:
		d.got, d.same = 0, validator(response)
		if response.ContentLength > maxFile {
			return 0, finalError{fmt.Errorf("the file is larger than %d bytes", int64(maxFile))}
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, finalError{err}
		}
		if err := f.Truncate(0); err != nil {
			return 0, finalError{err}
		}
		return response.ContentLength, nil
	default:
		d.same = ""
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // what was read before an error is quoted too
		return 0, fmt.Errorf("answered %d %s: %s", response.StatusCode, http.StatusText(response.StatusCode), probe.Quote(body))
	}
}

// validator is what If-Range takes: a strong entity tag, or a date, RFC 9110, section 13.1.5.
func validator(r *http.Response) string {
	if tag := r.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return r.Header.Get("Last-Modified")
}

// contentRange reads "bytes FIRST-LAST/TOTAL".
func contentRange(text string) (first, total int64, ok bool) {
	place, size, ok1 := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	from, _, ok2 := strings.Cut(place, "-")
	first, err1 := strconv.ParseInt(from, 10, 64)
	total, err2 := strconv.ParseInt(size, 10, 64)
	return first, total, ok1 && ok2 && err1 == nil && err2 == nil && first >= 0 && total > first && total <= maxFile
}

// told is the cause of a try's end where it was ended.
func told(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// watched feeds the watchdog with what is read.
type watched struct {
	io.Reader
	watchdog *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.watchdog.Reset(silence)
	}
	return n, err
}
