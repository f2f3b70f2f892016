package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/ignition/v2/config/util"
	"github.com/coreos/ignition/v2/config/v3_6/types"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// authorizedKeys is where CoreOS systems look for the keys of Ignition, below a home.
const authorizedKeys = ".ssh/authorized_keys.d/ignition"

// account is a user of the live system.
type account struct {
	ids
	home string
}

// ids are numbers of a user and a group; -1 leaves what is there.
type ids struct{ user, group int }

// or takes the numbers of other where there are none.
func (i ids) or(other ids) ids {
	if i.user < 0 {
		i.user = other.user
	}
	if i.group < 0 {
		i.group = other.group
	}
	return i
}

func idsOf(info fs.FileInfo) ids {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return ids{int(st.Uid), int(st.Gid)}
	}
	return ids{-1, -1}
}

// accounts are the users and groups that the live system has, by their names.
type accounts struct {
	users  map[string]account
	groups map[string]int
}

// readAccounts reads the host's tables; systems with a read-only /usr have a part of them there.
func readAccounts(dir hostfile.Dir) (*accounts, error) {
	out := &accounts{users: map[string]account{}, groups: map[string]int{}}
	for _, folder := range []string{"/usr/lib", "/etc"} {
		err := readTable(dir.Path(folder+"/passwd"), 7, func(f []string) {
			uid, err := strconv.Atoi(f[2])
			gid, err2 := strconv.Atoi(f[3])
			if err == nil && err2 == nil {
				out.users[f[0]] = account{ids{uid, gid}, f[5]}
			}
		})
		if err != nil {
			return nil, err
		}
		err = readTable(dir.Path(folder+"/group"), 4, func(f []string) {
			if gid, err := strconv.Atoi(f[2]); err == nil {
				out.groups[f[0]] = gid
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readTable(file string, fields int, row func([]string)) error {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Split(strings.TrimRight(line, "\n"), ":"); len(f) == fields {
			row(f)
		}
	}
	return err
}

// accountName is what useradd takes, and no flag.
var accountName = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*\$?$`)

func (l *live) checkAccounts() error {
	var errs []error
	for n, g := range l.config.Passwd.Groups {
		at := fmt.Sprintf("passwd.groups[%d] %s", n, g.Name)
		switch {
		case !accountName.MatchString(g.Name):
			errs = append(errs, fmt.Errorf("%s: this is no group's name", at))
		case util.IsFalse(g.ShouldExist):
			errs = append(errs, fmt.Errorf("%s: shouldExist: groups of a system that runs are not removed", at))
		case util.NotEmpty(g.PasswordHash):
			errs = append(errs, fmt.Errorf("%s: passwordHash: groups of the live system have no password", at))
		}
	}
	for n, u := range l.config.Passwd.Users {
		at := fmt.Sprintf("passwd.users[%d] %s", n, u.Name)
		switch {
		case !accountName.MatchString(u.Name):
			errs = append(errs, fmt.Errorf("%s: this is no user's name", at))
		case util.IsFalse(u.ShouldExist):
			errs = append(errs, fmt.Errorf("%s: shouldExist: users of a system that runs are not removed", at))
		case u.PasswordHash != nil && strings.ContainsAny(*u.PasswordHash, ":\r\n"):
			errs = append(errs, fmt.Errorf("%s: passwordHash: this is none", at))
		}
		for _, key := range u.SSHAuthorizedKeys {
			if strings.ContainsAny(string(key), "\r\n") {
				errs = append(errs, fmt.Errorf("%s: sshAuthorizedKeys: a key has more than one line", at))
			}
		}
	}
	return errors.Join(errs...)
}

// willHaveUser tells whether there is such a user, or will be.
func (l *live) willHaveUser(name string) bool {
	_, there := l.accounts.users[name]
	return there || slices.ContainsFunc(l.config.Passwd.Users, func(u types.PasswdUser) bool { return u.Name == name })
}

// willHaveGroup tells the same of a group; a new user has one of its own name.
func (l *live) willHaveGroup(name string) bool {
	_, there := l.accounts.groups[name]
	return there || slices.ContainsFunc(l.config.Passwd.Groups, func(g types.PasswdGroup) bool { return g.Name == name }) ||
		slices.ContainsFunc(l.config.Passwd.Users, func(u types.PasswdUser) bool { return u.Name == name && !util.IsTrue(u.NoUserGroup) })
}

// applyAccounts makes groups and users, or changes those that are there, by the system's own
// programs. Passwords travel on their standard input.
func (l *live) applyAccounts(ctx context.Context, run command.Runner) (err error) {
	do := func(argv ...string) error {
		_, err := hostexec.Output(ctx, command.Lines(run), argv...)
		return err
	}
	for _, g := range l.config.Passwd.Groups {
		gid, there := l.accounts.groups[g.Name]
		switch {
		case !there:
			err = do(append(groupArgs("groupadd", g), g.Name)...)
		case g.Gid != nil && *g.Gid != gid:
			err = do("groupmod", "--gid", strconv.Itoa(*g.Gid), g.Name)
		}
		if err != nil {
			return fmt.Errorf("group %s: %w", g.Name, err)
		}
	}
	for _, u := range l.config.Passwd.Users {
		_, there := l.accounts.users[u.Name]
		if args := userArgs(u, there); args != nil {
			if err := do(append(args, u.Name)...); err != nil {
				return fmt.Errorf("user %s: %w", u.Name, err)
			}
		}
		if err := setPassword(ctx, run, u, there); err != nil {
			return fmt.Errorf("password of user %s: %w", u.Name, err)
		}
	}
	if l.accounts, err = readAccounts(l.dir); err != nil {
		return err
	}
	for _, u := range l.config.Passwd.Users {
		if err := l.writeKeys(u); err != nil {
			return fmt.Errorf("keys of user %s: %w", u.Name, err)
		}
	}
	return nil
}

func groupArgs(program string, g types.PasswdGroup) []string {
	args := []string{program}
	if g.Gid != nil {
		args = append(args, "--gid", strconv.Itoa(*g.Gid))
	}
	if util.IsTrue(g.System) {
		args = append(args, "--system")
	}
	return args
}

// userArgs is the command line that makes or changes a user, without its name; nil for
// one that is there and stays as it is.
func userArgs(u types.PasswdUser, there bool) []string {
	args := []string{"useradd"}
	if there {
		args[0] = "usermod"
	}
	add := func(flag string, value *string) {
		if util.NotEmpty(value) {
			args = append(args, flag, *value)
		}
	}
	on := func(flag string, set bool) {
		if set {
			args = append(args, flag)
		}
	}
	if there {
		if add("--home", u.HomeDir); util.NotEmpty(u.HomeDir) {
			args = append(args, "--move-home")
		}
	} else {
		add("--home-dir", u.HomeDir)
	}
	if !there {
		on("--no-create-home", util.IsTrue(u.NoCreateHome))
		on("--create-home", !util.IsTrue(u.NoCreateHome))
		on("--no-user-group", util.IsTrue(u.NoUserGroup))
		on("--system", util.IsTrue(u.System))
		on("--no-log-init", util.IsTrue(u.NoLogInit))
	}
	if u.UID != nil {
		args = append(args, "--uid", strconv.Itoa(*u.UID))
	}
	add("--comment", u.Gecos)
	add("--gid", u.PrimaryGroup)
	if len(u.Groups) > 0 {
		groups := make([]string, len(u.Groups))
		for i, g := range u.Groups {
			groups[i] = string(g)
		}
		on("--append", there)
		args = append(args, "--groups", strings.Join(groups, ","))
	}
	add("--shell", u.Shell)
	if there && len(args) == 1 {
		return nil
	}
	return args
}

// setPassword sets the hash of a user's password. A new user without one can log in by
// its keys only.
func setPassword(ctx context.Context, run command.Runner, u types.PasswdUser, there bool) error {
	hash := "*"
	switch {
	case util.NotEmpty(u.PasswordHash):
		hash = *u.PasswordHash
	case there && u.PasswordHash == nil:
		return nil
	}
	return run.Run(ctx, command.Command{Name: "chpasswd", Args: []string{"--encrypted"}, Stdin: strings.NewReader(u.Name + ":" + hash + "\n")})
}

func (l *live) writeKeys(u types.PasswdUser) error {
	a, there := l.accounts.users[u.Name]
	if len(u.SSHAuthorizedKeys) == 0 {
		return nil
	}
	if !there || a.home == "" {
		return errors.New("the user has no home")
	}
	var keys strings.Builder
	for _, key := range u.SSHAuthorizedKeys {
		keys.WriteString(string(key) + "\n")
	}
	file := path.Join(a.home, authorizedKeys)
	for _, folder := range []string{path.Dir(path.Dir(file)), path.Dir(file)} {
		target := l.dir.Path(folder)
		if err := os.MkdirAll(target, 0o700); err != nil {
			return err
		}
		if err := os.Chown(target, a.user, a.group); err != nil {
			return err
		}
	}
	return writeOwned(l.dir, file, []byte(keys.String()), 0o600, a.ids)
}

// owner is who a node belongs to; -1 where nothing is said.
func (l *live) owner(n types.Node) (ids, error) {
	out := ids{-1, -1}
	if n.User.ID != nil {
		out.user = *n.User.ID
	}
	if n.Group.ID != nil {
		out.group = *n.Group.ID
	}
	if util.NotEmpty(n.User.Name) {
		a, there := l.accounts.users[*n.User.Name]
		if out.user = a.user; !there {
			return out, fmt.Errorf("there is no user %s", *n.User.Name)
		}
	}
	if util.NotEmpty(n.Group.Name) {
		gid, there := l.accounts.groups[*n.Group.Name]
		if out.group = gid; !there {
			return out, fmt.Errorf("there is no group %s", *n.Group.Name)
		}
	}
	return out, nil
}

// own gives a node to its owner, if one is said.
func (l *live) own(n types.Node, target string) error {
	owner, err := l.owner(n)
	if err != nil || owner == (ids{-1, -1}) {
		return err
	}
	return os.Lchown(target, owner.user, owner.group)
}
