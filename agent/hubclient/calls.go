package hubclient

import (
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

func hostPath(h Host, rest string) string {
	return "/infra-envs/" + url.PathEscape(h.InfraEnvID) + "/hosts/" + url.PathEscape(h.HostID) + rest
}

// Register announces the host in its infra-env (POST …/hosts, 201). Registering
// a known host again resets its record, see the hub's host machine. A token of the host's
// own that comes with the answer is what the client sends from then on.
func (c *Client) Register(ctx context.Context, h Host) (wire.HostRegistrationResponse, error) {
	var out wire.HostRegistrationResponse
	header := http.Header{}
	if c.attempt != "" {
		header.Set(wire.HeaderAttempt, c.attempt)
	}
	header.Set(wire.HeaderHostToken, wire.HostTokenWanted)
	c.waited.say(header)
	answer, err := c.do(ctx, call{
		header: header,
		method: http.MethodPost, path: "/infra-envs/" + url.PathEscape(h.InfraEnvID) + "/hosts", want: http.StatusCreated,
		in: wire.HostCreateParams{HostID: h.HostID, DiscoveryAgentVersion: *c.version.Load()}, out: &out,
	})
	c.waited.heed(err)
	if own := answer.Get(wire.HeaderHostToken); err == nil && own != "" {
		_ = c.token.Own(own) // what cannot be kept is asked for again after a crash
	}
	return out, err
}

// Instructions is what a poll brought.
type Instructions struct {
	wire.Steps
	// Date is the hub's clock at the answer; zero when it did not say.
	Date time.Time
	// Gap is the least time between two polls that the hub asks for; zero when it
	// did not say.
	Gap time.Duration
}

// Instructions polls for the next steps (GET …/instructions, 200). now is the
// true wall-clock time; the hub compares it with its own.
func (c *Client) Instructions(ctx context.Context, h Host, now time.Time) (Instructions, error) {
	var out Instructions
	header, err := c.do(ctx, call{
		method: http.MethodGet, path: hostPath(h, "/instructions"), want: http.StatusOK,
		query: url.Values{"timestamp": {strconv.FormatInt(now.Unix(), 10)}}, out: &out.Steps,
	})
	if err != nil {
		return Instructions{}, err
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		out.Date = date
	}
	out.Gap = seconds(header.Get(wire.HeaderPollGap))
	return out, nil
}

// Reply posts the result of a step (POST …/instructions, 204).
func (c *Client) Reply(ctx context.Context, h Host, reply wire.StepReply) error {
	header := http.Header{}
	c.waited.say(header)
	_, err := c.do(ctx, call{header: header, method: http.MethodPost, path: hostPath(h, "/instructions"), in: reply, want: http.StatusNoContent})
	c.waited.heed(err)
	return err
}

// Progress reports an installation stage (PUT …/progress, 200); 400 for an
// unbound host, 409 for a stage below the present one.
func (c *Client) Progress(ctx context.Context, h Host, progress wire.HostProgress) error {
	_, err := c.do(ctx, call{method: http.MethodPut, path: hostPath(h, "/progress"), in: progress, want: http.StatusOK})
	return err
}

// LogsProgress reports how far log collection is (PUT …/logs-progress, 204).
func (c *Client) LogsProgress(ctx context.Context, h Host, state wire.LogsState) error {
	_, err := c.do(ctx, call{
		method: http.MethodPut, path: hostPath(h, "/logs-progress"), want: http.StatusNoContent,
		in: wire.LogsProgressParams{LogsState: state},
	})
	return err
}

// UploadLogs streams what write produces as the host's log archive (POST
// …/clusters/C/logs, multipart field upfile, 204). Nothing is kept in memory
// or on disk; write runs in its own goroutine and must stop when its writer
// returns an error.
func (c *Client) UploadLogs(ctx context.Context, h Host, clusterID, name string, write func(io.Writer) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadTimeout, ErrTimeout)
	defer cancel()
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		part, err := form.CreateFormFile("upfile", name)
		if err == nil {
			err = write(part)
		}
		if err == nil {
			err = form.Close()
		}
		_ = writer.CloseWithError(err) // never fails
	}()
	_, _, err := c.exchange(ctx, call{
		method: http.MethodPost, path: "/clusters/" + url.PathEscape(clusterID) + "/logs", want: http.StatusNoContent,
		query: url.Values{"logs_type": {string(wire.LogsTypeHost)}, "host_id": {h.HostID}, "infra_env_id": {h.InfraEnvID}},
	}, reader, form.FormDataContentType())
	_ = reader.CloseWithError(io.ErrClosedPipe) // frees the writer when the hub hung up early
	<-done
	if err != nil {
		return fmt.Errorf("upload logs: %w", err)
	}
	return nil
}
