package host

import (
	"testing"

	"github.com/ironflow/ironflow/test/kubeapi"
)

func TestMain(m *testing.M) { kubeapi.Main(m) }
