package client

// shared is what all who reach one BMC have in common, whatever their user.
type shared struct {
	breaker breaker
	// room bounds the requests that are under way.
	room chan struct{}
}

// mostAtOnce is how many requests the hosts of one BMC may have under way together, each of
// them no more than its own options say: a BMC with many systems is as weak as one with one.
const mostAtOnce = 4

func newShared(options Options) *shared {
	return &shared{room: make(chan struct{}, max(mostAtOnce, options.Concurrency))}
}
