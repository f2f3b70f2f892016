// Program lab-controllers is the part of the control plane that the stock
// binaries of KUBEBUILDER_ASSETS lack, for users who have those already: see
// package controllers.
package main

import (
	"os"

	"github.com/ironflow/ironflow/test/controlplane/controllers"
)

func main() {
	os.Exit(controllers.Main(os.Args))
}
