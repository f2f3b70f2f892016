package model

// known are histories that must not be and still are: each is a fault of the product
// that is yet to be mended. A search may find them, and what is no more than them and
// more moves. When one is mended, it goes from here to those that are replayed.
var known = []struct{ why, story string }{}
