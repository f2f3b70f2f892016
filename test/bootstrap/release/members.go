package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// membersProgram is the name of the test binary inside the machines: it sees to etcd's members, as OpenShift's operator
// of etcd does.
//
//	etcd-members join NAME PEER-URL ENDPOINT      adds a member, and prints what it has to be started with
//	etcd-members count ENDPOINT                   prints how many have begun
//	etcd-members leave NAME ENDPOINT              removes a member
const membersProgram = "etcd-members"

// member is one of etcd's, as its JSON gateway has it. One that has not begun has no name.
type member struct {
	ID       string   `json:"ID"`
	Name     string   `json:"name"`
	PeerURLs []string `json:"peerURLs"`
}

func runMembers(args []string) error {
	endpoint := args[len(args)-1]
	all, err := members(endpoint)
	if err != nil {
		return err
	}
	switch args[0] {
	case "count":
		begun := slices.DeleteFunc(all, func(m member) bool { return m.Name == "" })
		fmt.Println(len(begun))
		return nil
	case "leave":
		i := slices.IndexFunc(all, func(m member) bool { return m.Name == args[1] })
		if i < 0 {
			return nil // an earlier run has seen to it
		}
		return etcd(endpoint, "remove", map[string]any{"ID": all[i].ID}, nil)
	case "join":
		return join(endpoint, args[1], args[2], all)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func join(endpoint, name, peer string, all []member) error {
	if !slices.ContainsFunc(all, func(m member) bool { return slices.Contains(m.PeerURLs, peer) }) {
		if err := etcd(endpoint, "add", map[string]any{"peerURLs": []string{peer}}, nil); err != nil {
			return err
		}
	}
	cluster := []string{name + "=" + peer}
	for _, m := range all {
		if m.Name != "" && m.Name != name {
			cluster = append(cluster, m.Name+"="+m.PeerURLs[0])
		}
	}
	fmt.Println("ETCD_INITIAL_CLUSTER=" + strings.Join(cluster, ","))
	return nil
}

func members(endpoint string) ([]member, error) {
	var out struct{ Members []member }
	err := etcd(endpoint, "list", map[string]any{}, &out)
	return out.Members, err
}

func etcd(endpoint, what string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/v3/cluster/member/"+what, bytes.NewReader(raw)) //nolint:gosec // the test says where etcd is
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request) //nolint:gosec // the same
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", answer.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// Main is the main of a test binary, which sees to etcd's members where it is called so. It returns else.
func Main() {
	if filepath.Base(os.Args[0]) == membersProgram {
		os.Exit(mainMembers())
	}
}

func mainMembers() int {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, membersProgram+": want a command and an endpoint")
		return 2
	}
	if err := runMembers(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, membersProgram+":", err)
		return 1
	}
	return 0
}
