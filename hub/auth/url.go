package auth

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"
)

// URLKey is the query parameter that a signed URL carries its right in.
const URLKey = "api_key"

const urlPrefix = "u1."

// SignURL returns the query with a signature for exactly this path and query. It
// is good until the given time.
func (k Key) SignURL(path string, query url.Values, until time.Time) (url.Values, error) {
	if k.IsZero() {
		return query, nil // a hub without authentication: the URL alone opens
	}
	signed := url.Values{}
	maps.Copy(signed, query)
	signed.Del(URLKey)
	expiry := binary.AppendVarint(nil, until.Unix())
	signature := k.sign(urlPayload(expiry, path, signed))
	signed.Set(URLKey, urlPrefix+base64.RawURLEncoding.EncodeToString(append(expiry, signature...)))
	return signed, nil
}

// urlPayload is what is signed: nothing that a client could read in two ways.
func urlPayload(expiry []byte, path string, query url.Values) []byte {
	return append(append([]byte(urlPrefix), expiry...), path+"?"+query.Encode()...)
}

// CheckURL accepts a URL that was signed and is not over, else [ErrInvalid].
func (k Key) CheckURL(path string, query url.Values, now time.Time) error {
	token := query.Get(URLKey)
	body, found := strings.CutPrefix(token, urlPrefix)
	if !found || len(token) > maxToken || k.IsZero() {
		return ErrInvalid
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return ErrInvalid
	}
	until, n := binary.Varint(raw)
	if n <= 0 {
		return ErrInvalid
	}
	rest := url.Values{}
	for name, values := range query {
		if name != URLKey {
			rest[name] = values
		}
	}
	if !hmac.Equal(raw[n:], k.sign(urlPayload(raw[:n], path, rest))) {
		return ErrInvalid
	}
	if now.Unix() > until {
		return ErrExpired
	}
	return nil
}

// ErrExpired means that a signed URL is over; ask for a new one.
var ErrExpired = errors.New("the signed URL is over")
