package demo

import (
	"os"
	"path/filepath"
)

// introduce says what will be seen, what is real in it, and how to look at it.
func (d *demo) introduce() {
	d.screen.Say("%s", Real)
	d.screen.Say("%s", Proven)
	host, state := "machine-0", d.dir
	if d.options.Machine {
		d.screen.Say("%s", Whole)
		d.screen.Say("%s", d.consoles())
		host, state = realName, filepath.Join(d.dir, "lab")
	}
	d.screen.Say(`look at it while it runs, in another terminal:
         export KUBECONFIG=%[1]s PATH=%[2]s:%[3]s:$PATH
         kubectl get bmh -n %[4]s
         kubectl ironflow get hosts -n %[4]s
         kubectl ironflow describe %[5]s -n %[4]s`,
		filepath.Join(state, "kubeconfig"), d.options.BinDir, d.toolDir(), namespace, host)
}

// toolDir is where a kubectl of the control plane's version is found.
func (d *demo) toolDir() string { return filepath.Join(d.dir, "bin") }

// linkTools puts kubectl into [demo.toolDir].
func (d *demo) linkTools() error {
	if err := os.MkdirAll(d.toolDir(), 0o700); err != nil {
		return err
	}
	link := filepath.Join(d.toolDir(), "kubectl")
	if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.Symlink(filepath.Join(d.lab.ControlPlane.AssetsDir, "kubectl"), link)
}

// whereToLook says what can be tried when everything is installed.
func (d *demo) whereToLook() {
	d.screen.Say(`all is up until Ctrl-C; in the other terminal:
         kubectl get bmh,ppimg,hd,agents -n %[1]s
         %[2]s  # gives the host back
         logs: %[3]s   machines: %[4]s`,
		namespace, givenBack(d.machines[0].name, namespace), d.logs(), filepath.Join(d.dir, "machines"))
}
