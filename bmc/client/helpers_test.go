package client_test

import (
	"io"
	"log"
)

// quiet takes what a server says of connections that its clients end.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
