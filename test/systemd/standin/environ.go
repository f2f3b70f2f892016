package standin

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// ExtraEnv is a file below the root whose KEY=VALUE lines are added to the
// environment of every process of the unit; the simulated machine writes it.
const ExtraEnv = hostfile.ConfigDir + "/standin.env"

// environ is the environment of a process of the unit, the later wins.
func (s *service) environ(root hostfile.Dir, extra ...string) ([]string, error) {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8",
		hostfile.RootEnv + "=" + root.Root,
	}
	env = append(env, s.environment...)
	for _, file := range append(s.envFiles, "-"+ExtraEnv) {
		path, optional := strings.CutPrefix(file, "-")
		lines, err := readEnvFile(root.Path(path))
		if err != nil && (!optional || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		env = append(env, lines...)
	}
	return append(env, extra...), nil
}

// readEnvFile reads KEY=VALUE lines; a value may be quoted as a whole.
func readEnvFile(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var env []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		env = append(env, key+"="+value)
	}
	return env, lines.Err()
}

// lookup reads a variable as a process would: the last one counts.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// expand replaces ${NAME} within words, and a word $NAME by the words of its value.
func (c command) expand(env []string) []string {
	if c.noExpand {
		return c.argv
	}
	argv := []string{c.argv[0]}
	for _, word := range c.argv[1:] {
		if name, ok := strings.CutPrefix(word, "$"); ok && isName(name) {
			argv = append(argv, strings.Fields(lookup(env, name))...)
			continue
		}
		argv = append(argv, expandBraces(word, env))
	}
	return argv
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func expandBraces(word string, env []string) string {
	word = strings.ReplaceAll(word, "$$", "\x00")
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(word, "${")
		b.WriteString(before)
		if !ok {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !isName(name) {
			b.WriteString("${")
			word = rest
			continue
		}
		b.WriteString(lookup(env, name))
		word = after
	}
	return strings.ReplaceAll(b.String(), "\x00", "$")
}

// program finds the file to execute: below the root first, then in the folder
// with the real host programs, then (only tools, such as /bin/sh) on this machine.
func program(root hostfile.Dir, binDir, name string) (string, error) {
	if !filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	candidates := []string{root.Path(name)}
	if dir := filepath.Dir(name); binDir != "" && (dir == "/usr/local/bin" || dir == "/usr/bin") {
		candidates = append(candidates, filepath.Join(binDir, filepath.Base(name)))
	}
	candidates = append(candidates, name)
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &os.PathError{Op: "execute", Path: name, Err: fs.ErrNotExist}
}
