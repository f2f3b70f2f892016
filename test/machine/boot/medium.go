// Package boot reads a bootable medium from a URL the way a BMC does with
// virtual media: HEAD first, then ranges of 64 KiB, several at a time, some of
// them twice, with every answer held against the first.
//
// It is strict where real BMCs only break in odd ways: a length, a validator or
// bytes that change between two answers are errors that name the range. What is
// read lies in a sparse file, which the simulated machine then boots.
package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// BlockSize is the length of a BMC's reads, in bytes.
	BlockSize = 64 << 10
	// parallel is how many reads a BMC has under way.
	parallel = 4
	// twiceEvery is which blocks are read again at once: each so many.
	twiceEvery = 8
)

// errTruncated is what a machine with the fault sees in the place of the rest.
var errTruncated = errors.New("the BMC reports the end of the medium")

// Reader reads media. The zero value with a Client is ready to use.
type Reader struct {
	// Client makes the requests; it has to trust the image server.
	Client *http.Client
	// MiBps limits the speed, in MiB per second; zero means no limit.
	MiBps float64
	// TruncateAt makes every byte from here on unreadable, in parts of the whole
	// (0.6 is the last 40 %); zero means all can be read.
	TruncateAt float64
	// Progress is told how many bytes of how many are there; nil: nobody listens.
	Progress func(read, size int64)
}

// Medium is a medium that was read completely. Close removes nothing: the file
// belongs to the caller.
type Medium struct {
	*os.File
	// Size is the length in bytes.
	Size int64
	// ETag is the image server's validator.
	ETag string
}

// Read reads the medium behind the address into the file.
func (r *Reader) Read(ctx context.Context, address string, file *os.File) (Medium, error) {
	m, err := r.read(ctx, address, file)
	if err != nil {
		return Medium{}, fmt.Errorf("medium at %s: %w", Place(address), err)
	}
	return m, nil
}

// Place is the address without its path: that of an image is as good as a
// password.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is no URL"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

func (r *Reader) read(ctx context.Context, address string, file *os.File) (Medium, error) {
	m, err := r.head(ctx, address)
	if err != nil {
		return m, err
	}
	m.File = file
	if err := file.Truncate(m.Size); err != nil {
		return m, err
	}
	job := &job{Reader: r, medium: m, address: address, begin: time.Now()}
	return m, job.run(ctx)
}

// head learns the medium's length and validator.
func (r *Reader) head(ctx context.Context, address string) (Medium, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return Medium{}, errors.New("not a URL that can be requested")
	}
	answer, err := r.Client.Do(req)
	if err != nil {
		return Medium{}, withoutURL(err)
	}
	_ = answer.Body.Close() // a HEAD has none
	m := Medium{Size: answer.ContentLength, ETag: answer.Header.Get("ETag")}
	switch {
	case answer.StatusCode != http.StatusOK:
		return m, fmt.Errorf("HEAD was answered with %s", answer.Status)
	case m.Size <= 0:
		return m, fmt.Errorf("HEAD gives no Content-Length")
	case answer.Header.Get("Accept-Ranges") != "bytes":
		return m, fmt.Errorf("HEAD does not offer ranges (Accept-Ranges: bytes)")
	case m.ETag == "":
		return m, fmt.Errorf("HEAD gives no ETag: a change of the medium would go unnoticed")
	}
	return m, nil
}

// withoutURL takes the address out of an HTTP client's error.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// job is one reading of a medium.
type job struct {
	*Reader
	medium  Medium
	address string
	begin   time.Time
	done    atomic.Int64
}

// run reads all blocks with a few workers; the first error ends it.
func (j *job) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	offsets := make(chan int64)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for offset := range offsets {
				if err := j.block(ctx, offset); err != nil {
					cancel(err)
				}
			}
		})
	}
feeding:
	for offset := int64(0); offset < j.medium.Size; offset += BlockSize {
		select {
		case offsets <- offset:
		case <-ctx.Done():
			break feeding
		}
	}
	close(offsets)
	wg.Wait()
	return context.Cause(ctx)
}

// block reads the block at the offset, some blocks twice, and stores it. Blocks
// of zeros stay holes.
func (j *job) block(ctx context.Context, offset int64) error {
	length := min(BlockSize, j.medium.Size-offset)
	if j.TruncateAt > 0 && float64(offset+length) > j.TruncateAt*float64(j.medium.Size) {
		return fmt.Errorf("%w at byte %d of %d", errTruncated, offset, j.medium.Size)
	}
	data, err := j.fetch(ctx, offset, length)
	if err == nil && (offset/BlockSize)%twiceEvery == 1 {
		var again []byte
		again, err = j.fetch(ctx, offset, length)
		if err == nil && !bytes.Equal(data, again) {
			err = errors.New("two reads gave different bytes")
		}
	}
	if err != nil {
		return fmt.Errorf("bytes %d-%d: %w", offset, offset+length-1, err)
	}
	if len(bytes.Trim(data, "\x00")) > 0 {
		if _, err := j.medium.WriteAt(data, offset); err != nil {
			return err
		}
	}
	total := j.done.Add(length)
	if j.Progress != nil {
		j.Progress(total, j.medium.Size)
	}
	return j.pace(ctx, total)
}

// fetch makes one range request and checks its answer against the HEAD's.
func (j *job) fetch(ctx context.Context, offset, length int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, j.address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	answer, err := j.Client.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer answer.Body.Close()
	want := fmt.Sprintf("bytes %d-%d/%d", offset, offset+length-1, j.medium.Size)
	switch {
	case answer.StatusCode != http.StatusPartialContent:
		return nil, fmt.Errorf("want status 206, got %s", answer.Status)
	case answer.Header.Get("Content-Range") != want:
		return nil, fmt.Errorf("want Content-Range %q, got %q", want, answer.Header.Get("Content-Range"))
	case answer.Header.Get("ETag") != j.medium.ETag:
		return nil, fmt.Errorf("the ETag changed from %s to %s while reading", j.medium.ETag, answer.Header.Get("ETag"))
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(answer.Body, data); err != nil {
		return nil, fmt.Errorf("the body is too short: %w", err)
	}
	if n, _ := answer.Body.Read(make([]byte, 1)); n > 0 {
		return nil, errors.New("the body is too long")
	}
	return data, nil
}

// pace waits until so many bytes may have been read.
func (j *job) pace(ctx context.Context, total int64) error {
	if j.MiBps <= 0 {
		return nil
	}
	wait := time.Until(j.begin.Add(time.Duration(float64(total) / (j.MiBps * (1 << 20)) * float64(time.Second))))
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
