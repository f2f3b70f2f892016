package main

import (
	"errors"
	"net/http"
	"sync/atomic"
)

// door tells whether a server listens. A replica is ready when all of its servers do.
type door struct{ opened atomic.Bool }

// check is a readiness check.
func (d *door) check(*http.Request) error {
	if !d.opened.Load() {
		return errors.New("it does not listen yet")
	}
	return nil
}
