// Package authority signs the requests that BMCs make for certificates of their web
// servers, with a key of the site's own. An [Authority] is made of what a Secret of
// type kubernetes.io/tls holds. What a BMC asks for is not believed: of its request the
// key is taken alone, the names are those under which we reach it.
package authority
