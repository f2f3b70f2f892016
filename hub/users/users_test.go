package users_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/users"
)

func TestAFileOfUsers(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for name, tc := range map[string]struct {
		text, wrong string
		want        map[string]users.User
	}{
		"users": {
			"# our site\n\nanna,admin," + secret + "1\n bert , read-only-admin , " + secret + "2\ncleo,user," + secret + "3", "",
			map[string]users.User{secret + "1": {Name: "anna", Role: users.Admin}, secret + "2": {Name: "bert", Role: users.ReadOnly}, secret + "3": {Name: "cleo", Role: users.Owner}},
		},
		"nobody":        {"", "", nil},
		"an odd role":   {"anna,root," + secret, `line 1: role "root" of user "anna": want admin, read-only-admin or user`, nil},
		"no role":       {"\nanna," + secret, "line 2: want NAME,ROLE,TOKEN", nil},
		"no name":       {",admin," + secret, "the user has no name", nil},
		"a short token": {"anna,admin,hunter2", `the token of user "anna" has less than 16 characters`, nil},
		"one for two":   {"anna,admin," + secret + "\nbert,user," + secret, "line 2: the token is another user's", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "users")
			g.Expect(os.WriteFile(path, []byte(tc.text), 0o600)).To(Succeed())
			list, err := users.Load(path)
			if tc.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wrong)))
				g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			for token, want := range tc.want {
				g.Expect(list.User(t.Context(), token)).To(Equal(want))
			}
			for _, token := range []string{"", "x", secret} {
				_, err := list.User(t.Context(), token)
				g.Expect(err).To(MatchError(users.ErrUnknown))
			}
		})
	}
}

func TestWhatRolesMay(t *testing.T) {
	for name, tc := range map[string]struct {
		named []string
		want  []users.Role
	}{
		"reading":           {[]string{"admin", "read-only-admin", "user"}, []users.Role{users.Admin, users.ReadOnly, users.Owner}},
		"changing":          {[]string{"admin", "user"}, []users.Role{users.Admin, users.Owner}},
		"without a list":    {nil, []users.Role{users.Admin, users.Owner}},
		"credentials":       {[]string{"user"}, []users.Role{users.Admin, users.Owner}},
		"nobody but admins": {[]string{}, []users.Role{users.Admin}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, role := range users.Roles {
				NewWithT(t).Expect(role.May(tc.named)).To(Equal(slices.Contains(tc.want, role)), string(role))
			}
		})
	}
}
