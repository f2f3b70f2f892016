package model

// known are histories that must not be and still are: each is a fault of the product
// that is yet to be mended. A search may find them, and what is no more than them and
// more moves. When one is mended, it goes from here to the stories that are replayed.
var known = []string{
	// Ironic writes the target of a redirect into instance_info, which is read as another wish.
	`INTERRUPTED UNASKED: redirected image
scenario: an image that redirects
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0
Ironic goes on with node-0`,
	// A method beside an image, or an image beside a method, is read as another wish.
	`INTERRUPTED UNASKED: method beside an image
scenario: provisioned
method M for a`,
	`WIPED UNASKED: method beside an image
scenario: provisioned
Ironic's database is lost
method M for a`,
	`INTERRUPTED UNASKED: method beside an image
scenario: never off
method M for a`,
	`WIPED UNASKED: method beside an image
scenario: never off
Ironic's database is lost
method M for a`,
	`INTERRUPTED UNASKED: image beside a method
scenario: provisioned by a method
image A for a`,
	`WIPED UNASKED: image beside a method
scenario: provisioned by a method
Ironic's database is lost
image A for a`,
	`INTERRUPTED UNASKED: image beside a method
scenario: provisioned by a method
image B for a`,
	`WIPED UNASKED: image beside a method
scenario: provisioned by a method
Ironic's database is lost
image B for a`,
}

// mended are histories that were found once. They are replayed, and nothing breaks.
var mended = map[string]string{
	"an inspection whose answer was lost is not made twice": `
scenario: new
Ironic goes on with node-0; request 1 is lost
Ironic goes on with node-0`,
	"a restart that was turned away once is made once": `
scenario: never off
annotation reboot on a; request 1 is busy
Ironic goes on with node-0`,
	"a forced restart that was turned away once is made once": `
scenario: never off
annotation hard forced reboot on a; request 1 is busy
Ironic goes on with node-0`,
}
