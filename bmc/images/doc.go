// Package images asks web servers how large the images of wishes are, so that preflight
// can hold them against what a BMC takes. [Sizes] makes one HEAD request for each
// address, or a GET for its first byte where HEAD is refused, and waits for the answers.
// [SizeCache] never lets anybody wait, and holds what it learned for all who ask, with the
// careful [Client] of a program that others may tell what to ask. What a server does not
// say, or says too late, is not known and stands in the way of nothing.
package images
