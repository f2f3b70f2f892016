package users

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// shortest is how many characters keep a token from being guessed.
const shortest = 16

// List are users with their tokens, of which it keeps digests alone.
type List []entry

type entry struct {
	digest [sha256.Size]byte
	user   User
}

// Load reads a file of users: one a line as NAME,ROLE,TOKEN. Empty lines and those that
// begin with # are left out. Errors name lines and never repeat a token.
func Load(path string) (List, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("file of users: %w", err)
	}
	defer f.Close()
	var list List
	lines, n := bufio.NewScanner(f), 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		one, err := parse(line)
		if err == nil && slices.ContainsFunc(list, func(other entry) bool { return other.digest == one.digest }) {
			err = errors.New("the token is another user's, too; give each user one of their own")
		}
		if err != nil {
			return nil, fmt.Errorf("file of users %s: line %d: %w", path, n, err)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("file of users %s: %w", path, err)
	}
	return list, nil
}

func parse(line string) (entry, error) {
	parts := strings.Split(line, ",")
	if len(parts) != 3 {
		return entry{}, errors.New("want NAME,ROLE,TOKEN")
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	name, role, token := parts[0], Role(parts[1]), parts[2]
	switch {
	case name == "":
		return entry{}, errors.New("the user has no name")
	case !slices.Contains(Roles, role):
		return entry{}, fmt.Errorf("role %.40q of user %.80q: want %s, %s or %s", role, name, Admin, ReadOnly, Owner)
	case len(token) < shortest:
		return entry{}, fmt.Errorf("the token of user %.80q has less than %d characters; make one with: openssl rand -hex 32", name, shortest)
	}
	return entry{sha256.Sum256([]byte(token)), User{name, role}}, nil
}

// User implements [Directory]. It compares digests with all, so that neither content nor
// place of a token shows in the time.
func (l List) User(_ context.Context, token string) (User, error) {
	digest, found := sha256.Sum256([]byte(token)), -1
	for i, e := range l {
		if subtle.ConstantTimeCompare(e.digest[:], digest[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return User{}, ErrUnknown
	}
	return l[found].user, nil
}
