package images

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// Turn bounds how long an image's turn and its server's answer take together: who
	// waits for a size waits no longer.
	Turn = 15 * time.Second
	// Keep is how long a size is held.
	Keep = 5 * time.Minute
	// Again is how long it is held that none is known.
	Again = time.Minute
	// mostKept bounds the images that are known or asked for, mostOfOne those of one look.
	mostKept, mostOfOne = 4096, 32
	// askers is how many images are asked for at a time, of all servers.
	askers = 32
)

// Book holds the sizes of images, so that a fleet with one image asks its server once.
// Its methods may be called by many at once.
type Book struct {
	client *http.Client
	now    func() time.Time

	mu    sync.Mutex
	turns turns            // addresses of open pages
	pages map[string]*page // by address
}

// page is what is known of an image.
type page struct {
	// size is in bytes; 0 is not known.
	size int64
	// open says that it is being asked for.
	open bool
	// until is when it is asked for again, or while it is open, how long anybody waits.
	until time.Time
	// waiting are told when it is not open any more, each once.
	waiting map[string]func()
}

// NewBook makes an empty book. Nothing is asked before [Book.Start].
func NewBook(c *http.Client, now func() time.Time) *Book {
	return &Book{client: c, now: now, turns: newTurns(mostKept), pages: map[string]*page{}}
}

// Known is what a book knows of some images.
type Known struct {
	// Sizes are those that are known, in bytes by address.
	Sizes map[string]int64
	// Open says that others are being asked for.
	Open bool
	// Missing says that others cannot be learned for now.
	Missing bool
}

// Look says what is known of images, and has their servers asked for what is not. It
// does not wait: while there is something open, told is called as soon as one of these
// images is known, or is known not to be; once for each who. After [Turn] nothing that
// is open now is open any more, told or not.
func (b *Book) Look(addresses []string, who string, told func()) Known {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, now := Known{Sizes: map[string]int64{}, Missing: len(addresses) > mostOfOne}, b.now()
	for _, address := range addresses[:min(len(addresses), mostOfOne)] {
		switch p := b.page(address, now); {
		case p != nil && p.open && now.Before(p.until):
			known.Open = true
			p.waiting[who] = told
		case p != nil && p.size > 0:
			known.Sizes[address] = p.size
		default:
			known.Missing = true
		}
	}
	return known
}

// page is that of an image; a new one where there is none or it is old. Nil is for an
// image that nobody can be asked for, or not now.
func (b *Book) page(address string, now time.Time) *page {
	p := b.pages[address]
	if p != nil && (p.open || now.Before(p.until)) {
		return p
	}
	server := serverOf(address)
	if server == "" || !b.room(address, now) {
		return nil
	}
	b.turns.add(server, address)
	b.pages[address] = &page{open: true, until: now.Add(Turn), waiting: map[string]func(){}}
	return b.pages[address]
}

// room reports whether there is a page left for the address, and makes room.
func (b *Book) room(address string, now time.Time) bool {
	if b.pages[address] != nil || len(b.pages) < mostKept {
		return true
	}
	for other, p := range b.pages {
		if !p.open && !now.Before(p.until) {
			delete(b.pages, other)
		}
	}
	return len(b.pages) < mostKept
}

// Start asks for the sizes of images until ctx ends.
func (b *Book) Start(ctx context.Context) error {
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case server := <-b.turns.ready:
					b.ask(ctx, server)
				}
			}
		})
	}
	asking.Wait()
	return nil
}

// ask closes the page of a server's next image. One whose turn came too late is not asked
// for any more.
func (b *Book) ask(ctx context.Context, server string) {
	address, inTime := b.take(server)
	size := int64(0)
	if inTime {
		size = sizeOf(ctx, b.client, address)
	}
	for _, told := range b.close(server, address, size) {
		told()
	}
}

func (b *Book) take(server string) (address string, inTime bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	address = b.turns.take(server)
	return address, b.now().Before(b.pages[address].until)
}

// close writes what was learned, and returns whom to tell.
func (b *Book) close(server, address string, size int64) map[string]func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns.done(server)
	p := b.pages[address]
	waiting, keep := p.waiting, Again
	if size > 0 {
		keep = Keep
	}
	*p = page{size: size, until: b.now().Add(keep)}
	return waiting
}
