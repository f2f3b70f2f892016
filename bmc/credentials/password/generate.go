package password

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
)

// tries is how many passwords are thrown away before the source of randomness is
// taken for a broken one. Of a good one about half are taken.
const tries = 200

// errRandom is for a source that gives the same again and again.
var errRandom = errors.New("the source of randomness gives no usable password: check the machine's random number generator")

// Generate makes a password of the recipe. The source is crypto/rand's Reader; tests
// bring another one. The password begins and ends with a letter or digit, repeats no
// character at once, has no run such as abc or 321, and does not hold the user's name
// forwards or backwards: BMCs refuse such, each for a reason of its own.
func Generate(random io.Reader, recipe Recipe, username string) (client.Secret, error) {
	parts := make([]string, len(recipe.Classes))
	for i, c := range recipe.Classes {
		parts[i] = alphabet[c]
	}
	all := strings.Join(parts, "")
	if all == "" || recipe.Length < len(recipe.Classes) {
		return "", fmt.Errorf("make a password of %d characters of %d classes: not possible", recipe.Length, len(recipe.Classes))
	}
	for range tries {
		candidate := make([]byte, recipe.Length)
		for i := range candidate {
			c, err := pick(random, all)
			if err != nil {
				return "", fmt.Errorf("make a password: %w", err)
			}
			candidate[i] = c
		}
		if text := string(candidate); acceptable(text, recipe.Classes, username) {
			return client.Secret(text), nil
		}
	}
	return "", errRandom
}

// pick is a character of the alphabet, each as likely as the others.
func pick(random io.Reader, alphabet string) (byte, error) {
	fair := 256 - 256%len(alphabet)
	var one [1]byte
	for range 1000 {
		if _, err := io.ReadFull(random, one[:]); err != nil {
			return 0, err
		}
		if int(one[0]) < fair {
			return alphabet[int(one[0])%len(alphabet)], nil
		}
	}
	return 0, errRandom
}

// acceptable reports whether no BMC has a reason to refuse a password.
func acceptable(text string, want []Class, username string) bool {
	for _, c := range want {
		if !strings.ContainsAny(text, alphabet[c]) {
			return false
		}
	}
	if strings.ContainsAny(text[:1]+text[len(text)-1:], alphabet[Symbol]) {
		return false // a sign in front is taken for an option or a formula
	}
	return !repeats(text) && !holds(text, username)
}

// repeats reports two equal characters side by side, or three in a row up or down.
func repeats(text string) bool {
	for i := 1; i < len(text); i++ {
		step := int(text[i]) - int(text[i-1])
		if step == 0 || i > 1 && (step == 1 || step == -1) && int(text[i-1])-int(text[i-2]) == step {
			return true
		}
	}
	return false
}

// holds reports a user's name within a password, in either direction, whatever the case.
func holds(text, username string) bool {
	name := []rune(strings.ToLower(username))
	if len(name) < 3 {
		return false
	}
	back := make([]rune, len(name))
	for i, r := range name {
		back[len(name)-1-i] = r
	}
	text = strings.ToLower(text)
	return strings.Contains(text, string(name)) || strings.Contains(text, string(back))
}
