package programs

import (
	"flag"
	"testing"

	"github.com/ironflow/ironflow/test/manynames"
)

var update = flag.Bool("update", false, "write the golden files anew")

// call runs the command line, see [manynames.Main.Call].
func call(t *testing.T, argv ...string) (int, string, string) {
	t.Helper()
	return manynames.Main(Main).Call(t, argv...)
}

func TestTheUsageOfEveryName(t *testing.T) {
	manynames.Main(Main).Usages(t, BinaryName, Programs(), *update)
}
