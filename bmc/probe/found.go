package probe

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// found is what became of reading a resource. Not offered, not readable and read are
// three different things.
type found[T any] struct {
	// path is empty where the service has no link to it.
	path  string
	value T
	// allow is the header Allow.
	allow string
	err   error
}

// read reports whether there is a value.
func (f found[T]) read() bool { return f.path != "" && f.err == nil }

// missing is the verdict on a capability whose resource was not read. A service that
// asks for a licence has answered: without it, it cannot.
func (f found[T]) missing(name, what string) v1alpha1.Capability {
	switch {
	case f.path == "" && f.err == nil:
		return no(name, what+" is not offered")
	case client.KindOf(f.err) == client.Licence:
		return no(name, "needs a licence: "+why(f.err))
	default:
		return unknown(name, why(f.err))
	}
}

// errBudget stands for a resource that was left out.
var errBudget = errors.New("not read, to spare the BMC: allow more requests")

// errSpared stands for a resource that harms the BMC when it is read.
var errSpared = errors.New("not read: that harms the BMC, as the chassis of RAID and enclosures do older iDRACs")

// mostWords bounds what a BMC's own words take in a report.
const mostWords = 300

// why is an error in one line that is not too long.
func why(err error) string {
	if err == nil {
		return "not read"
	}
	return bounded(err.Error())
}

// bounded is a text that a BMC chose in one line, cut, without what would command a
// terminal.
func bounded(text string) string {
	text = lenient.Printable(text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostWords {
		return string(runes[:mostWords]) + " …"
	}
	return text
}

func yes(name, detail, proof string) v1alpha1.Capability {
	return v1alpha1.Capability{Name: name, State: v1alpha1.Yes, Detail: bounded(detail), Proof: bounded(proof)}
}

func no(name, proof string) v1alpha1.Capability {
	return v1alpha1.Capability{Name: name, State: v1alpha1.No, Proof: bounded(proof)}
}

func unknown(name, proof string) v1alpha1.Capability {
	return v1alpha1.Capability{Name: name, State: v1alpha1.Unknown, Proof: bounded(proof)}
}

// local is a link of the BMC's as a path, also where it was written with the host.
func local(link string) string {
	if u, err := url.Parse(link); err == nil && u.Host != "" {
		link = u.EscapedPath()
	}
	return bounded(link)
}

// at is a proof: a path and its members.
func at(path, members string) string { return fmt.Sprintf("%s: %s", path, members) }
