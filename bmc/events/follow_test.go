package events

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// streamer plays a BMC with a stream: each connection is played by a function.
type streamer struct {
	began    time.Time
	connects []time.Duration
	// play gives what the n-th connection sends, and its error.
	play func(n int) (io.ReadCloser, error)
	none bool
	// fails are what comes of the first questions, before there is an answer.
	fails []error
}

func (s *streamer) Get(_ context.Context, path string, into any) error {
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		return err
	}
	if service, is := into.(*service); is && !s.none {
		service.Stream = lenient.Link{Path: path + "/SSE"}
		return nil
	}
	if root, is := into.(*struct {
		EventService lenient.Link `json:"EventService"`
	}); is {
		root.EventService.Path = "/redfish/v1/EventService"
	}
	return nil
}

func (s *streamer) Stream(context.Context, string) (io.ReadCloser, error) {
	s.connects = append(s.connects, time.Since(s.began).Round(time.Second))
	return s.play(len(s.connects))
}

func text(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// open is a stream that stays open after its text, until it is closed.
func open(s string) io.ReadCloser {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, s) }()
	return r
}

var errRefused = &client.Error{Kind: client.Unreachable}

func record(event string) string { return "data: {\"Events\":[{" + event + "}]}\n\n" }

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		got := &sink{}
		s := &streamer{began: time.Now()}
		s.play = func(n int) (io.ReadCloser, error) {
			switch n {
			case 1:
				// Neither MemberId nor EventType; several data lines; a comment; CR LF.
				return text(": hello\r\nid: 1\r\nevent: x\r\ndata: {\"Events\":\r\ndata: [{" + fan + "}]}\r\n\r\n" + record(power) + "data: {\"Events\":[{" + power), nil
			case 3:
				return open(""), nil // never says anything
			default:
				return open(record(power) + "data: broken\n\n"), nil
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- Follow(ctx, s, "host-1", got) }()
		<-time.After(5 * time.Second)
		look, wake := Wake{Host: "host-1", Kind: meaning.Look}, Wake{Host: "host-1", Kind: meaning.Power}
		g.Expect(got.Wakes()).To(Equal([]Wake{look, {Host: "host-1", Kind: meaning.Health}, wake, look, wake, look}))
		g.Expect(got.Alerts()).To(HaveLen(1))
		g.Expect(got.Alerts()[0].Message).To(Equal("Fan 1 failed."))

		// A stream that says nothing for ten minutes is opened anew, and that is no failure.
		<-time.After(time.Hour)
		synctest.Wait()
		g.Expect(len(s.connects)).To(BeNumerically("~", 7, 1))
		cancel()
		g.Expect(<-done).To(Succeed())
	})
}

// TestFollowBacksOff: 1, 2, 4 and 8 s, then it is given up.
func TestFollowBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &streamer{began: time.Now(), play: func(int) (io.ReadCloser, error) { return nil, errRefused }}
		err := Follow(t.Context(), s, "host-1", &sink{})
		g.Expect(err).To(MatchError(ErrGivenUp))
		g.Expect(client.KindOf(err)).To(Equal(client.Unreachable), "and says why")
		g.Expect(s.connects).To(HaveLen(maxFailures))
		for i, earliest := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second} {
			g.Expect(s.connects[i]).To(BeNumerically("~", earliest, 4*time.Second))
			g.Expect(s.connects[i]).To(BeNumerically(">=", earliest))
		}
	})
}

// TestFollowABMCThatIsBusyAtFirst: where the stream is, is asked again as well.
func TestFollowABMCThatIsBusyAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		got := &sink{}
		s := &streamer{
			began: time.Now(), fails: []error{&client.Error{Kind: client.Busy}, errRefused}, play: func(int) (io.ReadCloser, error) { return open(record(power)), nil },
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		g.Expect(Follow(ctx, s, "host-1", got)).To(Succeed())
		g.Expect(got.Wakes()).To(ContainElement(Wake{Host: "host-1", Kind: meaning.Power}))
		g.Expect(s.connects).To(HaveLen(1))
		g.Expect(s.connects[0]).To(BeNumerically(">=", 3*time.Second))
	})
}

func TestFailures(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	// One failure in 100 s is never five in five minutes; the pause grows to its bound.
	var f failures
	for i := range 20 {
		wait, goOn := f.next(now.Add(time.Duration(i)*100*time.Second), false, false)
		g.Expect(goOn).To(BeTrue())
		g.Expect(wait).To(And(BeNumerically(">=", min(firstPause<<i, maxPause)), BeNumerically("<=", maxPause)))
	}
	// A good connection lets it begin anew.
	wait, goOn := f.next(now, false, true)
	g.Expect(goOn).To(BeTrue())
	g.Expect(wait).To(BeNumerically("<", 2*firstPause))
	g.Expect(f.at).To(BeEmpty())
}

// TestFollowOneEventEach: a BMC that ends its stream behind each event is listened to on,
// but not asked each second for ever.
func TestFollowOneEventEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &streamer{began: time.Now(), play: func(int) (io.ReadCloser, error) { return text(record(power)), nil }}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		g.Expect(Follow(ctx, s, "host-1", &sink{})).To(Succeed(), "it is not given up")
		g.Expect(len(s.connects)).To(And(BeNumerically(">", 100), BeNumerically("<", 130)), "one in 30 s in the end")
	})
}

// TestFollowShortStreams: streams that end at once without an event count as failures.
func TestFollowShortStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := &streamer{began: time.Now(), play: func(int) (io.ReadCloser, error) { return text(": hello\n\n"), nil }}
		g.Expect(Follow(t.Context(), s, "host-1", &sink{})).To(MatchError(ErrGivenUp))
		g.Expect(s.connects).To(HaveLen(maxFailures))
	})
}

// TestFollowEndsAtOnce: where another attempt would do nothing, or lock the account.
func TestFollowEndsAtOnce(t *testing.T) {
	for _, kind := range []client.Kind{client.NotSupported, client.Credentials, client.LockedOut, client.Licence} {
		t.Run(string(kind), func(t *testing.T) {
			g := NewWithT(t)
			s := &streamer{play: func(int) (io.ReadCloser, error) { return nil, &client.Error{Kind: kind} }}
			g.Expect(client.KindOf(Follow(t.Context(), s, "host-1", &sink{}))).To(Equal(kind))
			g.Expect(s.connects).To(HaveLen(1))
		})
	}
	g := NewWithT(t)
	g.Expect(Follow(t.Context(), &streamer{none: true}, "host-1", &sink{})).To(MatchError(ErrNoStream))
}

// endless is a stream without an end of line.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// TestRecordsAreBounded: lines and records of any length are read over; what follows
// is taken.
func TestRecordsAreBounded(t *testing.T) {
	g := NewWithT(t)
	heard := 0
	r := newRecords(io.MultiReader(
		strings.NewReader("data: "), &endless{64 << 20}, strings.NewReader("\n\n"),
		strings.NewReader(strings.Repeat("data: "+strings.Repeat("y", 100_000)+"\n", 50)+"\n"),
		strings.NewReader(record(power)),
	), func() { heard++ })
	for range 2 {
		_, err := r.next()
		g.Expect(err).To(MatchError(errTooLong))
	}
	data, err := r.next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(Equal(`{"Events":[{` + power + `}]}`))
	_, err = r.next()
	g.Expect(err).To(MatchError(io.EOF))
	g.Expect(heard).To(BeNumerically(">", 50))
}

// FuzzRecords: whatever comes, records stay within their bounds, hold no line ends
// that were not sent, and reading ends with the input.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "data:a\r\ndata: b\r\n\r\n", ": c\n\nid: 1\ndata\n\n", "data: a", "\n\n\n", "event: x\ndata: {}\n\ndata: {}\n\n", "\ufeffdata: x\n\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		r := newRecords(&pieces{raw, int(size%16) + 1}, func() {})
		total := 0
		for {
			data, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, errTooLong) {
					t.Fatal(err)
				}
				break
			}
			total += len(data)
			if total > len(raw) {
				t.Fatalf("%d bytes of %d", total, len(raw))
			}
		}
	})
}

// pieces gives a text in pieces.
type pieces struct {
	raw  []byte
	size int
}

func (p *pieces) Read(into []byte) (int, error) {
	if len(p.raw) == 0 {
		return 0, io.EOF
	}
	n := copy(into, p.raw[:min(p.size, len(p.raw))])
	p.raw = p.raw[n:]
	return n, nil
}
