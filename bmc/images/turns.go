package images

// turns are the addresses that are to be asked for, by their servers. Each server has its
// turn after the others, and is asked by [atOnce] at most: one that is slow or silent,
// and has many images, keeps nobody waiting who asks others.
type turns struct {
	lines map[string]*line // by server
	// ready has servers to be asked, each at most as often as addresses wait there.
	ready chan string
}

// line is what is to be asked of one server.
type line struct {
	waiting []string
	// ready is how often the server is among those that are ready, asked how often it is
	// being asked.
	ready, asked int
}

// newTurns makes turns for at most so many addresses.
func newTurns(most int) turns {
	return turns{lines: map[string]*line{}, ready: make(chan string, most)}
}

// add puts an address at the end of its server's line.
func (t *turns) add(server, address string) {
	l := t.lines[server]
	if l == nil {
		l = &line{}
		t.lines[server] = l
	}
	l.waiting = append(l.waiting, address)
	t.call(server, l)
}

// take is the next address of a server that was ready.
func (t *turns) take(server string) string {
	l := t.lines[server]
	address := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.ready--
	l.asked++
	return address
}

// done says that a server has been asked for what was taken.
func (t *turns) done(server string) {
	l := t.lines[server]
	l.asked--
	t.call(server, l)
}

// call makes a server ready once more, if it may be asked for what waits there.
func (t *turns) call(server string, l *line) {
	switch {
	case l.ready < len(l.waiting) && l.ready+l.asked < atOnce:
		l.ready++
		t.ready <- server // which has room: as often as addresses wait
	case l.ready+l.asked == 0:
		delete(t.lines, server)
	}
}
