package images

import (
	"context"
	"net/http"
	"net/url"
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
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, http.NoBody)
	if err != nil {
		return 0
	}
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "ironflow")
	response, err := c.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "" {
		return 0
	}
	return max(0, response.ContentLength)
}

// serverOf is the web server with an image, as host and port; empty for another address.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Host)
}
