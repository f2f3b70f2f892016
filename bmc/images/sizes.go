package images

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// patience bounds each question, atOnce how many a server, or all servers of [Sizes],
	// are asked at a time.
	patience = 5 * time.Second
	atOnce   = 4
	// mostImages bounds how many are asked for.
	mostImages = 256
)

// Sizes are the sizes of images in bytes, by address, as far as their servers say them
// to c. Other schemes than http and https are not asked for. What goes wrong is not told:
// an address may hold credentials, and the BMC that fetches the image may be luckier.
func Sizes(ctx context.Context, c *http.Client, addresses []string) map[string]int64 {
	var mu sync.Mutex
	sizes := map[string]int64{}
	var asking sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, address := range addresses[:min(len(addresses), mostImages)] {
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			size := sizeOf(ctx, c, address)
			mu.Lock()
			defer mu.Unlock()
			if size > 0 {
				sizes[address] = size
			}
		})
	}
	asking.Wait()
	return sizes
}

// sizeOf is the size of one image; 0 is not known.
func sizeOf(ctx context.Context, c *http.Client, address string) int64 {
	if serverOf(address) == "" {
		return 0
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	status, size := ask(ctx, c, http.MethodHead, address)
	if headRefused(status) {
		_, size = ask(ctx, c, http.MethodGet, address)
	}
	return max(0, size)
}

// headRefused reports a server that may answer GET all the same: signed addresses are
// often good for one method only.
func headRefused(status int) bool {
	return status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented || status == http.StatusForbidden
}

// ask asks once, and fetches nothing: a GET is for the first byte, and not even that is
// read. The status is 0 when there was no answer.
func ask(ctx context.Context, c *http.Client, method, address string) (status int, size int64) {
	request, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return 0, 0
	}
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "ironflow")
	if method == http.MethodGet {
		request.Header.Set("Range", "bytes=0-0")
	}
	response, err := c.Do(request)
	if err != nil {
		return 0, 0
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Encoding") == "" {
		size = sizeIn(response)
	}
	return response.StatusCode, size
}

// sizeIn is the size of the whole in an answer; 0 or less is not known.
func sizeIn(response *http.Response) int64 {
	switch response.StatusCode {
	case http.StatusOK:
		return response.ContentLength
	case http.StatusPartialContent: // RFC 9110, 14.4: "bytes 0-0/1234"
		_, whole, _ := strings.Cut(response.Header.Get("Content-Range"), "/")
		size, err := strconv.ParseInt(whole, 10, 64)
		if err != nil { // * among others
			return 0
		}
		return size
	default:
		return 0
	}
}

// serverOf is the web server with an image, as host and port; empty for another address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Host)
}
