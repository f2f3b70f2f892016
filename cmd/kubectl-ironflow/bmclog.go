package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/cli"
	bmcclient "github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

const logLong = `Prints the last entries of the hardware logs of a host's machine. These logs are not kept in the cluster: the BMC is asked from here, with
the credentials of the host's Secret, which you must be allowed to read. Nothing is changed.`

// newBMCLog asks a BMC for its log.
func newBMCLog(c *connection) *cobra.Command {
	var limit int
	var caFile string
	cmd := &cobra.Command{
		Use: "log HOST", Short: "Show the last entries of the hardware logs of a host's machine, oldest first", Long: logLong,
		Args: cobra.ExactArgs(1), ValidArgsFunction: c.complete(hostKind, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckLimit(limit); err != nil {
				return exitError{err, exitUsage}
			}
			var ca []byte
			if caFile != "" {
				var err error
				if ca, err = os.ReadFile(caFile); err != nil {
					return fmt.Errorf("--ca-file: %w", err)
				}
			}
			target, err := c.target(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			target.TLS.CA = ca
			return cli.Log(cmd.Context(), cmd.OutOrStdout(), target, limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", cli.DefaultEntries, cli.LimitUsage)
	cmd.Flags().StringVar(&caFile, "ca-file", "", "PEM file with CAs for the BMC's certificate, instead of the system's")
	return cmd
}

// target says how the BMC of a host is reached.
func (c *connection) target(ctx context.Context, name string) (bmcclient.Target, error) {
	bare, err := hostKind.bare([]string{name})
	if err != nil {
		return bmcclient.Target{}, err
	}
	cl, namespace, err := c.open()
	if err != nil {
		return bmcclient.Target{}, err
	}
	h := &metal3v1.BareMetalHost{}
	if err := readHost(ctx, cl, types.NamespacedName{Namespace: namespace, Name: bare[0]}, h); err != nil {
		return bmcclient.Target{}, err
	}
	a, err := address.Parse(h.Spec.BMC.Address)
	if err != nil {
		return bmcclient.Target{}, fmt.Errorf("host %s: spec.bmc.address: %w", name, err)
	}
	base, redfish := a.URL()
	if !redfish {
		return bmcclient.Target{}, fmt.Errorf("host %s: its BMC is not one of Redfish (%s), and only those can be asked", name, a.Scheme)
	}
	secret := &corev1.Secret{}
	if err := cl.Get(ctx, types.NamespacedName{Namespace: namespace, Name: h.Spec.BMC.CredentialsName}, secret); err != nil {
		return bmcclient.Target{}, fmt.Errorf("host %s: the Secret of its BMC: %w", name, err)
	}
	target := bmcclient.Target{
		URL: base, System: a.SystemPath(), TLS: bmcclient.Trust{Insecure: h.Spec.BMC.DisableCertificateVerification},
		Username: strings.TrimSpace(string(secret.Data["username"])), Password: bmcclient.Secret(strings.TrimSpace(string(secret.Data["password"]))),
	}
	why, err := barred(ctx, cl, h, rotation.Login{Username: target.Username, Password: target.Password})
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return bmcclient.Target{}, fmt.Errorf("host %s: nobody logs in at its BMC now, as a wrong login may lock the account: %w", name, err)
	}
	return target, nil
}

// barred says why nobody is to log in with what the host's Secret has: its password is being
// changed, or nobody knows it. Empty if they may.
func barred(ctx context.Context, cl client.Client, h *metal3v1.BareMetalHost, login rotation.Login) (why string, err error) {
	stored := &corev1.Secret{}
	err = cl.Get(ctx, types.NamespacedName{Namespace: h.Namespace, Name: rotation.RecordName(h.Name)}, stored)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	record, err := rotation.Decode(stored.Data)
	if err != nil {
		return "", err
	}
	why, _ = rotation.MayLogin(record, login)
	return why, nil
}
