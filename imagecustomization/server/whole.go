package server

import (
	"net/http"
	"strconv"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

// Some BMCs read an image sector by sector, in hundreds of thousands of requests.
// net/http takes longer over the header of such an answer than the kernel takes
// over its bytes, so answers of one range are written whole, past net/http. What
// that writes when the handler returns, an empty answer, is dropped by the connection.

// answersWhole tells whether a range is one that the connection answers by itself:
// the connection goes on as HTTP/1.1 does by default.
func (x *exchange) answersWhole(r *http.Request, kind rangeKind) bool {
	return x.conn != nil && kind == rangeOne &&
		r.Method == http.MethodGet && r.ProtoAtLeast(1, 1) && !r.Close && len(r.Header["Connection"]) == 0
}

// answerWhole sends header and bytes of a range, the first of them in one segment.
func (s *Server) answerWhole(revision *images.Revision, x *exchange, off, length int64) {
	s.metrics.answered(http.StatusPartialContent)
	c := x.conn
	c.head = append(c.head[:0], "HTTP/1.1 206 Partial Content\r\n"...)
	c.head = revision.AppendHeader(c.head)
	c.head = append(append(c.head, "Date: "...), s.dates.at(x.progress.begun)[0]...)
	c.head = append(c.head, "\r\nContent-Range: "...)
	c.head = append(appendContentRange(c.head, off, length, revision.Image.Size()), "\r\nContent-Length: "...)
	c.head = append(strconv.AppendInt(c.head, length, 10), "\r\n\r\n"...)

	x.transfer = transfer{revision: revision, off: off, end: off + length, progress: &x.progress}
	err := c.sendAll(&x.transfer)
	c.head = c.head[:0]
	if err != nil {
		_ = c.Close() // the client must not take what net/http writes for the rest
		s.ended(revision, &x.transfer, err)
		return
	}
	c.answered = true
}
