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
	// mostKept bounds the images that are known or asked for.
	mostKept = 4096
)

// Book holds the sizes of images, so that a fleet with one image asks its server once.
// Its methods may be called by many at once.
type Book struct {
	client *http.Client
	now    func() time.Time
	queue  chan string // addresses of open pages

	mu    sync.Mutex
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
	return &Book{client: c, now: now, queue: make(chan string, mostKept), pages: map[string]*page{}}
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
	known, now := Known{Sizes: map[string]int64{}}, b.now()
	for _, address := range addresses {
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
	if !askable(address) || !b.room(address, now) {
		return nil
	}
	select {
	case b.queue <- address:
		b.pages[address] = &page{open: true, until: now.Add(Turn), waiting: map[string]func(){}}
		return b.pages[address]
	default:
		return nil
	}
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
	for range atOnce {
		asking.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case address := <-b.queue:
					b.ask(ctx, address)
				}
			}
		})
	}
	asking.Wait()
	return nil
}

// ask closes the page of an image. One whose turn came too late is not asked for any more.
func (b *Book) ask(ctx context.Context, address string) {
	size := int64(0)
	if b.inTime(address) {
		size = sizeOf(ctx, b.client, address)
	}
	for _, told := range b.close(address, size) {
		told()
	}
}

func (b *Book) inTime(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now().Before(b.pages[address].until)
}

// close writes what was learned, and returns whom to tell.
func (b *Book) close(address string, size int64) map[string]func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[address]
	waiting, keep := p.waiting, Again
	if size > 0 {
		keep = Keep
	}
	*p = page{size: size, until: b.now().Add(keep)}
	return waiting
}
