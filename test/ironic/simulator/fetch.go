package simulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// headTimeout is how long a server of images may take, as Ironic's webserver_verify_timeout.
const headTimeout = 5 * time.Second

// FetchMedia is an [Options.Behave] by which virtual media is attached only if its image can be fetched, as of a real
// Ironic: it asks for the image over the network, and fails with Ironic's text. Then the BMC is asked, which has to exist.
func FetchMedia(o Operation) Outcome {
	url, attach := strings.CutPrefix(o.Step, "attach ")
	if o.Name != "media" || !attach {
		return Outcome{}
	}
	if err := head(url); err != nil {
		return Outcome{Error: fmt.Sprintf("Validation of image href %s failed, reason: %v", url, err)}
	}
	info, _ := o.Node.Fields["driver_info"].(map[string]any)
	if address, _ := info["redfish_address"].(string); strings.HasSuffix(address, ".invalid") {
		return Outcome{Error: "Redfish connection failed for node " + o.Node.UUID + ": Unable to connect to /redfish/v1/. Error: Invalid URL '/redfish/v1/': No scheme supplied."}
	}
	return Outcome{}
}

// head asks for an image as Ironic does.
func head(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), headTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return fmt.Errorf("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: %w')", err)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("Got HTTP code %d instead of 200 in response to HEAD request.", answer.StatusCode) //nolint:staticcheck,revive // Ironic's text
	}
	return nil
}
